#include "import/tflite/writer.hpp"

#include <algorithm>
#include <set>

#include "graph/operators/elementwise/quantize.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "import/tflite/tensors.hpp"

namespace vellum::tflite {
namespace {

const Ints kToImage{0, 3, 1, 2}, kToFile{0, 2, 3, 1};

}  // namespace

HostTensor permuted(const HostTensor& tensor, const Ints& order) {
  Transpose transpose;
  transpose.perm = order;
  const HostTensor* input = &tensor;
  return transpose.evaluate(std::span(&input, 1))[0];
}

HostTensor to_image_order(const HostTensor& tensor) {
  Shape shape = tensor.shape();
  if (shape.size() < 4) shape.insert(shape.begin(), 4 - shape.size(), 1);
  return permuted(tensor.reshaped(shape), kToImage);
}

int64_t image_axis(int64_t axis) {
  constexpr int64_t kAxes[] = {0, 2, 3, 1};
  return kAxes[axis];
}

int64_t held_axis(int64_t axis, size_t rank, bool image) {
  const auto normal = static_cast<int64_t>(normalize_axis(axis, rank));
  return image ? image_axis(normal) : normal;
}

Ints by_axis(const Ints& values, bool image) {
  if (!image) return values;
  return {values[0], values[3], values[1], values[2]};
}

Writer::Writer(File& file, const schema::SubGraph& subgraph) : file_(file), is_called_(file.depth > 1) {
  if (subgraph.name() != nullptr) graph_.name = subgraph.name()->str();
  read_tensors(subgraph);
  mark_interface(subgraph.inputs(), "input", inputs_);
  mark_interface(subgraph.outputs(), "output", outputs_);
  count_readers(subgraph);
  find_empty_constants(subgraph);
  for (const int32_t id : inputs_) {
    Tensor& input = at(id);
    if (input.is_constant) refuse_model("graph input " + quoted_name(input.name) + " is a constant");
    if (input.file != kNoValue) refuse_model("graph input " + quoted_name(input.name) + " is there twice");
    input.file = read_input(input);
  }
}

ValueId Writer::read_input(Tensor& input) {
  TensorType type = input.type;
  const bool is_stored = input.quantisation && !is_called_;
  if (is_stored) type.dtype = input.quantisation->stored;
  const ValueId given = graph_.add_value(input.name, type, true);
  graph_.inputs.push_back(given);
  if (!is_stored) {
    if (input.quantisation && is_stored_grid(input.quantisation->stored))
      grids_[given] = grid_of(*input.quantisation);
    return given;
  }
  const ValueId real = add_value(input.name + "_real");
  add_node(std::make_shared<DequantizeLinear>(),
           {given, add_constant(input.name + "_scale", input.quantisation->scale),
            add_constant(input.name + "_zero_point", input.quantisation->zero_point)},
           {real});
  if (is_stored_grid(input.quantisation->stored)) grids_[real] = grid_of(*input.quantisation);
  return real;
}

ValueId Writer::write_output(int32_t tensor) {
  const ValueId real = in_file_order(tensor);
  const Tensor& output = at(tensor);
  if (is_called_) {
    return written_.contains(real) ? copied(real, unique(output.name)) : real;
  }
  if (!output.quantisation) return real;
  const bool taken = std::find(inputs_.begin(), inputs_.end(), tensor) != inputs_.end();
  return quantised_value(real, output, taken ? unique(output.name) : output.name);
}

ValueId Writer::copied(ValueId value, const std::string& name) {
  const ValueId copy = graph_.add_value(name);
  add_node(std::make_shared<Identity>(), {value}, {copy});
  return copy;
}

void Writer::read_tensors(const schema::SubGraph& subgraph) {
  const auto* tensors = subgraph.tensors();
  if (tensors == nullptr) refuse_model("the graph has no tensors");
  for (const schema::Tensor* entry : *tensors) {
    count_tensor(*entry);
    Tensor tensor;
    const std::string name = tensor_name(*entry);
    if (entry->type() == schema::TensorType::resource) {
      tensor.name = unique(name);
      tensor.is_handle = true;
      tensors_.push_back(std::move(tensor));
      continue;
    }
    try {
      tensor.is_complex = entry->type() == schema::TensorType::complex64;
      tensor.is_state = entry->is_variable();
      tensor.type = {tensor.is_complex ? DType::f32 : to_dtype(entry->type()), read_shape(*entry)};
      const auto* quantization = entry->quantization();
      const bool has_scale =
          quantization != nullptr && quantization->scale() != nullptr && quantization->scale()->size() > 0;
      if (!tensor.is_complex && !tensor.is_state) tensor.constant = read_constant(file_, *entry);
      tensor.is_constant = tensor.constant.has_value();
      tensor.lacks_rank = !tensor.is_constant && tensor.type.shape.empty() && !entry->has_rank();
      if (has_scale && !is_float(tensor.type.dtype)) make_real(tensor, *entry);
      const auto* blocks =
          quantization == nullptr ? nullptr : quantization->details_as_BlockwiseQuantization();
      if (blocks != nullptr) make_real_of_blocks(tensor, subgraph, *blocks);
    } catch (const Error& error) {
      throw Error(error.code(), "tensor " + quoted_name(name) + ": " + error.what());
    }
    tensor.name = unique(name.empty() ? "tensor_" + std::to_string(tensors_.size()) : name);
    tensors_.push_back(std::move(tensor));
  }
}

void Writer::count_tensor(const schema::Tensor& entry) {
  constexpr uint64_t kPerTensor = 1024, kPerScale = 16;
  file_.count(1, kPerTensor);
  if (entry.name() != nullptr) file_.count(entry.name()->size());
  const auto* quantization = entry.quantization();
  if (quantization == nullptr) return;
  if (quantization->scale() != nullptr) file_.count(quantization->scale()->size(), kPerScale);
  if (quantization->zero_point() != nullptr) file_.count(quantization->zero_point()->size(), kPerScale);
}

void Writer::mark_interface(const flatbuffers::Vector<int32_t>* ids, const char* what,
                            std::vector<int32_t>& list) {
  for (flatbuffers::uoffset_t i = 0; ids != nullptr && i < ids->size(); ++i) {
    const int32_t id = ids->Get(i);
    if (id < 0 || static_cast<size_t>(id) >= tensors_.size()) {
      refuse_model("graph " + std::string(what) + " " + std::to_string(id) + " is no tensor of the file");
    }
    refuse_complex(at(id));
    if (at(id).is_handle)
      refuse_unsupported("graph " + std::string(what) + " " + quoted_name(name_of(id)) +
                         " is the handle of a variable");
    at(id).is_interface = true;
    list.push_back(id);
  }
}

void Writer::count_readers(const schema::SubGraph& subgraph) {
  for (const int32_t id : outputs_) ++at(id).readers;
  for (const schema::Operator* op : *subgraph.operators())
    for (flatbuffers::uoffset_t i = 0; op->inputs() != nullptr && i < op->inputs()->size(); ++i)
      if (const int32_t id = op->inputs()->Get(i); id >= 0 && static_cast<size_t>(id) < tensors_.size())
        ++at(id).readers;
}

// A constant without elements has no bytes: what tells it is that nothing computes it.
void Writer::find_empty_constants(const schema::SubGraph& subgraph) {
  std::set<int32_t> given(inputs_.begin(), inputs_.end());
  for (const schema::Operator* op : *subgraph.operators())
    for (flatbuffers::uoffset_t i = 0; op->outputs() != nullptr && i < op->outputs()->size(); ++i)
      given.insert(op->outputs()->Get(i));
  for (size_t i = 0; i < tensors_.size(); ++i) {
    Tensor& tensor = tensors_[i];
    const Shape& shape = tensor.type.shape;
    const bool is_empty = is_known(shape) && std::ranges::find(shape, 0) != shape.end();
    if (!is_empty || tensor.is_complex || tensor.is_state || tensor.is_handle || tensor.is_constant ||
        given.contains(static_cast<int32_t>(i)))
      continue;
    tensor.constant = HostTensor(tensor.type.dtype, shape);
    tensor.is_constant = true;
  }
}

const Writer::Tensor& Writer::at(int32_t tensor) const {
  if (tensor < 0 || static_cast<size_t>(tensor) >= tensors_.size()) {
    refuse_model("tensor " + std::to_string(tensor) + " does not exist");
  }
  return tensors_[static_cast<size_t>(tensor)];
}

Writer::Tensor& Writer::at(int32_t tensor) {
  return const_cast<Tensor&>(static_cast<const Writer&>(*this).at(tensor));
}

const TensorType& Writer::type(int32_t tensor) const { return at(tensor).type; }

std::string Writer::name_of(int32_t tensor) const { return at(tensor).name; }

const HostTensor* Writer::constant(int32_t tensor) const {
  const Tensor& entry = at(tensor);
  return entry.constant ? &*entry.constant : nullptr;
}

const HostTensor* Writer::integer_bias(int32_t tensor) const {
  const Tensor& entry = at(tensor);
  return entry.bias ? &*entry.bias : nullptr;
}

Ints Writer::constant_ints(int32_t tensor, std::string_view what) const {
  const HostTensor* value = constant(tensor);
  if (value == nullptr) {
    refuse_unsupported(std::string(what) + " (" + quoted_name(name_of(tensor)) + ") is computed at run time");
  }
  if (is_float(value->dtype())) refuse_model(std::string(what) + " holds no integers");
  constexpr uint64_t kPerInteger = 64;  // operators hold them, each of its own
  file_.count(static_cast<uint64_t>(value->elements()), kPerInteger);
  return value->to_ints();
}

void Writer::finished_reading(int32_t tensor) {
  Tensor& entry = at(tensor);
  if (entry.readers > 0 && --entry.readers == 0) entry.constant.reset(), entry.bias.reset();
}

void Writer::set_constant(int32_t tensor, HostTensor value) {
  Tensor& entry = at(tensor);
  if (entry.is_constant || entry.file != kNoValue || entry.image != kNoValue) {
    refuse_model("tensor " + quoted_name(entry.name) + " is computed twice");
  }
  entry.type = value.type();
  entry.constant = std::move(value);
  entry.is_constant = true;
}

void Writer::set_open_shape(int32_t tensor, Shape shape) {
  Tensor& entry = at(tensor);
  entry.type.shape = std::move(shape);
  entry.lacks_rank = false;
}

bool Writer::held_as_image(int32_t tensor) const { return at(tensor).image != kNoValue; }

ValueId Writer::in_file_order(int32_t tensor) {
  Tensor& entry = at(tensor);
  refuse_complex(entry);
  if (entry.file != kNoValue) return entry.file;
  const std::string name = value_name(entry, false);
  if (entry.constant) return entry.file = graph_.add_constant(name, *entry.constant);
  if (entry.image == kNoValue) {
    refuse_model("tensor " + quoted_name(entry.name) + " is used before it is computed");
  }
  auto transpose = std::make_shared<Transpose>();
  transpose->perm = kToFile;
  entry.file = graph_.add_value(name);
  add_node(std::move(transpose), {entry.image}, {entry.file});
  return entry.file;
}

ValueId Writer::as_image(int32_t tensor) {
  Tensor& entry = at(tensor);
  refuse_complex(entry);
  if (entry.image != kNoValue) return entry.image;
  if (entry.type.shape.size() != 4) {
    refuse_model("tensor " + quoted_name(entry.name) + " has " + std::to_string(entry.type.shape.size()) +
                 " dimensions, expected N x H x W x C");
  }
  const std::string name = value_name(entry, true);
  if (entry.constant) return entry.image = graph_.add_constant(name, to_image_order(*entry.constant));
  if (entry.file == kNoValue) {
    refuse_model("tensor " + quoted_name(entry.name) + " is used before it is computed");
  }
  auto transpose = std::make_shared<Transpose>();
  transpose->perm = kToImage;
  entry.image = graph_.add_value(name);
  add_node(std::move(transpose), {entry.file}, {entry.image});
  return entry.image;
}

ValueId Writer::define(int32_t tensor, bool image) {
  Tensor& entry = at(tensor);
  if (entry.is_constant || entry.file != kNoValue || entry.image != kNoValue) {
    refuse_model("tensor " + quoted_name(entry.name) + " is computed twice");
  }
  if (image && entry.type.shape.size() != 4) {
    refuse_model("tensor " + quoted_name(entry.name) + " has " + std::to_string(entry.type.shape.size()) +
                 " dimensions, expected N x H x W x C");
  }
  const ValueId id = graph_.add_value(value_name(entry, image));
  (image ? entry.image : entry.file) = id;
  return id;
}

ValueId Writer::add_constant(const std::string& name, HostTensor value) {
  file_.count(name.size() + value.byte_size());
  return graph_.add_constant(unique(name), std::move(value));
}

ValueId Writer::add_value(const std::string& name) {
  file_.count(name.size());
  return graph_.add_value(unique(name));
}

void Writer::add_node(std::shared_ptr<const Operator> op, std::vector<ValueId> inputs,
                      std::vector<ValueId> outputs) {
  Node node;
  for (const ValueId id : outputs) {
    if (id != kNoValue && node.name.empty()) node.name = graph_.values[id].name;
  }
  node.op = std::move(op);
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  note_grid(node);
  graph_.nodes.push_back(std::move(node));
}

std::vector<ValueId> Writer::call(const Graph& graph, const std::vector<ValueId>& inputs) {
  std::vector<ValueId> outputs;
  for (const ValueId id : graph.outputs) outputs.push_back(add_value(graph.values[id].name));
  graph_.nodes.push_back(call_node(unique("call"), graph, add_constant("called", always()), inputs, outputs));
  return outputs;
}

std::string Writer::unique(const std::string& name) {
  const auto [taken, is_new] = names_.try_emplace(name, 2);
  if (is_new) return name;
  int& next = taken->second;  // stays valid when the table grows
  std::string result;
  do result = name + "_" + std::to_string(next++);
  while (!names_.try_emplace(result, 2).second);
  return result;
}

// The tensor's name is given to its value in the file's order if the user sees it, else to the first value.
std::string Writer::value_name(const Tensor& tensor, bool image) {
  if (tensor.is_interface && tensor.quantisation) return unique(tensor.name + (image ? "_nchw" : "_real"));
  const bool first = tensor.file == kNoValue && tensor.image == kNoValue;
  if (tensor.is_interface ? !image : first) return tensor.name;
  return unique(tensor.name + (image ? "_nchw" : "_nhwc"));
}

// tensors: the tensors of the file whose values are `values`.
void Writer::name_by(const TensorNames* names, const std::vector<int32_t>& tensors,
                     const std::vector<ValueId>& values) {
  if (names == nullptr) return;
  std::unordered_set<std::string_view> taken;
  for (const ValueId id : values) taken.insert(graph_.values[id].name);
  std::unordered_map<int64_t, ValueId> value_of;
  for (size_t i = 0; i < tensors.size(); ++i) value_of.emplace(tensors[i], values[i]);
  for (const schema::TensorMap* entry : *names) {
    const std::string_view name = entry->name() == nullptr ? "" : entry->name()->string_view();
    const auto value = value_of.find(entry->tensor_index());
    if (value == value_of.end()) {
      refuse_model("the signature's " + quoted_name(std::string(name)) + " is tensor " +
                   std::to_string(entry->tensor_index()) + ", which is no input or output of its graph");
    }
    file_.count(1 + name.size());
    if (taken.insert(name).second) graph_.values[value->second].signature_name = name;
  }
}

Graph Writer::finish(const schema::SignatureDef* signature) {
  for (const int32_t id : outputs_) {
    const ValueId value = write_output(id);
    if (!written_.insert(value).second)
      refuse_model("graph output " + quoted_name(name_of(id)) + " is there twice");
    graph_.outputs.push_back(value);
  }
  write_variables();
  if (graph_.outputs.empty()) refuse_model("the graph has no outputs");
  if (signature != nullptr) {
    name_by(signature->inputs(), inputs_, graph_.inputs);
    name_by(signature->outputs(), outputs_, graph_.outputs);
  }
  check(graph_);
  graph_.has_integer_weights = file_.has_integer_weights;
  return std::move(graph_);
}

}  // namespace vellum::tflite

#include "kernels/framework/lowering.hpp"

#include <algorithm>

#include "cost/device_traits.hpp"
#include "kernels/framework/fuse_elementwise.hpp"
#include "kernels/framework/fuse_epilogues.hpp"
#include "kernels/framework/fuse_pixel_moves.hpp"
#include "kernels/framework/program_builder.hpp"
#include "program/divide.hpp"
#include "program/packing.hpp"
#include "vellum/error.hpp"

namespace vellum {

const Graph& Lowering::graph() const { return builder_.graph(); }
const Node& Lowering::whole_node() const {
  const size_t whole = builder_.whole_of(node_);
  return whole == WholeLayers::kNone ? node_ : whole_graph().nodes[whole];
}

const Graph& Lowering::whole_graph() const {
  return options().whole_layers ? *options().whole_layers->graph : graph();
}

const Shape& Lowering::whole_shape() const {
  const Node& whole = whole_node();
  return &whole == &node_ ? output_type().shape : whole_graph().values[whole.outputs.front()].type.shape;
}

int64_t Lowering::of_whole(int64_t count) const {
  const int64_t elements = element_count(output_type().shape);
  return elements == 0 ? count : count * element_count(whole_shape()) / elements;
}

const DeviceCaps& Lowering::caps() const { return builder_.caps(); }
const LoweringOptions& Lowering::options() const { return builder_.options(); }

bool Lowering::has_input(size_t i) const { return i < node_.inputs.size() && node_.inputs[i] != kNoValue; }

const TensorType& Lowering::input_type(size_t i) const {
  return builder_.graph().values[node_.inputs.at(i)].type;
}

bool Lowering::has_output(size_t i) const { return i < node_.outputs.size() && node_.outputs[i] != kNoValue; }

bool Lowering::is_read(size_t i) const { return has_output(i) && builder_.is_read(node_.outputs[i]); }

const TensorType& Lowering::output_type(size_t i) const {
  if (has_output(i)) return builder_.graph().values[node_.outputs[i]].type;
  if (output_types_.empty()) output_types_ = infer(builder_.graph(), node_);
  return output_types_.at(i);
}

const HostTensor* Lowering::constant(size_t i) const {
  return has_input(i) ? builder_.graph().constant(node_.inputs[i]) : nullptr;
}

uint64_t Lowering::macs() const { return node_.op->macs(operator_inputs(graph(), node_)); }

bool Lowering::is_final(size_t i) const { return has_output(i) && builder_.is_final(node_.outputs[i]); }

// "Conv group=1 | channels4 1x64x56x56 buffer, constant 64x64x3x3 | 1x64x56x56 buffer | f32".
std::string Lowering::signature() const {
  std::string text(node_.op->type());
  const std::string attributes = to_string(node_.op->attributes());
  if (!attributes.empty()) text += " " + attributes;
  for (size_t i = 0; i < node_.inputs.size(); ++i)
    text += (i == 0 ? " | " : ", ") + builder_.describe_input(node_.inputs[i]);
  for (size_t i = 0; i < node_.outputs.size(); ++i)
    text += (i == 0 ? " | " : ", ") + builder_.describe_output(node_.outputs[i]);
  text += " | " + std::string(name(builder_.float_element()));
  if (options().arithmetic == Arithmetic::fp16) text += " multiplied as halves";
  return choices_ > 1 ? text + " | choice " + std::to_string(choices_) : text;
}

size_t Lowering::choose(const std::vector<KernelPrediction>& predictions) {
  const std::vector<size_t> by_cost = by_predicted_cost(predictions);
  std::vector<KernelName> names;
  for (const size_t i : by_cost) names.push_back(predictions[i].name);
  ++choices_;
  std::vector<double> us;
  for (const size_t i : by_cost) us.push_back(predictions[i].us);
  return by_cost[builder_.choose(signature(), std::move(names), us, choices_ - 1)];
}

void Lowering::emit_best(const std::vector<KernelCandidate>& candidates) {
  std::vector<KernelPrediction> predictions;
  for (const KernelCandidate& candidate : candidates)
    predictions.push_back({candidate.name, candidate.predicted_cost, candidate.predicted_us});
  candidates[choose(predictions)].emit(*this);
}

Layout Lowering::preferred_layout(size_t i) const {
  const ValueId value = node_.inputs.at(i);
  if (builder_.exists_in(value, Layout::channels4)) return Layout::channels4;
  const bool fits = input_type(i).shape.size() <= 4;
  return builder_.graph().constant(value) && fits ? Layout::channels4 : Layout::linear;
}

bool Lowering::exists_in(size_t i, Layout layout) const {
  return builder_.exists_in(node_.inputs.at(i), layout);
}

TensorId Lowering::read(size_t i, Layout layout) { return builder_.read(node_.inputs.at(i), layout); }

TensorId Lowering::read_as(size_t i, Shape shape) {
  return builder_.make_alias(read(i, Layout::linear), std::move(shape),
                             builder_.graph().values[node_.inputs[i]].name);
}

TensorId Lowering::write(size_t i, Layout layout) {
  if (has_output(i)) return builder_.write(node_.outputs[i], layout);
  return workspace(node_.name + "/unread output " + std::to_string(i),
                   builder_.describe_type(output_type(i), layout, output_storage()));
}

TensorDesc Lowering::desc_of_input(size_t i) const {
  TensorDesc desc =
      builder_.describe_type(input_type(i), Layout::channels4, builder_.storage_choice(node_.inputs.at(i)));
  builder_.choose_element(desc, node_.inputs.at(i));
  return desc;
}

bool Lowering::is_in_bytes(size_t i) const {
  TensorDesc desc;
  builder_.choose_element(desc, node_.inputs.at(i));
  return desc.element == ElementType::q8;
}

bool Lowering::has_only_integer_weights() const {
  return whole_graph().has_integer_weights && !is_in_bytes(0);
}

bool Lowering::may_have_byte_weights() const { return whole_graph().has_integer_weights || is_in_bytes(0); }

void Lowering::alias(size_t output, size_t input) {
  const ValueId to = node_.outputs.at(output);
  if (builder_.share_texels(to, node_.inputs.at(input))) return;
  const Value& value = builder_.graph().values[to];
  builder_.set_tensor(to, Layout::linear,
                      builder_.make_alias(read(input, Layout::linear), value.type.shape, value.name));
}

TensorId Lowering::update_state(size_t input, size_t output) {
  if (!has_output(output)) return kNoTensor;
  return builder_.update_state(node_.inputs.at(input), node_.outputs.at(output));
}

bool Lowering::alias_same_bytes(float least, float most) {
  TensorDesc x;
  builder_.choose_element(x, node_.inputs.at(0));
  const auto zero = static_cast<float>(x.grid.zero);
  if (x.element != ElementType::q8 || least > -zero || most < 255.0f - zero) return false;
  return builder_.alias_same_bytes(node_.outputs.at(0), node_.inputs.at(0));
}

TensorId Lowering::weight(std::string name, TensorDesc desc, WeightValues values) {
  if (values.make_bytes)
    return builder_.add_tensor({std::move(name), std::move(desc), TensorRole::weight, kNoTensor,
                                std::move(values.make_bytes), std::move(values.origin)});
  return builder_.add_tensor(
      {std::move(name), desc, TensorRole::weight, kNoTensor,
       [desc = std::move(desc), make = std::move(values.make)] { return pack_elements(desc, make()); },
       std::move(values.origin)});
}

TensorId Lowering::constant_as_stored(size_t i) {
  const HostTensor tensor = *constant(i);
  TensorDesc desc{tensor.shape(), ElementType::f32, Storage::buffer, Layout::linear};
  if (tensor.dtype() == DType::f16) desc.element = ElementType::f16;
  if (size_of(tensor.dtype()) == 1) desc.element = ElementType::u8;
  VirtualTensor weight{graph().values[node_.inputs[i]].name, desc, TensorRole::weight, kNoTensor, {}};
  if (tensor.dtype() == DType::f64)
    weight.pack = [tensor, desc] { return pack(desc, tensor.to_floats()); };
  else
    weight.pack = [tensor, desc] {
      std::vector<std::byte> bytes(tensor.data(), tensor.data() + tensor.byte_size());
      bytes.resize(desc.byte_size());
      return bytes;
    };
  weight.origin = {{PackingScheme::unchanged}, {tensor}};
  return builder_.add_tensor(std::move(weight));
}

TensorId Lowering::integer_weight(std::string name, Shape shape, std::vector<int64_t> values) {
  TensorDesc desc{std::move(shape), ElementType::i32, Storage::buffer, Layout::linear};
  return builder_.add_tensor({std::move(name), desc, TensorRole::weight, kNoTensor,
                              [desc, values = std::move(values)] { return pack_ints(desc, values); }});
}

TensorDesc Lowering::texel_grid(uint32_t width, uint32_t height) const {
  TensorDesc desc{{1, 4, height, width}, builder_.float_element(), Storage::buffer, Layout::channels4};
  const uint32_t limit = caps().max_image_dimension_2d;
  const bool has_format = desc.element == ElementType::f16 ? caps().rgba16f_images : caps().rgba32f_images;
  const StorageChoice choice =
      options().weights_in_default_storage ? builder_.storage_choice(kNoValue) : output_storage();
  const bool images =
      has_format && choice != StorageChoice::buffer && !device_traits(caps()).weights_in_buffers;
  if (images && width <= limit && height <= limit) desc.storage = Storage::image2d;
  return desc;
}

StorageChoice Lowering::output_storage() const { return builder_.storage_choice(node_.outputs.front()); }

void Lowering::choose_storage(TensorDesc& desc) const { builder_.choose_storage(desc, output_storage()); }

Lowering::Counters Lowering::counters(int64_t count) {
  const auto [tensor, first] = builder_.counters(count);
  return {tensor, first};
}

std::optional<Lowering::Counters> Lowering::counters_for_range() {
  const ValueId y = node_.outputs.front();
  if (!builder_.needs_range(y)) return std::nullopt;
  const Counters range = counters(2);
  builder_.set_range(y, {range.tensor, range.first});
  return range;
}

std::optional<Lowering::Counters> Lowering::range_of(size_t i) const {
  const auto range = builder_.range(node_.inputs[i]);
  return range ? std::optional(Counters{range->first, range->second}) : std::nullopt;
}

TensorId Lowering::workspace(std::string name, TensorDesc desc) {
  // Intermediate results of a node are on no grid.
  if (desc.element == ElementType::q8) {
    desc.element = builder_.float_element();
    desc.grid = {};
    if (desc.storage != Storage::buffer) choose_storage(desc);
  }
  return builder_.add_tensor({std::move(name), std::move(desc), TensorRole::workspace, kNoTensor, {}});
}

TensorId Lowering::workspace_like(TensorId model, Shape shape, std::string_view name) {
  TensorDesc desc = tensor(model).desc;
  desc.shape = std::move(shape);
  if (desc.storage != Storage::buffer) choose_storage(desc);
  return workspace(node_.name + std::string(name), std::move(desc));
}

const VirtualTensor& Lowering::tensor(TensorId id) const { return builder_.tensor(id); }

void Lowering::run_on_host(std::string_view why) { builder_.add_host_partition(node_, why); }

void Lowering::run_on_host_for_rank() {
  run_on_host(std::string(node_.op->type()) + " of " + std::to_string(input_type(0).shape.size()) +
              " dimensions has no kernel");
}

void Lowering::dispatch(Dispatch dispatch) { builder_.add_dispatch(std::move(dispatch), &node_); }

std::vector<Dispatch> Lowering::without_adding(const std::function<void()>& emit) {
  return builder_.without_adding(emit);
}

namespace {

void check_arithmetic(const DeviceCaps& caps, const LoweringOptions& options) {
  if (options.arithmetic != Arithmetic::fp16) return;
  if (options.precision != Precision::fp16)
    throw Error(ErrorCode::invalid_argument, "arithmetic of halves (fp16) needs the precision fp16");
  if (!caps.fp16_arithmetic)
    throw Error(ErrorCode::unsupported,
                "arithmetic of halves (fp16): " + (caps.name.empty() ? "the device" : "'" + caps.name + "'") +
                    " has none (the feature shaderFloat16); take arithmetic fp32, whose values may be stored "
                    "as halves all the same");
}

// Lowers with all tensors in buffers. Layout conversions of images and of buffers are different kernels: if
// the former are wrong, the latter may be right.
Program lower_in_buffers(const Graph& graph, const DeviceCaps& caps, LoweringOptions options,
                         const AvoidedKernels& avoided) {
  options.storage = StorageChoice::buffer;
  options.value_storages.clear();
  if (options.choices) options.choices->clear();
  try {
    Program program = ProgramBuilder(graph, caps, options).build();
    for (const auto& [kernel, why] : avoided)
      program.warnings.push_back(wrong_kernel_warning(caps, kernel, why) + "; all tensors are in buffers");
    return program;
  } catch (const ConversionIsWrong& node) {
    throw Error(ErrorCode::unsupported, std::string(node.what()) + ": " + caps.name + ", " + caps.driver +
                                            ", computes wrong results where it converts tensors, and nothing "
                                            "else can; `vellum doctor` reports the kernels");
  }
}

// The share of the predicted time that a network may lose for fewer pipelines.
constexpr double kWorthFewerPipelines = 0.02;

// Returns kernels for all nodes with which the program has fewer pipelines. Returns none if there are none.
ChosenKernels kernels_to_share(const std::vector<std::vector<NodeLowering>>& lowerings) {
  double us = 0;
  for (const std::vector<NodeLowering>& of_node : lowerings)
    if (!of_node.empty()) us += of_node.front().us;
  const std::vector<size_t> taken = share_pipelines(lowerings, kWorthFewerPipelines * us);
  if (std::ranges::all_of(taken, [](size_t lowering) { return lowering == 0; })) return {};
  ChosenKernels chosen;
  for (size_t n = 0; n < lowerings.size(); ++n) chosen.push_back(lowerings[n][taken[n]].kernels);
  return chosen;
}

// Lowers with nodes on the host. All other nodes have the kernels that they would have if none were wrong.
Program lower_with_host_nodes(const Graph& graph, const DeviceCaps& caps, const LoweringOptions& options) {
  LoweringOptions without = options;
  without.wrong = nullptr;
  without.wrong_nodes = WrongNodes::other_kernels;
  ProgramBuilder builder(graph, caps, without);
  builder.build();
  const ChosenKernels chosen = kernels_to_share(builder.lowerings());
  LoweringOptions with = options;
  if (!chosen.empty()) with.chosen = &chosen;
  try {
    return ProgramBuilder(graph, caps, with).build();
  } catch (const ConversionIsWrong& node) {
    throw Error(ErrorCode::unsupported,
                std::string(node.what()) + " needs a layout conversion that is wrong");
  }
}

Program lower_nodes(const Graph& graph, const DeviceCaps& caps, const LoweringOptions& options) {
  if (options.wrong_nodes != WrongNodes::other_kernels) return lower_with_host_nodes(graph, caps, options);
  ProgramBuilder builder(graph, caps, options);
  try {
    const size_t first_choice = options.choices ? options.choices->size() : 0;
    Program program = builder.build();
    const ChosenKernels chosen = kernels_to_share(builder.lowerings());
    if (chosen.empty()) return program;
    LoweringOptions shared = options;
    shared.chosen = &chosen;
    if (shared.choices) shared.choices->resize(first_choice);
    return ProgramBuilder(graph, caps, shared).build();
  } catch (const ConversionIsWrong&) {
    return lower_in_buffers(graph, caps, options, builder.avoided());
  }
}

}  // namespace

Program lower(const Graph& graph, const DeviceCaps& caps, const LoweringOptions& options) {
  check_arithmetic(caps, options);
  Program program = lower_nodes(graph, caps, options);
  if (!options.fuse_epilogues) return program;
  fuse_epilogues(program, caps, options.wrong);
  fuse_pixel_moves(program, caps, options.wrong);
  fuse_elementwise(program, caps, options.wrong);
  return program;
}

}  // namespace vellum

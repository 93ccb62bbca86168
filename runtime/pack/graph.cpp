#include "pack/graph.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <set>

#include "graph/node_spec.hpp"
#include "graph/operators/control/branch.hpp"
#include "graph/operators/control/loop.hpp"
#include "import/import.hpp"
#include "import/names.hpp"
#include "pack/schema.hpp"
#include "vellum/error.hpp"

namespace vellum::packfile {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorCode::corrupt_model, what); }

// Decodes one model; `file` owns the bytes that tensors share.
class Decoder {
 public:
  explicit Decoder(const File& file) : file_(file), room_(file.description_bytes().size()) {}

  Graph graph(const schema::Graph* from) const {
    if (!from) refuse("there is no graph in it");
    Graph graph;
    graph.name = text(from->name());
    if (from->values())
      for (const schema::Value* value : *from->values()) graph.values.push_back(decode(*value));
    if (from->nodes())
      for (const schema::Node* node : *from->nodes()) graph.nodes.push_back(decode(*node));
    graph.inputs = list(from->inputs());
    graph.outputs = list(from->outputs());
    check_ids(graph);
    check(graph);
    if (graph.outputs.empty()) refuse("the graph has no outputs");
    if (std::set(graph.outputs.begin(), graph.outputs.end()).size() != graph.outputs.size())
      refuse("a graph output is declared twice");
    return graph;
  }

 private:
  // Bundles share no text and no list: copies take no more than the description.
  void count(uint64_t bytes) const {
    if (bytes > room_) refuse("its description refers to parts of itself again and again");
    room_ -= bytes;
  }

  std::string text(const flatbuffers::String* string) const {
    if (!string) return {};
    count(string->size());
    return string->str();
  }

  template <typename T>
  std::vector<T> list(const flatbuffers::Vector<T>* values) const {
    if (!values) return {};
    count(values->size() * sizeof(T));
    return {values->begin(), values->end()};
  }

  std::vector<std::string> texts(const flatbuffers::Vector<uint32_t>* offsets) const {
    std::vector<std::string> result;
    const std::span<const std::byte> whole = file_.description_bytes();
    for (flatbuffers::uoffset_t i = 0; offsets && i < offsets->size(); ++i) {
      const auto place =
          static_cast<uint64_t>(reinterpret_cast<const std::byte*>(offsets->data() + i) - whole.data());
      const uint64_t length_at = place + offsets->Get(i), begin = length_at + sizeof(uint32_t);
      if (begin > whole.size()) refuse("a text is outside the description");
      uint32_t length = 0;
      std::memcpy(&length, whole.data() + length_at, sizeof length);
      length = flatbuffers::EndianScalar(length);
      if (length > whole.size() - begin) refuse("a text is outside the description");
      count(sizeof(uint32_t) + length);
      result.emplace_back(reinterpret_cast<const char*>(whole.data() + begin), length);
    }
    return result;
  }

  static DType dtype(uint8_t number) {
    if (number > static_cast<uint8_t>(DType::boolean)) refuse("an element type " + std::to_string(number));
    return static_cast<DType>(number);
  }

  HostTensor tensor(const schema::Tensor& from, const std::string& what) const {
    Shape shape = list(from.shape());
    const DType type = dtype(from.dtype());
    const std::span<const std::byte> bytes = file_.bytes(*from.bytes(), what);
    if (static_cast<uint64_t>(checked_element_count(shape)) * size_of(type) != bytes.size())
      refuse(what + " has " + std::to_string(bytes.size()) + " bytes for the shape " + to_string(shape));
    return HostTensor(type, std::move(shape), file_.share(bytes));
  }

  Value decode(const schema::Value& from) const {
    Value value;
    value.name = text(from.name());
    value.type = {dtype(from.dtype()), list(from.shape())};
    value.type_known = from.type_known();
    for (const int64_t dim : value.type.shape)
      if (dim < kUnknownDim)
        refuse("value " + quoted_name(value.name) + " has a dimension of " + std::to_string(dim));
    if (from.constant()) {
      value.constant = tensor(*from.constant(), "constant " + quoted_name(value.name));
      value.type = value.constant->type();
      value.type_known = true;
    }
    return value;
  }

  Attributes::Value decode(const schema::Attribute& from) const {
    switch (from.kind()) {
      case 0:
        return from.integer();
      case 1:
        return from.number();
      case 2:
        return text(from.text());
      case 3:
        return list(from.integers());
      case 4:
        return list(from.numbers());
      case 5:
        return texts(from.texts());
      case 6:
        if (from.tensor()) return tensor(*from.tensor(), "attribute " + quoted_name(from.name()->str()));
        break;
      default:
        break;
    }
    refuse("attribute " + quoted_name(from.name()->str()) + " is of no kind");
  }

  std::shared_ptr<const Operator> operator_of(const schema::Node& from, const Node& node) const {
    if (from.type()->string_view() == "If") {
      if (!from.branches() || from.branches()->size() != 2) refuse("an If without two graphs");
      auto choice = std::make_shared<If>();
      choice->then_branch = graph(from.branches()->Get(0));
      choice->else_branch = graph(from.branches()->Get(1));
      if (std::count(node.inputs.begin(), node.inputs.end(), kNoValue) > 0)
        refuse("an If without one of its inputs");
      const size_t inputs = 1 + choice->then_branch.inputs.size() + choice->else_branch.inputs.size();
      if (node.inputs.size() != inputs || choice->then_branch.outputs.size() < node.outputs.size() ||
          choice->else_branch.outputs.size() < node.outputs.size())
        refuse("an If whose graphs do not fit it");
      return choice;
    }
    const Attributes attributes = attributes_of(from);
    if (from.type()->string_view() == "Loop") return loop_of(from, node, attributes);
    return make_operator(
        spec_of(text(from.type()), node.name, from.opset(), attributes, node.inputs, node.outputs.size()));
  }

  Attributes attributes_of(const schema::Node& from) const {
    Attributes attributes;
    if (from.attributes())
      for (const schema::Attribute* entry : *from.attributes())
        attributes.set(text(entry->name()), decode(*entry));
    return attributes;
  }

  std::shared_ptr<const Operator> loop_of(const schema::Node& from, const Node& node,
                                          const Attributes& attributes) const {
    if (!from.branches() || from.branches()->size() != 1) refuse("a Loop without one graph");
    auto loop = std::make_shared<LoopOperator>();
    loop->body = graph(from.branches()->Get(0));
    const int64_t states = attributes.get_int("states", -1);
    const Attributes::Ints axes = attributes.get_ints("axes"), reversed = attributes.get_ints("reversed");
    if (states < 0 || static_cast<uint64_t>(states) > node.inputs.size() || axes.size() != reversed.size() ||
        std::count(node.inputs.begin(), node.inputs.end(), kNoValue) > 0)
      refuse("a Loop whose attributes do not fit it");
    loop->states = static_cast<size_t>(states);
    for (size_t i = 0; i < axes.size(); ++i) loop->stacks.push_back({axes[i], reversed[i] != 0});
    loop->check_counts(node.inputs.size(), node.outputs.size());
    return loop;
  }

  // Inputs omitted at the end have no entry, as in imported graphs.
  std::vector<ValueId> ids(const flatbuffers::Vector<uint32_t>* from) const {
    std::vector<ValueId> ids = list(from);
    while (!ids.empty() && ids.back() == kNoValue) ids.pop_back();
    return ids;
  }

  Node decode(const schema::Node& from) const {
    Node node;
    node.name = text(from.name());
    node.inputs = ids(from.inputs());
    node.outputs = ids(from.outputs());
    if (node.outputs.empty()) refuse("node " + quoted_name(node.name) + " has no outputs");
    try {
      node.op = operator_of(from, node);
    } catch (const Error& error) {
      throw Error(error.code(),
                  quoted_name(from.type()->str()) + " " + quoted_name(node.name) + ": " + error.what());
    }
    return node;
  }

  static void check_ids(const Graph& graph) {
    const auto in_range = [&](const std::vector<ValueId>& ids, bool optional) {
      for (const ValueId id : ids)
        if (id >= graph.values.size() && !(optional && id == kNoValue))
          refuse("value " + std::to_string(id) + " does not exist");
    };
    in_range(graph.inputs, false);
    in_range(graph.outputs, false);
    for (const Node& node : graph.nodes) {
      in_range(node.inputs, true);
      in_range(node.outputs, true);
    }
  }

  const File& file_;
  mutable uint64_t room_;  // bytes
};

std::string_view made_of(const File& file) {
  const flatbuffers::String* signature = file.description().signature();
  return signature ? signature->string_view() : std::string_view();
}

}  // namespace

Graph read_graph(const std::shared_ptr<const File>& file, const LoadLimits& limits) {
  try {
    const schema::Bytes* model = file->description().tflite();
    Graph graph = model ? import_tflite(file->bytes(*model, "the TFLite model"), made_of(*file))
                        : Decoder(*file).graph(file->description().graph());
    graph.signatures.resize(std::min<size_t>(graph.signatures.size(), 1));
    graph.limits = limits;
    check_limits(graph);
    return graph;
  } catch (const Error& error) {
    if (std::string_view(error.what()).starts_with(file->source())) throw;
    throw Error(error.code(), file->source() + ": " + error.what());
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, file->source() + ": not enough host memory");
  }
}

std::map<const std::byte*, ValueId> constants_by_address(const Graph& graph) {
  std::map<const std::byte*, ValueId> ids;
  for (ValueId id = 0; id < graph.values.size(); ++id)
    if (const HostTensor* constant = graph.constant(id)) ids.emplace(constant->data(), id);
  return ids;
}

}  // namespace vellum::packfile

#include "import/onnx/functions.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "import/onnx/names.hpp"
#include "import/onnx/parts.hpp"
#include "import/onnx/versions.hpp"
#include "vellum/error.hpp"

namespace vellum::onnx {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<schema::NodeProto>;
using Values = std::unordered_map<std::string, std::string>;

constexpr int kMostNested = 64;           // functions that call functions
constexpr uint64_t kMostNodes = 1 << 20;  // of all calls together
constexpr uint64_t kMostBytes = 1 << 28;
constexpr uint64_t kDefaultAttributes = 11;  // FunctionProto.attribute_proto, which older schemas lack

// The attribute that has the operator set of a node, if its function uses another one than the model.
const std::string kOperatorSet = "vellum.operator_set";

std::string domain_of(const std::string& domain) {
  return is_default_domain(domain) ? std::string() : domain;
}

const schema::AttributeProto* find_attribute(const schema::NodeProto& node, const std::string& name) {
  for (const auto& attribute : node.attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

void set_operator_set(schema::NodeProto& node, int opset) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(kOperatorSet);
  attribute.set_type(schema::AttributeProto::INT);
  attribute.set_i(opset);
}

// A file must not have attributes of this name.
// NOLINTNEXTLINE(misc-no-recursion): as deep as protobuf reads
void erase_operator_sets(Nodes& nodes) {
  for (auto& node : nodes) {
    take_operator_set(node);
    for (auto& attribute : *node.mutable_attribute())
      if (attribute.has_g()) erase_operator_sets(*attribute.mutable_g()->mutable_node());
  }
}

// One call: the function's names and attributes as the calling graph has them.
class Call {
 public:
  // `opset`: of the function's nodes, nothing if it is the model's.
  Call(const schema::FunctionProto& function, const schema::NodeProto& node, std::string prefix,
       std::optional<int> opset = std::nullopt)
      : function_(function), node_(node), prefix_(std::move(prefix)), opset_(opset) {
    if (node.input_size() > function.input_size() || node.output_size() > function.output_size())
      throw Error(ErrorCode::corrupt_model, describe(node) + ": the function has fewer inputs or outputs");
    for (int i = 0; i < function.input_size(); ++i)
      values_[function.input(i)] = i < node.input_size() ? node.input(i) : std::string();
    for (const std::string_view bytes : unknown_messages(function.unknown_fields(), kDefaultAttributes)) {
      schema::AttributeProto attribute;
      if (!attribute.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
        throw Error(ErrorCode::corrupt_model, describe(node) + ": an attribute of the function is damaged");
      defaults_[attribute.name()] = attribute;
    }
  }

  Nodes nodes() {
    Nodes result;
    for (int i = 0; i < node_.output_size(); ++i) {
      const std::string& formal = function_.output(i);
      if (node_.output(i).empty()) continue;
      if (!values_.emplace(formal, node_.output(i)).second)
        add_copy(result, values_[formal], node_.output(i));
    }
    for (const auto& node : function_.node()) *result.Add() = instantiate(node);
    return result;
  }

 private:
  // A function may output its input, and one value twice.
  static void add_copy(Nodes& nodes, const std::string& from, const std::string& to) {
    auto& copy = *nodes.Add();
    copy.set_op_type("Identity");
    copy.set_name(to);
    copy.add_input(from);
    copy.add_output(to);
  }

  std::string renamed(const std::string& name) const {
    if (name.empty()) return name;
    const auto found = values_.find(name);
    return found != values_.end() ? found->second : prefix_ + name;
  }

  schema::NodeProto instantiate(const schema::NodeProto& from) const {
    schema::NodeProto node = from;
    node.set_name(prefix_ + (from.name().empty() && from.output_size() > 0 ? from.output(0) : from.name()));
    for (auto& input : *node.mutable_input()) input = renamed(input);
    for (auto& output : *node.mutable_output()) output = renamed(output);
    node.clear_attribute();
    for (const auto& attribute : from.attribute()) add_attribute(attribute, node);
    if (opset_) set_operator_set(node, *opset_);
    return node;
  }

  void add_attribute(const schema::AttributeProto& from, schema::NodeProto& node) const {
    schema::AttributeProto attribute = from;
    if (!from.ref_attr_name().empty()) {
      const schema::AttributeProto* given = find_attribute(node_, from.ref_attr_name());
      if (const auto found = defaults_.find(from.ref_attr_name()); !given && found != defaults_.end())
        given = &found->second;
      if (!given) return;  // the operator's own default
      attribute = *given;
      attribute.set_name(from.name());
    } else if (attribute.has_g()) {
      rename_graph(*attribute.mutable_g());
    }
    *node.add_attribute() = std::move(attribute);
  }

  // NOLINTNEXTLINE(misc-no-recursion): as deep as protobuf reads
  void rename_graph(schema::GraphProto& graph) const {
    for (auto* list : {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()})
      for (auto& value : *list) value.set_name(renamed(value.name()));
    for (auto& tensor : *graph.mutable_initializer()) tensor.set_name(renamed(tensor.name()));
    for (auto& node : *graph.mutable_node()) node = instantiate(node);
  }

  const schema::FunctionProto& function_;
  const schema::NodeProto& node_;
  const std::string prefix_;
  const std::optional<int> opset_;
  Values values_;
  std::map<std::string, schema::AttributeProto> defaults_;
};

// The graph of an attribute as a function. One that reads values from outside calls them by names that no
// node has there, and is refused.
schema::FunctionProto function_of(const schema::GraphProto& graph) {
  schema::FunctionProto function;
  function.set_name(graph.name());
  for (const auto& input : graph.input()) function.add_input(input.name());
  for (const auto& output : graph.output()) function.add_output(output.name());
  for (const auto& tensor : graph.initializer()) {
    auto& node = *function.add_node();
    node.set_op_type("Constant");
    node.add_output(tensor.name());
    auto& value = *node.add_attribute();
    value.set_name("value");
    value.set_type(schema::AttributeProto::TENSOR);
    *value.mutable_t() = tensor;
  }
  for (const auto& node : graph.node()) *function.add_node() = node;
  return function;
}

// FlexAttention: a product, a graph, a Softmax, a graph, a product. Either graph may be missing.
// https://onnx.ai/onnx/operators/onnx_aionnxpreview_FlexAttention.html
class FlexAttention {
 public:
  FlexAttention(const schema::NodeProto& node, std::string prefix)
      : node_(node), prefix_(std::move(prefix)) {}

  Nodes nodes() {
    if (node_.input_size() != 3 || node_.output_size() != 1)
      throw Error(ErrorCode::corrupt_model,
                  describe(node_) + ": the node must have three inputs and one output");
    std::string value =
        add("FlexAttentionScores", {node_.input(0), node_.input(1)}, {"scale", "softmax_precision"});
    value = modify("score_mod", value);
    value = add("Softmax", {value}, {});
    auto& axis = *nodes_.rbegin()->add_attribute();  // operator sets before 13 have another default
    axis.set_name("axis");
    axis.set_type(schema::AttributeProto::INT);
    axis.set_i(-1);
    value = modify("prob_mod", value);
    add("FlexAttentionValues", {value, node_.input(2)}, {"softmax_precision"});
    nodes_.rbegin()->set_output(0, node_.output(0));
    return std::move(nodes_);
  }

 private:
  std::string add(const std::string& type, std::initializer_list<std::string> inputs,
                  std::initializer_list<const char*> attributes) {
    auto& node = *nodes_.Add();
    node.set_op_type(type);
    node.set_name(prefix_ + type);
    for (const std::string& input : inputs) node.add_input(input);
    node.add_output(node.name());
    for (const char* name : attributes)
      if (const auto* attribute = find_attribute(node_, name)) *node.add_attribute() = *attribute;
    return node.output(0);
  }

  std::string modify(const char* name, const std::string& value) {
    const schema::AttributeProto* attribute = find_attribute(node_, name);
    if (!attribute) return value;
    if (attribute->g().input_size() != 1 || attribute->g().output_size() != 1)
      throw Error(ErrorCode::corrupt_model,
                  describe(node_) + ": " + name + " must have one input and one output");
    schema::NodeProto call;
    call.add_input(value);
    call.add_output(prefix_ + name);
    const schema::FunctionProto function = function_of(attribute->g());
    for (auto& node : Call(function, call, prefix_ + name + "/").nodes()) *nodes_.Add() = std::move(node);
    return call.output(0);
  }

  const schema::NodeProto& node_;
  const std::string prefix_;
  Nodes nodes_;
};

class FunctionInliner {
 public:
  FunctionInliner(const schema::ModelProto& model, int opset) : opset_(opset) {
    for (const auto& function : model.functions())
      functions_.emplace(std::pair(domain_of(function.domain()), function.name()), &function);
  }

  void run(schema::GraphProto& graph) { expand(*graph.mutable_node(), 0); }

 private:
  // NOLINTNEXTLINE(misc-no-recursion): at most kMostNested calls, and as deep as protobuf reads
  void expand(Nodes& nodes, int depth) {
    Nodes result;
    for (auto& node : nodes) {
      if (node.domain() == "ai.onnx.preview" && node.op_type() == "FlexAttention") {
        count(static_cast<uint64_t>(node.ByteSizeLong()), 4, node);
        Nodes body = FlexAttention(node, prefix_of(node)).nodes();
        expand(body, depth);
        for (auto& inner : body) *result.Add() = std::move(inner);
        continue;
      }
      const auto found = functions_.find({domain_of(node.domain()), node.op_type()});
      if (found == functions_.end()) {
        for (auto& attribute : *node.mutable_attribute())
          if (attribute.has_g()) expand(*attribute.mutable_g()->mutable_node(), depth);
        *result.Add() = std::move(node);
        continue;
      }
      Nodes body = call(*found->second, node, depth);
      for (auto& inner : body) *result.Add() = std::move(inner);
    }
    nodes.Swap(&result);
  }

  // NOLINTNEXTLINE(misc-no-recursion)
  Nodes call(const schema::FunctionProto& function, const schema::NodeProto& node, int depth) {
    if (depth >= kMostNested)
      throw Error(ErrorCode::unsupported, describe(node) + ": functions call each other more than " +
                                              std::to_string(kMostNested) + " deep");
    const std::optional<int> opset = opset_of(function, node);
    const auto made = static_cast<uint64_t>(function.node_size()) + 1;
    count(function.ByteSizeLong() + made * node.ByteSizeLong(), made, node);
    Nodes body = Call(function, node, prefix_of(node), opset).nodes();
    expand(body, depth + 1);
    return body;
  }

  // Names in nested graphs get the prefix of each enclosing call, and the node's name may already have these
  // prefixes. Without a bound, names would double in length with each level.
  std::string prefix_of(const schema::NodeProto& node) {
    constexpr size_t kLongest = 200;
    const std::string& name = node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name();
    return name.substr(0, kLongest) + "/" + std::to_string(calls_++) + "/";
  }

  void count(uint64_t bytes, uint64_t nodes, const schema::NodeProto& node) {
    nodes_ += nodes;
    bytes_ += bytes;
    if (nodes_ > kMostNodes || bytes_ > kMostBytes)
      throw Error(ErrorCode::unsupported, describe(node) + ": the functions of the model make more than " +
                                              std::to_string(kMostNodes) + " nodes or " +
                                              std::to_string(kMostBytes) + " bytes");
  }

  // Nothing if the function is written in the model's operator set.
  std::optional<int> opset_of(const schema::FunctionProto& function, const schema::NodeProto& node) const {
    std::optional<int64_t> opset;
    for (const auto& import : function.opset_import()) {
      if (!is_default_domain(import.domain())) continue;
      if (import.version() < kOldestOpset || (opset && *opset != import.version()))
        throw Error(ErrorCode::corrupt_model, describe(node) + ": the function is written in operator set " +
                                                  std::to_string(import.version()) +
                                                  (opset ? " and " + std::to_string(*opset) : ""));
      opset = import.version();
    }
    if (!opset || std::min(*opset, kNewestOpset) == opset_) return std::nullopt;
    return static_cast<int>(std::min(*opset, kNewestOpset));
  }

  const int opset_;
  std::map<std::pair<std::string, std::string>, const schema::FunctionProto*> functions_;
  uint64_t nodes_ = 0, bytes_ = 0, calls_ = 0;
};

}  // namespace

std::optional<int> take_operator_set(schema::NodeProto& node) {
  std::optional<int> opset;
  for (int i = node.attribute_size(); i-- > 0;) {
    if (node.attribute(i).name() != kOperatorSet) continue;
    opset = static_cast<int>(node.attribute(i).i());
    node.mutable_attribute()->DeleteSubrange(i, 1);
  }
  return opset;
}

void inline_functions(schema::ModelProto& model, int opset) {
  erase_operator_sets(*model.mutable_graph()->mutable_node());
  for (auto& function : *model.mutable_functions()) erase_operator_sets(*function.mutable_node());
  FunctionInliner(model, opset).run(*model.mutable_graph());
}

}  // namespace vellum::onnx

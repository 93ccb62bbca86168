#include "read_network.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "graph/narrow_types.hpp"
#include "graph/node_spec.hpp"
#include "graph/onnx_types.hpp"
#include "import/names.hpp"
#include "import/onnx/operator_type.hpp"
#include "read_values.hpp"

namespace vellum::ort {
namespace {

// The newest operator set that runtime/graph implements or refuses, as the importer has it.
int default_opset(const OrtGraph& graph) {
  const auto count = get<size_t>(api().Graph_GetNumOperatorSets, &graph);
  std::vector<const char*> domains(count);
  std::vector<int64_t> versions(count);
  check(api().Graph_GetOperatorSets(&graph, domains.data(), versions.data(), count));
  for (size_t i = 0; i < count; ++i)
    if (onnx::is_default_domain(domains[i]))
      return static_cast<int>(std::min(versions[i], onnx::kNewestOpset));
  return static_cast<int>(onnx::kNewestOpset);
}

class NetworkReader {
 public:
  NetworkReader(const OrtGraph& graph, Constants constants)
      : runtime_graph_(graph), constants_(constants), opset_(default_opset(graph)) {}

  Network read() {
    network_.graph.name = get<const char*>(api().Graph_GetName, &runtime_graph_);
    for (const OrtValueInfo* value : values(api().Graph_GetNumInitializers, api().Graph_GetInitializers))
      read_initializer(*value);
    for (const OrtValueInfo* value : values(api().Graph_GetNumInputs, api().Graph_GetInputs)) {
      if (ids_.contains(name_of(*value))) continue;  // an initializer that the file lists as an input, too
      network_.graph.inputs.push_back(define(*value));
    }
    for (const OrtNode* node :
         list<const OrtNode*>(api().Graph_GetNumNodes, api().Graph_GetNodes, &runtime_graph_))
      read_node(*node);
    for (const OrtValueInfo* value : values(api().Graph_GetNumOutputs, api().Graph_GetOutputs))
      network_.graph.outputs.push_back(use(value));
    return std::move(network_);
  }

 private:
  template <typename Size, typename Elements>
  std::vector<const OrtValueInfo*> values(Size size, Elements elements) {
    return list<const OrtValueInfo*>(size, elements, &runtime_graph_);
  }

  static std::string name_of(const OrtValueInfo& value) {
    return get<const char*>(api().GetValueInfoName, &value);
  }

  ValueId add(Value value) {
    const auto id = static_cast<ValueId>(network_.graph.values.size());
    ids_.emplace(value.name, id);
    network_.graph.values.push_back(std::move(value));
    network_.dimensions.emplace_back();
    unusable_.emplace_back();
    return id;
  }

  // Values whose type Vellum does not have get a reason, with which their nodes are refused.
  ValueId define(const OrtValueInfo& value) {
    Value defined;
    defined.name = name_of(value);
    std::string why;
    const std::optional<TensorDescription> tensor = describe_tensor(value);
    if (!tensor) {
      why = "is no tensor";
    } else if (const NarrowType* narrow = find_narrow_type(tensor->onnx_type)) {
      defined.type.dtype = narrow->stored;
      why = "has elements of type " + std::string(narrow->name);
    } else {
      try {
        defined.type.dtype = dtype_from_onnx(tensor->onnx_type);
      } catch (const Error& error) {
        why = std::string("has elements of a type that Vellum does not support: ") + error.what();
      }
    }
    const ValueId id = add(std::move(defined));
    if (tensor) network_.dimensions[id] = tensor->dimensions;
    unusable_[id] = why;
    return id;
  }

  void read_initializer(const OrtValueInfo& info) {
    const auto* tensor = get<const OrtValue*>(api().ValueInfo_GetInitializerValue, &info);
    Value value;
    value.name = name_of(info);
    std::string why;
    try {
      if (!tensor) throw Error(ErrorCode::unsupported, "has no value");
      value.constant =
          constants_ == Constants::copied ? copy_tensor(*tensor) : borrow_tensor(*tensor, nullptr);
      value.type = value.constant->type();
      value.type_known = true;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::out_of_memory) throw;
      why = error.what();
    }
    unusable_[add(std::move(value))] = why;
  }

  // A value of an outer graph, where this graph is one of a control-flow node, is an unusable input.
  ValueId use(const OrtValueInfo* value) {
    if (!value || name_of(*value).empty()) return kNoValue;
    if (const auto found = ids_.find(name_of(*value)); found != ids_.end()) return found->second;
    const ValueId id = define(*value);
    if (unusable_[id].empty()) unusable_[id] = "belongs to an outer graph";
    return id;
  }

  std::string free_name(std::string name) {
    while (!names_.insert(name).second) name += "'";
    return name;
  }

  void read_node(const OrtNode& runtime_node) {
    const std::string type = onnx::operator_type(get<const char*>(api().Node_GetDomain, &runtime_node),
                                                 get<const char*>(api().Node_GetOperatorType, &runtime_node));
    Node node;
    std::string refusal;
    for (const OrtValueInfo* value :
         list<const OrtValueInfo*>(api().Node_GetNumInputs, api().Node_GetInputs, &runtime_node))
      note(refusal, node.inputs.emplace_back(use(value)));
    while (!node.inputs.empty() && node.inputs.back() == kNoValue) node.inputs.pop_back();
    // Its graphs read these. The node has no operator, so nothing takes them for inputs of one.
    for (const OrtValueInfo* value : list<const OrtValueInfo*>(api().Node_GetNumImplicitInputs,
                                                               api().Node_GetImplicitInputs, &runtime_node))
      node.inputs.push_back(use(value));
    std::string first_output;
    for (const OrtValueInfo* value :
         list<const OrtValueInfo*>(api().Node_GetNumOutputs, api().Node_GetOutputs, &runtime_node)) {
      const bool present = value && !name_of(*value).empty();
      note(refusal, node.outputs.emplace_back(present ? define(*value) : kNoValue));
      if (present && first_output.empty()) first_output = name_of(*value);
    }
    while (!node.outputs.empty() && node.outputs.back() == kNoValue) node.outputs.pop_back();
    std::string name = get<const char*>(api().Node_GetName, &runtime_node);
    node.name = free_name(name.empty() ? first_output : name);
    if (!node.outputs.empty() && node.outputs[0] == kNoValue) refusal = "its first output is left out";
    Attributes attributes;
    if (refusal.empty()) refusal = make(runtime_node, type, node, attributes);
    network_.graph.nodes.push_back(std::move(node));
    network_.refusals.push_back(std::move(refusal));
    network_.types.push_back(type);
    network_.record.push_back({type, opset_, std::move(attributes), {}});
  }

  void note(std::string& refusal, ValueId id) const {
    if (id != kNoValue && refusal.empty() && !unusable_[id].empty())
      refusal = quoted_name(network_.graph.values[id].name) + " " + unusable_[id];
  }

  // Makes the operator, or returns why not.
  std::string make(const OrtNode& runtime_node, const std::string& type, Node& node, Attributes& attributes) {
    if (get<size_t>(api().Node_GetNumSubgraphs, &runtime_node) > 0)
      return "operators that run graphs of their own stay with the runtime";
    if (!find_operator(type)) return "Vellum has no such operator";
    try {
      attributes = read_attributes(runtime_node);
      node.op = make_operator(spec_of(type, node.name, opset_, attributes, node.inputs, node.outputs.size()));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::out_of_memory) throw;
      return error.what();
    }
    return {};
  }

  const OrtGraph& runtime_graph_;
  const Constants constants_;
  const int opset_;
  Network network_;
  std::unordered_map<std::string, ValueId> ids_;
  std::unordered_set<std::string> names_;
  std::vector<std::string> unusable_;  // per value: why no node may read or compute it, else empty
};

}  // namespace

Network read_network(const OrtGraph& graph, Constants constants) {
  return NetworkReader(graph, constants).read();
}

}  // namespace vellum::ort

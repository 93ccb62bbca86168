#include "graph/composed.hpp"
#include "graph/node_spec.hpp"
#include "passes/decompose/decomposition.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/inline_graph.hpp"

namespace vellum {
namespace {

constexpr int kOpset = 13;  // the operator set that add() takes names from

struct Row {
  std::string_view type;
  DecompositionRule rule;
};

constexpr Row kRules[] = {
    {"BatchNormalization", decompose_batch_norm},
    {"InstanceNormalization", decompose_instance_norm},
    {"LayerNormalization", decompose_layer_norm},
    {"RMSNormalization", decompose_layer_norm},
    {"GroupNormalization", decompose_group_norm},
    {"MeanVarianceNormalization", decompose_mean_variance_norm},
    {"LpNormalization", decompose_lp_norm},
    {"ReduceL1", decompose_reduce},
    {"ReduceL2", decompose_reduce},
    {"ReduceSumSquare", decompose_reduce},
    {"ReduceLogSum", decompose_reduce},
    {"Hardmax", decompose_hardmax},
    {"Dropout", decompose_dropout},
    {"MaxPool", decompose_choice_of_integers},
    {"ReduceMax", decompose_choice_of_integers},
    {"ReduceMin", decompose_choice_of_integers},
    {"DepthToSpace", decompose_choice_of_integers},
    {"SpaceToDepth", decompose_choice_of_integers},
    {"ArgMax", decompose_arg_extremum},
    {"ArgMin", decompose_arg_extremum},
    {"MaxUnpooling2D", decompose_max_unpooling},
    {"Cast", decompose_cast},
    {"DequantizeLinear", decompose_dequantize_linear},
    {"QLinearConv", decompose_qlinear_conv},
    {"QLinearMatMul", decompose_qlinear_matmul},
    {"Resize", decompose_resize},
    {"Upsample", decompose_resize},
    {"Einsum", decompose_einsum},
};

DecompositionRule rule_for(const Node& node) {
  for (const Row& row : kRules)
    if (row.type == node.op->type()) return row.rule;
  return nullptr;
}

// Puts the body of a composed operator in its place. Inputs that the body knows as constants are those of the
// node.
void inline_body(GraphEditor& editor, size_t index, const Composed& op) {
  const Node node = editor.node(index);
  const Body body = op.body(operator_inputs(editor.graph(), node));
  Graph graph = body.graph();
  for (Value& value : graph.values) value.name = node.name + "/" + op.onnx_type + " " + value.name;
  for (Node& inner : graph.nodes) inner.name = node.name;
  std::vector<ValueId> values(graph.values.size(), kNoValue);
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i] != kNoValue) values[body.input_values()[i]] = node.inputs[i];
  inline_graph(editor, index, graph, std::move(values));
}

}  // namespace

std::string Decomposition::base_name() const {
  std::string base = node_.name;
  for (const ValueId id : node_.outputs)
    if (base.empty() && id != kNoValue) base = editor_.graph().values[id].name;
  return base + "/" + std::string(node_.op->type());
}

ValueId Decomposition::add_constant(HostTensor tensor) {
  return editor_.add_constant(base_name(), std::move(tensor));
}

ValueId Decomposition::add_floats(DType dtype, Shape shape, std::vector<float> values) {
  return add_constant(HostTensor::from<float>(dtype, std::move(shape), values));
}

ValueId Decomposition::add_ints(std::vector<int64_t> values) {
  return add_constant(HostTensor::i64({static_cast<int64_t>(values.size())}, values));
}

ValueId Decomposition::add_value() { return editor_.add_value(base_name()); }

ValueId Decomposition::add(std::string_view type, std::vector<ValueId> inputs, AttributeList attributes) {
  const ValueId value = add_value();
  add_to({value}, type, std::move(inputs), attributes);
  return value;
}

ValueId Decomposition::add(std::shared_ptr<const Operator> op, std::vector<ValueId> inputs) {
  const ValueId value = add_value();
  add_to({value}, std::move(op), std::move(inputs));
  return value;
}

void Decomposition::add_to(std::vector<ValueId> outputs, std::string_view type, std::vector<ValueId> inputs,
                           AttributeList attributes) {
  Attributes operator_attributes;
  for (const auto& [name, value] : attributes) operator_attributes.set(name, value);
  const NodeSpec spec =
      spec_of(std::string(type), node_.name, kOpset, operator_attributes, inputs, outputs.size());
  add_to(std::move(outputs), make_operator(spec), std::move(inputs));
}

void Decomposition::add_to(std::vector<ValueId> outputs, std::shared_ptr<const Operator> op,
                           std::vector<ValueId> inputs) {
  editor_.insert_before(index_, {node_.name, std::move(op), std::move(inputs), std::move(outputs)});
}

void decompose(Graph& graph) {
  GraphEditor editor(graph);
  bool changed = false;
  for (const size_t index : editor.nodes()) {
    if (const auto op = std::dynamic_pointer_cast<const Composed>(editor.node(index).op)) {
      inline_body(editor, index, *op);  // its nodes are visited next
      changed = true;
      continue;
    }
    const DecompositionRule rule = rule_for(editor.node(index));
    if (!rule) continue;
    Decomposition decomposition(editor, index);
    if (!rule(decomposition)) continue;
    editor.remove(index);
    changed = true;
  }
  editor.commit();
  if (changed) infer_shapes_and_fold(graph, {});
}

}  // namespace vellum

#include "graph/operators/control/branch.hpp"

namespace vellum {

bool If::is_true(const HostTensor& condition) {
  if (condition.dtype() != DType::boolean || condition.elements() != 1) {
    refuse_model("the condition is " + to_string(condition.type()) + ", expected one bool");
  }
  return condition.as<uint8_t>()[0] != 0;
}

namespace {

// Returns the types that follow from those of the inputs. Throws Error if values decide them.
std::vector<TensorType> types_of_outputs(Graph branch, Inputs inputs) {
  const auto set = [&branch](ValueId id, const TensorType& type) {
    branch.values[id].type = type;
    branch.values[id].type_known = true;
  };
  for (size_t i = 0; i < branch.inputs.size(); ++i) set(branch.inputs[i], inputs[i].type);
  for (const Node& node : branch.nodes) {
    const std::vector<TensorType> types = infer(branch, node);
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != kNoValue) set(node.outputs[i], types[i]);
  }
  std::vector<TensorType> types;
  for (const ValueId id : branch.outputs) types.push_back(branch.values[id].type);
  return types;
}

}  // namespace

bool leave_open(std::vector<TensorType>& types, const std::vector<TensorType>& others) {
  if (types.size() != others.size()) return false;
  for (size_t i = 0; i < types.size(); ++i) {
    Shape& shape = types[i].shape;
    const Shape& other = others[i].shape;
    if (types[i].dtype != others[i].dtype || shape.size() != other.size()) return false;
    for (size_t d = 0; d < shape.size(); ++d)
      if (shape[d] != other[d]) shape[d] = kUnknownDim;
  }
  return true;
}

// Shapes of an If with a known condition are never inferred: the chosen graph has replaced it.
std::vector<TensorType> If::infer(Inputs) const {
  refuse_unsupported("the condition is known only at run time; Vellum runs networks without such choices");
}

std::vector<TensorType> If::infer_open(Inputs inputs) const {
  std::vector<TensorType> types = types_of_outputs(then_branch, inputs.subspan(first_input(true)));
  return leave_open(types, types_of_outputs(else_branch, inputs.subspan(first_input(false))))
             ? types
             : std::vector<TensorType>();
}

std::vector<HostTensor> If::evaluate(HostInputs inputs) const {
  if (inputs.empty() || inputs[0] == nullptr) refuse_model("the condition is missing");
  const bool condition = is_true(*inputs[0]);
  const Graph& chosen = branch(condition);
  std::vector<HostTensor> arguments;
  for (size_t i = 0; i < chosen.inputs.size(); ++i) arguments.push_back(*inputs[first_input(condition) + i]);
  return vellum::evaluate(chosen, arguments);
}

}  // namespace vellum

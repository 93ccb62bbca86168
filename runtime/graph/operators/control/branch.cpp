#include "graph/operators/control/branch.hpp"

namespace vellum {

bool If::is_true(const HostTensor& condition) {
  if (condition.dtype() != DType::boolean || condition.elements() != 1) {
    refuse_model("the condition is " + to_string(condition.type()) + ", expected one bool");
  }
  return condition.as<uint8_t>()[0] != 0;
}

// Shapes of an If with a known condition are never inferred: the chosen graph has replaced it.
std::vector<TensorType> If::infer(Inputs) const {
  refuse_unsupported("the condition is known only at run time; Vellum runs networks without such choices");
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

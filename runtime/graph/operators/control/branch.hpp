// If: evaluates one of two graphs. https://onnx.ai/onnx/operators/onnx__If.html
#pragma once

#include "graph/operator_support.hpp"
#include "graph/operators/control/subgraphs.hpp"

namespace vellum {

// Makes the dimensions open in which some types differ from others; false if they differ in more.
bool leave_open(std::vector<TensorType>& types, const std::vector<TensorType>& others);

// Inputs: a boolean, the inputs of the first graph, the inputs of the second graph. Outputs: the outputs of
// the chosen graph. infer_shapes_and_fold() replaces an If whose condition is known by the chosen graph. Any
// other If runs on the host.
struct If : GraphOperator {
  Graph then_branch, else_branch;

  const Graph& branch(bool condition) const { return condition ? then_branch : else_branch; }
  // Returns the index of the first input of that branch.
  size_t first_input(bool condition) const { return condition ? 1 : 1 + then_branch.inputs.size(); }
  // Returns the value of a condition, which is a tensor of one boolean.
  static bool is_true(const HostTensor& condition);

  std::string_view type() const override { return "If"; }
  std::vector<const Graph*> graphs() const override { return {&then_branch, &else_branch}; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  // Dimensions in which the branches differ are open. Empty if the branches differ in more.
  std::vector<TensorType> infer_open(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
};

}  // namespace vellum

// The choice between two graphs. https://onnx.ai/onnx/operators/onnx__If.html
#pragma once

#include "graph/graph.hpp"
#include "graph/operator_support.hpp"

namespace vellum {

// Inputs: a boolean, then what the first graph takes, then what the second takes; their outputs are its
// outputs. It runs on the host; infer_shapes_and_fold() puts the chosen graph in its place.
struct If : Operator {
  Graph then_branch, else_branch;

  const Graph& branch(bool condition) const { return condition ? then_branch : else_branch; }
  // Where the inputs of that branch begin.
  size_t first_input(bool condition) const { return condition ? 1 : 1 + then_branch.inputs.size(); }
  // The value of a condition, a tensor of one boolean.
  static bool is_true(const HostTensor& condition);

  std::string_view type() const override { return "If"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
};

}  // namespace vellum

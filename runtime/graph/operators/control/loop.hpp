// Loop: evaluates a graph again and again. https://onnx.ai/onnx/operators/onnx__Loop.html
#pragma once

#include "graph/operator_support.hpp"
#include "graph/operators/control/subgraphs.hpp"

namespace vellum {

// Inputs: the number of iterations, a boolean, the states, what the body reads from outside, and the elements
// of the stacked outputs that `finished` iterations before this node have computed, those of one iteration
// after those of another. Outputs: the last states and the stacked outputs.
//
// infer_shapes_and_fold() puts the iterations in the place of a Loop whose number of iterations and condition
// are known; one that remains runs on the host. Scan is read as a Loop.
struct LoopOperator : GraphOperator {
  // Inputs: the number of the iteration, the condition, the states, values from outside. Outputs: the
  // condition, the states, an element of each stacked output.
  Graph body;
  size_t states = 0;
  int64_t finished = 0;
  struct Stack {
    int64_t axis = 0;       // of the output, along which its elements are
    bool reversed = false;  // the element of the last iteration is first
  };
  std::vector<Stack> stacks;

  // The index of the node's first input that the body does not have.
  size_t first_element() const { return body.inputs.size(); }
  // The shape of the iteration's number, one integer, as the body declares it.
  Shape iteration_shape() const;
  // Throws Error(corrupt_model) unless the node's inputs and outputs, and the body's, are as many as they
  // have to be.
  void check_counts(size_t inputs, size_t outputs) const;
  static int64_t iterations(const HostTensor& count);

  std::string_view type() const override { return "Loop"; }
  std::vector<const Graph*> graphs() const override { return {&body}; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
};

}  // namespace vellum

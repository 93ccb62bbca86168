// Loop: evaluates a graph repeatedly. https://onnx.ai/onnx/operators/onnx__Loop.html
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "graph/operator_support.hpp"
#include "graph/operators/control/subgraphs.hpp"

namespace vellum {

// Inputs: the number of iterations, the condition, the states, the values from outside that the body reads,
// and the elements of the stacked outputs that `finished` earlier iterations have computed, iteration by
// iteration. Outputs: the last states and the stacked outputs.
//
// infer_shapes_and_fold() unrolls a Loop whose number of iterations and condition are known. Any other Loop
// runs on the host. Scan is read as a Loop.
struct LoopOperator : GraphOperator {
  // Inputs: the number of the iteration, the condition, the states, values from outside. Outputs: the
  // condition, the states, an element of each stacked output.
  Graph body;
  size_t states = 0;
  int64_t finished = 0;
  struct Stack {
    int64_t axis = 0;       // the output's axis along which the elements are stacked
    bool reversed = false;  // true: the element of the last iteration is first
  };
  std::vector<Stack> stacks;

  // Returns the index of the node's first input that the body does not have.
  size_t first_element() const { return body.inputs.size(); }
  // Returns the shape of the iteration number, a single integer, as the body declares it.
  Shape iteration_shape() const;
  // Throws Error(corrupt_model) if the number of inputs or outputs, of the node or of the body, is wrong.
  void check_counts(size_t inputs, size_t outputs) const;
  static int64_t iterations(const HostTensor& count);

  std::string_view type() const override { return "Loop"; }
  std::vector<const Graph*> graphs() const override { return {&body}; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  // Evaluates the Loop, with `run` in place of vellum::evaluate() for each iteration.
  using RunBody =
      std::function<std::vector<HostTensor>(const Graph& body, std::span<const HostTensor> inputs)>;
  std::vector<HostTensor> evaluate_with(HostInputs inputs, const RunBody& run) const;
};

}  // namespace vellum

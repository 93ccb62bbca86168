// An operator that stands for several nodes, which one kernel computes (kernels/fused/).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.hpp"
#include "graph/operator_support.hpp"
#include "graph/operators/fused/fused_kernels.hpp"

namespace vellum {

// It has the inputs and outputs of `body`; constants are inputs, too. An optional input that the node omits
// is omitted in the body's nodes. Not an ONNX operator: fuse() makes it.
struct FusedNodes : Operator {
  FusedKernelId kernel = {};
  // The nodes, in execution order. The types of values are unknown: they follow from the types of the inputs.
  Graph body;

  // These functions build the body. add_inputs() appends inputs, add_node() appends a node and returns its
  // only output, add_output() appends an output.
  explicit FusedNodes(FusedKernelId id) : kernel(id) {}
  std::vector<ValueId> add_inputs(size_t count);
  ValueId add_node(std::string name, std::shared_ptr<const Operator> op, std::vector<ValueId> inputs);
  void add_output(ValueId value) { body.outputs.push_back(value); }

  // Returns the operator of a node of the body.
  template <typename Op>
  const Op& op(size_t node) const {
    return dynamic_cast<const Op&>(*body.nodes.at(node).op);
  }
  // Return the inputs of a node of the body, the type of its first output, and its multiply-accumulates.
  // `inputs`: the inputs of this operator.
  std::vector<OperatorInput> inputs_of(size_t node, Inputs inputs) const;
  TensorType output_of(size_t node, Inputs inputs) const;
  uint64_t macs_of(size_t node, Inputs inputs) const;

  std::string_view type() const override;
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t macs(Inputs inputs) const override;
  // Returns "nodes=Conv depthwise, Conv pointwise", and the attributes of each node with the node's name as
  // prefix: "depthwise_group=8".
  Attributes attributes() const override;

 private:
  // Returns the type, and the constant if it is known, of each value of the body.
  std::vector<OperatorInput> values(Inputs inputs) const;
};

// Returns the operator of a node if it is FusedNodes of this kernel, else null.
const FusedNodes* as_fused(const Node& node, FusedKernelId kernel);

}  // namespace vellum

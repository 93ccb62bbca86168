// Several nodes that one kernel computes (kernels/fused/).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.hpp"
#include "graph/operator_support.hpp"
#include "graph/operators/fused/fused_kernels.hpp"

namespace vellum {

// Inputs and outputs are those of `body`, one for one; constants are inputs too. An input that the node
// leaves out is left out of the body's nodes. Not an ONNX operator: fuse() makes it.
struct FusedNodes : Operator {
  FusedKernelId kernel = {};
  // The nodes, in execution order. Types of its values are unknown: they follow from those of the inputs.
  Graph body;

  // Building: the next inputs of the node; a node of the body and its only output; the next output.
  explicit FusedNodes(FusedKernelId id) : kernel(id) {}
  std::vector<ValueId> add_inputs(size_t count);
  ValueId add_node(std::string name, std::shared_ptr<const Operator> op, std::vector<ValueId> inputs);
  void add_output(ValueId value) { body.outputs.push_back(value); }

  // The operator of a node of the body.
  template <typename Op>
  const Op& op(size_t node) const {
    return dynamic_cast<const Op&>(*body.nodes.at(node).op);
  }
  // The inputs of a node of the body, where those of this operator are `inputs`.
  std::vector<OperatorInput> inputs_of(size_t node, Inputs inputs) const;
  // The type of its first output.
  TensorType output_of(size_t node, Inputs inputs) const;
  uint64_t macs_of(size_t node, Inputs inputs) const;

  std::string_view type() const override;
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t macs(Inputs inputs) const override;
  // "nodes=Conv depthwise, Conv pointwise", and the attributes of each under its name: "depthwise_group=8".
  Attributes attributes() const override;

 private:
  // By value of the body.
  std::vector<OperatorInput> values(Inputs inputs) const;
};

// The operator of a node, where it is FusedNodes of that kernel; else null.
const FusedNodes* as_fused(const Node& node, FusedKernelId kernel);

}  // namespace vellum

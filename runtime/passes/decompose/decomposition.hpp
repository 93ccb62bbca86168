// How one operator is spelt out in others: what the rules of passes/decompose write with.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.hpp"
#include "passes/rewrite/unique_names.hpp"

namespace vellum {

// The nodes that take the place of one. Shapes of new values are inferred once all nodes are spelt out.
class Decomposition {
 public:
  // `names`: for all nodes of the graph.
  Decomposition(Graph& graph, const Node& node, UniqueNames& names)
      : graph_(graph), node_(node), names_(names) {}

  const Node& node() const { return node_; }
  template <typename Op>
  const Op& op() const {
    return dynamic_cast<const Op&>(*node_.op);
  }
  bool has_input(size_t i) const { return i < node_.inputs.size() && node_.inputs[i] != kNoValue; }
  bool has_output(size_t i) const { return i < node_.outputs.size() && node_.outputs[i] != kNoValue; }
  ValueId input(size_t i) const { return node_.inputs.at(i); }
  ValueId output(size_t i) const { return node_.outputs.at(i); }
  // By value: the list of values grows with every node that is written.
  TensorType input_type(size_t i) const { return graph_.values[input(i)].type; }
  TensorType output_type(size_t i = 0) const { return graph_.values[output(i)].type; }
  // Until the next node is written.
  const HostTensor* constant(size_t i) const { return has_input(i) ? graph_.constant(input(i)) : nullptr; }

  using AttributeList = std::initializer_list<std::pair<const char*, Attributes::Value>>;

  ValueId add_constant(HostTensor tensor);
  ValueId add_floats(DType dtype, Shape shape, std::vector<float> values);
  ValueId add_ints(std::vector<int64_t> values);  // a vector
  // A new node and its only output; `type` as in ONNX's operator set 13.
  ValueId add(std::string_view type, std::vector<ValueId> inputs, AttributeList attributes = {});
  ValueId add(std::shared_ptr<const Operator> op, std::vector<ValueId> inputs);
  // A new node that writes `outputs`, which may be outputs of the node that is spelt out.
  void add_to(std::vector<ValueId> outputs, std::string_view type, std::vector<ValueId> inputs,
              AttributeList attributes = {});
  void add_to(std::vector<ValueId> outputs, std::shared_ptr<const Operator> op, std::vector<ValueId> inputs);
  ValueId new_value();

  std::vector<Node> take_nodes() { return std::move(nodes_); }

 private:
  std::string new_name();

  Graph& graph_;
  const Node& node_;
  UniqueNames& names_;
  std::vector<Node> nodes_;
};

// A rule writes the nodes and returns true, or does nothing and returns false where the node is better left
// as it is.
using DecompositionRule = bool (*)(Decomposition& d);

// passes/decompose_norm.cpp
bool decompose_batch_norm(Decomposition& d);
bool decompose_instance_norm(Decomposition& d);
bool decompose_layer_norm(Decomposition& d);
bool decompose_group_norm(Decomposition& d);
bool decompose_mean_variance_norm(Decomposition& d);
bool decompose_lp_norm(Decomposition& d);
// passes/decompose_select.cpp
bool decompose_hardmax(Decomposition& d);
bool decompose_dropout(Decomposition& d);
bool decompose_pool(Decomposition& d);
bool decompose_max_unpooling(Decomposition& d);
// passes/decompose_quantised.cpp
bool decompose_dynamic_quantize(Decomposition& d);
bool decompose_qlinear_conv(Decomposition& d);
bool decompose_qlinear_matmul(Decomposition& d);
// passes/decompose_einsum.cpp
bool decompose_einsum(Decomposition& d);

}  // namespace vellum

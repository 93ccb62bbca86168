// Helpers with which the rules in passes/decompose replace one operator by others.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Adds the nodes that replace node `index`. The types of new values are inferred after all nodes are
// decomposed.
class Decomposition {
 public:
  Decomposition(GraphEditor& editor, size_t index)
      : editor_(editor), index_(index), node_(editor.node(index)) {}

  const Node& node() const { return node_; }
  template <typename Op>
  const Op& op() const {
    return dynamic_cast<const Op&>(*node_.op);
  }
  bool has_input(size_t i) const { return i < node_.inputs.size() && node_.inputs[i] != kNoValue; }
  bool has_output(size_t i) const { return i < node_.outputs.size() && node_.outputs[i] != kNoValue; }
  ValueId input(size_t i) const { return node_.inputs.at(i); }
  ValueId output(size_t i) const { return node_.outputs.at(i); }
  // These return copies, because references would be invalidated by the next node that is added.
  TensorType input_type(size_t i) const { return editor_.type(input(i)); }
  TensorType output_type(size_t i = 0) const { return editor_.type(output(i)); }
  // Returns the inputs as a shape rule sees them. Valid until the next node or value is added, like
  // constant().
  std::vector<OperatorInput> inputs() const { return operator_inputs(editor_.graph(), node_); }
  // Valid until the next node or value is added.
  const HostTensor* constant(size_t i) const { return has_input(i) ? editor_.constant(input(i)) : nullptr; }

  using AttributeList = std::initializer_list<std::pair<const char*, Attributes::Value>>;

  ValueId add_constant(HostTensor tensor);
  ValueId add_floats(DType dtype, Shape shape, std::vector<float> values);
  ValueId add_ints(std::vector<int64_t> values);  // of rank 1
  ValueId add_value();
  // Add a node and return its only output. `type`: the operator's name in ONNX operator set 13.
  ValueId add(std::string_view type, std::vector<ValueId> inputs, AttributeList attributes = {});
  ValueId add(std::shared_ptr<const Operator> op, std::vector<ValueId> inputs);
  // Add a node that computes `outputs`, which may be outputs of the decomposed node.
  void add_to(std::vector<ValueId> outputs, std::string_view type, std::vector<ValueId> inputs,
              AttributeList attributes = {});
  void add_to(std::vector<ValueId> outputs, std::shared_ptr<const Operator> op, std::vector<ValueId> inputs);

 private:
  std::string base_name() const;

  GraphEditor& editor_;
  size_t index_;
  Node node_;  // a copy: the list of nodes grows
};

// A rule adds nodes that compute all outputs of the node and returns true, or adds nothing and returns false.
using DecompositionRule = bool (*)(Decomposition& d);

// decompose_norm.cpp
bool decompose_batch_norm(Decomposition& d);
bool decompose_instance_norm(Decomposition& d);
bool decompose_layer_norm(Decomposition& d);
bool decompose_group_norm(Decomposition& d);
bool decompose_mean_variance_norm(Decomposition& d);
bool decompose_lp_norm(Decomposition& d);
// decompose_reduce.cpp
bool decompose_reduce(Decomposition& d);
// decompose_select.cpp
bool decompose_hardmax(Decomposition& d);
bool decompose_dropout(Decomposition& d);
bool decompose_max_unpooling(Decomposition& d);
// decompose_quantised.cpp
bool decompose_cast(Decomposition& d);
bool decompose_dequantize_linear(Decomposition& d);
bool decompose_qlinear_conv(Decomposition& d);
bool decompose_qlinear_matmul(Decomposition& d);
// decompose_integers.cpp
bool decompose_choice_of_integers(Decomposition& d);
bool decompose_arg_extremum(Decomposition& d);
bool decompose_resize_of_integers(Decomposition& d);
// decompose_resize.cpp
bool decompose_resize(Decomposition& d);
// decompose_einsum.cpp
bool decompose_einsum(Decomposition& d);

}  // namespace vellum

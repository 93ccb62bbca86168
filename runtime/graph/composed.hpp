// Operators that are defined by a graph of other operators, their body. The body gives the shape rule and the
// host reference. passes/decompose replaces the operator by its body.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.hpp"
#include "graph/operator_support.hpp"

namespace vellum {

// Builds the body of an operator for inputs of known types. The type of each value is known when the value is
// added.
class Body {
 public:
  using AttributeList = std::initializer_list<std::pair<const char*, Attributes::Value>>;

  // Inputs whose values are known become constants of the body.
  explicit Body(Inputs inputs);

  size_t input_count() const { return inputs_.size(); }
  bool has_input(size_t i) const { return i < inputs_.size() && inputs_[i] != kNoValue; }
  // Throws Error(corrupt_model) for an omitted input. `what`: ONNX's name of the input.
  ValueId input(size_t i, std::string_view what) const;
  ValueId optional_input(size_t i) const { return has_input(i) ? inputs_[i] : kNoValue; }
  // Returns the inputs in the form that shape rules take, for constant_ints() and similar functions.
  Inputs rule_inputs() const { return rule_inputs_; }
  // These return copies, because references would be invalidated by the next value.
  TensorType type(ValueId value) const { return graph_.values[value].type; }
  Shape shape(ValueId value) const { return graph_.values[value].type.shape; }

  ValueId constant(HostTensor tensor);
  // Returns the number of elements of a table of the body. Throws Error(unsupported) for more than 2^26,
  // because a file may ask for windows and tables of any size.
  static size_t table_size(const Shape& shape);
  ValueId scalar(DType dtype, double value);
  ValueId ints(const Ints& values);  // of rank 1

  // Adds a node and returns its only output. `type`: the operator's ONNX name.
  ValueId add(std::string_view type, std::vector<ValueId> inputs, AttributeList attributes = {});
  ValueId add(std::shared_ptr<const Operator> op, std::vector<ValueId> inputs);
  std::vector<ValueId> add_several(std::shared_ptr<const Operator> op, std::vector<ValueId> inputs,
                                   size_t outputs);
  std::vector<ValueId> add_several(std::string_view type, std::vector<ValueId> inputs, size_t outputs,
                                   AttributeList attributes = {});
  ValueId reshape(ValueId value, const Shape& shape);
  ValueId transpose(ValueId value, const Ints& order);
  // Adds a Slice of the elements [begin, end) along an axis, or every step-th of them.
  ValueId slice(ValueId value, int64_t axis, int64_t begin, int64_t end, int64_t step = 1);
  ValueId cast(ValueId value, DType dtype);

  // Appends an output of the operator.
  void output(ValueId value) { graph_.outputs.push_back(value); }

  // Returns the finished graph. Its inputs are the operator's inputs that are present and whose values are
  // not known.
  const Graph& graph() const { return graph_; }
  // Returns for each input of the operator its value in graph(); kNoValue for an omitted input.
  const std::vector<ValueId>& input_values() const { return inputs_; }

 private:
  Graph graph_;
  std::vector<OperatorInput> rule_inputs_;
  std::vector<ValueId> inputs_;
};

// An operator with a body. Makers return it through composed().
struct Composed : Operator {
  // Called for each combination of input types, so it must not read attributes.
  using Compose = std::function<void(Body& body)>;

  Composed(const NodeSpec& spec, Compose how);

  std::string onnx_type;
  Attributes onnx_attributes;
  Compose compose;

  Body body(Inputs inputs) const;

  std::string_view type() const override { return onnx_type; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t work(Inputs inputs, Outputs outputs) const override;
  uint64_t macs(Inputs inputs) const override;
  Attributes attributes() const override { return onnx_attributes; }
};

// Makes the operator of `spec` with this body.
std::shared_ptr<const Operator> composed(const NodeSpec& spec, Composed::Compose compose);

}  // namespace vellum

// The interface of an operator: typed attributes (its fields), a shape rule and a host reference.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/attributes.hpp"
#include "graph/operators/elementwise/activation.hpp"
#include "graph/tensor.hpp"

namespace vellum {

// An input in the form that shape rules take.
struct OperatorInput {
  bool present = false;  // false for an omitted optional input
  TensorType type;
  const HostTensor* constant = nullptr;  // the value if it is known before running, else null
};

class Operator {
 public:
  virtual ~Operator() = default;

  virtual std::string_view type() const = 0;  // ONNX's name: "Conv"

  // The shape rule: returns the types of the outputs. Throws Error, which names the input and the fault (the
  // caller adds the node's name).
  virtual std::vector<TensorType> infer(std::span<const OperatorInput> inputs) const = 0;

  // The shape rule for data-dependent shapes. If shapes of the outputs depend on values that are not known
  // before running, returns the types with kUnknownDim for each data-dependent dimension. Otherwise returns
  // an empty vector, and infer() is called.
  virtual std::vector<TensorType> infer_open(std::span<const OperatorInput> inputs) const {
    (void)inputs;
    return {};
  }

  // The host reference, in plain loops: constant folder, test oracle and fallback. `inputs` has nullptr for
  // an omitted optional input. The results have the types that infer() returns.
  virtual std::vector<HostTensor> evaluate(std::span<const HostTensor* const> inputs) const = 0;

  // Returns whether the output depends only on the types of the inputs, as for Shape. Then evaluate_types()
  // computes it.
  virtual bool reads_types_only() const { return false; }
  virtual HostTensor evaluate_types(std::span<const OperatorInput> inputs) const {
    (void)inputs;
    return {};
  }

  // Estimates the elementary operations of evaluate(), about a nanosecond each. Outputs with data-dependent
  // shapes may have unknown types.
  virtual uint64_t work(std::span<const OperatorInput> inputs, std::span<const TensorType> outputs) const;

  // Returns the multiply-accumulates of one evaluation; 0 for operators that have none.
  virtual uint64_t macs(std::span<const OperatorInput> inputs) const {
    (void)inputs;
    return 0;
  }

  // Returns the same operator with `activation` applied to its (only) output; nullptr if it cannot apply one.
  virtual std::shared_ptr<const Operator> with_activation(const Activation& activation) const {
    (void)activation;
    return nullptr;
  }

  // Returns the attributes, for printing.
  virtual Attributes attributes() const { return {}; }
};

// A node as a model file describes it, in a form independent of the file format. `opset`: the version of the
// ONNX operator set that defines the attributes.
struct NodeSpec {
  std::string type;
  std::string name;
  int opset = 0;
  const Attributes* attributes = nullptr;
  std::vector<bool> input_present;
  size_t output_count = 1;

  bool has_input(size_t i) const { return i < input_present.size() && input_present[i]; }
};

using MakeOperator = std::shared_ptr<const Operator> (*)(const NodeSpec& spec);

// Returns the maker of an ONNX operator type, from runtime/graph/operators.def; nullptr if Vellum does not
// know it.
MakeOperator find_operator(std::string_view type);
// Makes the operator. Throws Error(unsupported) for an unknown type or attribute.
std::shared_ptr<const Operator> make_operator(const NodeSpec& spec);
// Returns the types of all rows of operators.def.
std::vector<std::string_view> operator_types();

}  // namespace vellum

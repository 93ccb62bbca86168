// What an operator is: typed attributes (its fields), a shape rule and a host reference.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/operators/activation.hpp"
#include "graph/attributes.hpp"
#include "graph/tensor.hpp"

namespace vellum {

// What a shape rule may look at. `constant` is set where the value is known before running.
struct OperatorInput {
  bool present = false;  // optional inputs may be left out
  TensorType type;
  const HostTensor* constant = nullptr;
};

class Operator {
 public:
  virtual ~Operator() = default;

  virtual std::string_view type() const = 0;  // ONNX's name: "Conv"

  // Types of the outputs. Throws Error naming what is wrong with which input (the caller adds the node's
  // name).
  virtual std::vector<TensorType> infer(std::span<const OperatorInput> inputs) const = 0;

  // Where shapes of the outputs follow from values of inputs that are not known before running: the types,
  // with kUnknownDim for what only a run tells. Empty where infer() can say all, which it is not asked for
  // otherwise.
  virtual std::vector<TensorType> infer_open(std::span<const OperatorInput> inputs) const {
    (void)inputs;
    return {};
  }

  // The host reference, in plain loops: constant folder, test oracle and fallback. `inputs` holds nullptr for
  // an absent optional input. Results have the types that infer() gave.
  virtual std::vector<HostTensor> evaluate(std::span<const HostTensor* const> inputs) const = 0;

  // Multiply-accumulates of one evaluation; 0 where the notion does not fit.
  virtual uint64_t macs(std::span<const OperatorInput> inputs) const {
    (void)inputs;
    return 0;
  }

  // The same operator applying `activation` to its (only) output, or nullptr where it cannot.
  virtual std::shared_ptr<const Operator> with_activation(const Activation& activation) const {
    (void)activation;
    return nullptr;
  }

  // The attributes, for printing.
  virtual Attributes attributes() const { return {}; }
};

// A node as a model file describes it, free of the file format. `opset` is the ONNX operator set version
// whose meaning the attributes have.
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

// The maker of an ONNX operator type, or nullptr where Vellum does not know it. Reads
// runtime/graph/operators.def.
MakeOperator find_operator(std::string_view type);
// Makes the operator and checks that every attribute was understood; throws Error(unsupported) otherwise.
std::shared_ptr<const Operator> make_operator(const NodeSpec& spec);
std::vector<std::string_view> operator_types();

}  // namespace vellum

// A graph of one operator with inputs, small enough for the host to compute it in no noticeable time.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.hpp"
#include "graph/operator.hpp"

namespace vellum {

// The magnitude by which an element's error is divided: the largest magnitude of the output (for sums of many
// products), or the magnitude of the element itself. It is divided by 1 if that magnitude is smaller.
enum class ErrorScale : uint8_t { output, element };

struct SmallOperator {
  std::string name;
  Graph graph;  // of one node, or of two if the kernel of the first depends on the second
  std::vector<HostTensor> inputs;
  ErrorScale error_scale = ErrorScale::output;
};

namespace selfcheck {

// An input of an operator: a tensor of the network, or a constant.
struct Operand {
  HostTensor tensor;
  bool constant = false;
};

// Random tensors of the network and random constants. computed(), weights(): elements in [-1, 1].
Operand computed(Shape shape, uint32_t seed = 1);
Operand weights(Shape shape, uint32_t seed = 2);  // a constant
Operand number(float value);                      // a constant
// Elements in [0.25, 1.25].
Operand positive(Shape shape, uint32_t seed = 1);
// Multiples of 1/16, any 31 of which along an axis differ. Halves represent them exactly, so operators that
// compare or round them give the same results in every precision.
Operand steps(Shape shape);
// Elements in [-1, 1]; every fifth element is minus infinity, as in the masks of attention.
Operand masked(Shape shape, uint32_t seed = 1);
// Elements in [-1, 1]; every seventh element is `large` or -`large`, alternately.
Operand with_large(Shape shape, float large);
// Elements in [-1, 1]; some elements are NaN, some infinite.
Operand with_nan(Shape shape);
// Dividends and divisors of exact divisions: the divisors are integers from 1 to 50, and each dividend is a
// multiple of its divisor.
std::pair<Operand, Operand> multiples(const Shape& shape);
// Integers from -3 to 3.
Operand small_integers(const Shape& shape, int64_t seed = 1);
Operand integers(const std::vector<int64_t>& elements);  // a constant
Operand as_constant(Operand operand);

// Appends a node of ONNX's operator set 23 that writes `output`.
void append_node(Graph& graph, const std::string& type, std::vector<ValueId> inputs,
                 const Attributes& attributes, ValueId output);

// Rounds input i of the last node to bytes, integers from -128 to 127 times `step`.
void round_input(Graph& graph, size_t i, float step);

}  // namespace selfcheck

using AttributePairs = std::initializer_list<std::pair<const char*, Attributes::Value>>;

// Makes a graph of one node with operator `op`; operands that are constants become constants of the graph.
SmallOperator small_operator(std::string name, const std::string& type,
                             std::vector<selfcheck::Operand> operands, std::shared_ptr<const Operator> op);
// Makes the operator `type` of ONNX's operator set 23.
SmallOperator small_operator(std::string name, const std::string& type,
                             std::vector<selfcheck::Operand> operands, AttributePairs attributes = {});

}  // namespace vellum

#include "selfcheck/elementwise_cases.hpp"

#include <memory>
#include <utility>

#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/elementwise/unary.hpp"

namespace vellum {
namespace {

using namespace selfcheck;

SmallOperator by_element(SmallOperator made) {
  made.error_scale = ErrorScale::element;
  return made;
}

// Whole texels, but no whole slices, so that they can be in a buffer, in channels, and in rows of texels.
const Shape kElements{1, 10, 8, 7};

// A quotient that is rounded next, which has a kernel of its own.
SmallOperator rounded_quotient(const Operand& dividends, const Operand& divisors) {
  SmallOperator made = small_operator("Div, rounded", "Div", {dividends, divisors});
  Graph& graph = made.graph;
  const ValueId quotient = graph.outputs[0], rounded = graph.add_value("rounded");
  graph.values[rounded].type = graph.values[quotient].type;
  graph.values[rounded].type_known = true;
  append_node(graph, "Floor", {quotient}, {}, rounded);
  graph.outputs[0] = rounded;
  return made;
}

// A quotient that is rounded to even numbers. Odd quotients are ties.
SmallOperator quantised_quotient(const Operand& dividends, const Operand& divisors) {
  auto division = std::make_shared<Binary>();
  division->kind = BinaryKind::div;
  division->activation = {.step = 2, .least = -128, .most = 127};
  return small_operator("Div, quantised", "Div", {dividends, divisors}, std::move(division));
}

}  // namespace

void add_elementwise_operators(std::vector<SmallOperator>& list) {
  list.push_back(small_operator("Add", "Add", {computed(kElements), computed(kElements, 2)}));
  list.push_back(small_operator("Mul, broadcast", "Mul", {computed(kElements), computed({1, 10, 1, 1}, 2)}));
  list.push_back(small_operator("PRelu", "PRelu", {computed(kElements), weights({10, 1, 1})}));
  for (const char* type : {"Sub", "Max", "Min", "Div", "Pow"})
    list.push_back(small_operator(type, type, {positive(kElements), positive(kElements, 2)}));
  // The exponential of 100 is infinite in every precision, and no result but that of Exp is.
  for (const char* type : {"Relu", "Sigmoid", "HardSwish", "Gelu", "Exp", "LeakyRelu", "Tanh", "HardSigmoid",
                           "Silu", "Elu", "Softplus", "Mish", "Erf", "Abs", "Neg"})
    list.push_back(by_element(small_operator(type, type, {with_large(kElements, 100)})));
  for (const char* type : {"Sin", "Cos"})
    list.push_back(small_operator(type, type, {with_large(kElements, 10000)}));
  for (const char* type : {"IsNaN", "IsInf"})
    list.push_back(small_operator(type, type, {with_nan(kElements)}));
  const auto [dividends, divisors] = multiples(kElements);
  list.push_back(rounded_quotient(dividends, divisors));
  list.push_back(quantised_quotient(dividends, divisors));
  list.push_back(small_operator("Mod", "Mod", {dividends, divisors}, {{"fmod", int64_t{1}}}));
  for (const char* type : {"Sqrt", "Log", "Reciprocal"})
    list.push_back(small_operator(type, type, {positive(kElements)}));
  list.push_back(small_operator("Clip", "Clip", {computed(kElements), number(-0.5f), number(0.25f)}));
  list.push_back(small_operator("Cast", "Cast", {steps(kElements)}, {{"to", int64_t{7}}}));
  list.push_back(
      small_operator("Cast to unsigned integers", "Cast", {steps(kElements)}, {{"to", int64_t{12}}}));
  auto rounding = std::make_shared<Unary>();
  rounding->activation = {.step = 0.3f, .least = -1, .most = 5};
  auto away = std::make_shared<Unary>(*rounding);
  away->activation.ties_away = true;
  list.push_back(small_operator("FakeQuantize", "FakeQuantize", {steps(kElements)}, std::move(rounding)));
  list.push_back(
      small_operator("FakeQuantize, ties away", "FakeQuantize", {steps(kElements)}, std::move(away)));
}

void add_integer_operators(std::vector<SmallOperator>& list) {
  const Shape shape{3, 5, 7};
  for (const char* type : {"Equal", "Less", "Add", "Mul"})
    list.push_back(small_operator(std::string(type) + " of integers", type,
                                  {small_integers(shape), small_integers(shape, 2)}));
  list.push_back(small_operator("Equal", "Equal", {steps(kElements), number(0.5f)}));
  list.push_back(small_operator("Greater", "Greater", {steps(kElements), number(0.5f)}));
  list.push_back(small_operator("Abs of integers", "Abs", {small_integers(shape)}));
  list.push_back(
      small_operator("Cast of integers", "Cast", {small_integers(shape)}, {{"to", int64_t{1}}}));  // to fp32
  list.push_back(
      small_operator("Cast to bytes", "Cast", {small_integers(shape)}, {{"to", int64_t{2}}}));  // wraps
  list.push_back(small_operator("Cast to booleans", "Cast", {steps(shape)}, {{"to", int64_t{9}}}));
}

}  // namespace vellum

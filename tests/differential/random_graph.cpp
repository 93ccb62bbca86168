#include "differential/random_graph.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "differential/graph_maker.hpp"
#include "support/tensors.hpp"
#include "vellum/error.hpp"

namespace vellum::test {
namespace {

constexpr size_t kMostElements = 6000, kMostElementsOfLarge = 1 << 20;

}  // namespace

RandomGraph GraphMaker::make() {
  add_input(image_shape());
  if (chance(3)) add_input(chance(2) ? values_[0].type.shape : matrix_shape());
  const size_t nodes = is_large_ ? 2 + pick(3) : 3 + pick(8);
  for (size_t tries = 0; nodes_ < nodes && tries < 200; ++tries) add_node();
  if (nodes_ == 0) node("Relu", {0}, {}, Rounds::never);
  size_t outputs = 0;
  for (const Value& value : values_)
    if (!value.read && !value.constant && is_output_type(value) && value.name[0] != 'x')
      graph_.model.output(value.name), ++outputs;
  if (outputs == 0) graph_.model.output(values_.back().name);
  return std::move(graph_);
}

Shape GraphMaker::image_shape() {
  if (is_large_) return {1, between(1, 6), between(120, 320), between(120, 320)};
  return {chance(4) ? 2 : 1, between(1, 13), between(1, 9), between(1, 9)};
}

Shape GraphMaker::matrix_shape() {
  Shape shape(static_cast<size_t>(between(1, 3)));
  for (int64_t& dim : shape) dim = between(1, is_large_ ? 4 : 9);
  if (is_large_) shape[pick(shape.size())] = between(60'000, 140'000);
  return shape;
}

void GraphMaker::add_input(const Shape& shape) {
  const std::string name = "x" + std::to_string(values_.size());
  graph_.model.input(name, shape);
  values_.push_back({name, {DType::f32, shape}, {}, true, false});
}

size_t GraphMaker::constant(HostTensor tensor) {
  const std::string name = "c" + std::to_string(values_.size());
  graph_.model.initializer(name, tensor);
  const TensorType type = tensor.type();
  values_.push_back({name, type, std::move(tensor), true, false});
  return values_.size() - 1;
}

size_t GraphMaker::floats(const Shape& shape, float low, float high) {
  return constant(random_tensor(shape, static_cast<uint32_t>(random_()), low, high));
}

size_t GraphMaker::integers(const Ints& numbers) {
  return constant(HostTensor::i64({static_cast<int64_t>(numbers.size())}, numbers));
}

std::optional<size_t> GraphMaker::any(std::optional<size_t> rank) {
  for (int tries = 0; tries < 20; ++tries) {
    const size_t at = values_.size() - 1 - std::min(pick(values_.size()), pick(values_.size()));
    const Value& value = values_[at];
    if (!value.constant && value.type.dtype == DType::f32 && !value.type.shape.empty() &&
        (!rank || value.type.shape.size() == *rank))
      return at;
  }
  return std::nullopt;
}

bool GraphMaker::node(const std::string& type, const std::vector<size_t>& inputs,
                      const Attributes& attributes, Rounds rounds, size_t output_count) {
  std::vector<OperatorInput> operands;
  std::vector<std::string> names, outputs;
  bool exact = true;
  for (const size_t input : inputs) {
    const Value& value = values_[input];
    operands.push_back({true, value.type, value.constant ? &*value.constant : nullptr});
    names.push_back(value.name);
    exact = exact && value.exact;
  }
  if (rounds == Rounds::discontinuous && !exact) return false;
  std::vector<TensorType> types;
  try {
    const NodeSpec spec{type, "n", kOpset, &attributes, std::vector<bool>(inputs.size(), true), output_count};
    types = make_operator(spec)->infer(operands);
  } catch (const Error&) {
    return false;
  }
  for (const TensorType& output : types)
    if (element_count(output.shape) == 0 ||
        element_count(output.shape) > static_cast<int64_t>(is_large_ ? kMostElementsOfLarge : kMostElements))
      return false;
  graph_.discontinuous = graph_.discontinuous || rounds == Rounds::discontinuous;
  for (const size_t input : inputs) values_[input].read = true;
  for (const TensorType& output : types) {
    outputs.push_back("v" + std::to_string(values_.size()));
    values_.push_back({outputs.back(), output, {}, exact && rounds != Rounds::yes, false});
  }
  graph_.model.node(type, names, outputs, attributes, "n" + std::to_string(nodes_));
  ++nodes_;
  return true;
}

void GraphMaker::add_node() {
  using Family = void (GraphMaker::*)();
  static constexpr Family families[] = {&GraphMaker::unary,
                                        &GraphMaker::unary,
                                        &GraphMaker::clip,
                                        &GraphMaker::binary,
                                        &GraphMaker::binary,
                                        &GraphMaker::compare_and_choose,
                                        &GraphMaker::convolution,
                                        &GraphMaker::convolution,
                                        &GraphMaker::convolution,
                                        &GraphMaker::transposed_convolution,
                                        &GraphMaker::pool,
                                        &GraphMaker::resize,
                                        &GraphMaker::reduce,
                                        &GraphMaker::pick_largest,
                                        &GraphMaker::normalise,
                                        &GraphMaker::product,
                                        &GraphMaker::reshape,
                                        &GraphMaker::reshape,
                                        &GraphMaker::cut,
                                        &GraphMaker::cut,
                                        &GraphMaker::join,
                                        &GraphMaker::repeat,
                                        &GraphMaker::move_between_space_and_depth,
                                        &GraphMaker::accumulate};
  (this->*families[pick(std::size(families))])();
}

RandomGraph random_graph(uint32_t seed, Axes axes) { return GraphMaker(seed, axes).make(); }

}  // namespace vellum::test

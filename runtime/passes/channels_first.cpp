#include "passes/channels_first.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "graph/binary.hpp"
#include "graph/cast.hpp"
#include "graph/concat.hpp"
#include "graph/operator_support.hpp"
#include "graph/pad.hpp"
#include "graph/reduce.hpp"
#include "graph/select.hpp"
#include "graph/transpose.hpp"
#include "graph/unary.hpp"

namespace vellum {
namespace {

// Output dimension i is input dimension perm[i].
constexpr std::array<size_t, kImageRank> kToLast{0, 2, 3, 1}, kToFirst{0, 3, 1, 2};

using Order = std::array<size_t, kImageRank>;

bool is_transpose_by(const Node& node, const Order& order) {
  const auto* transpose = dynamic_cast<const Transpose*>(node.op.get());
  if (transpose == nullptr || !transpose->perm || transpose->perm->size() != kImageRank) return false;
  return std::ranges::equal(transpose->permutation(kImageRank), order);
}

std::shared_ptr<const Transpose> transpose_by(const Order& order) {
  auto transpose = std::make_shared<Transpose>();
  transpose->perm = Ints(order.begin(), order.end());
  return transpose;
}

template <typename... Ops>
bool is_any_of(const Operator& op) {
  return ((dynamic_cast<const Ops*>(&op) != nullptr) || ...);
}

bool is_elementwise(const Operator& op) {
  if (const auto* cast = dynamic_cast<const Cast*>(&op)) return cast->to.has_value();
  return is_any_of<Unary, Clip, Binary, Variadic, PRelu, Where, Shrink>(op);
}

// Every input is an image, or a constant that broadcasts to one.
bool inputs_turn(const Graph& graph, const Node& node, size_t count) {
  bool any_image = false;
  for (size_t slot = 0; slot < count; ++slot) {
    if (node.inputs[slot] == kNoValue) continue;
    const Value& value = graph.values[node.inputs[slot]];
    if (value.type.shape.size() > kImageRank) return false;
    if (value.constant) continue;
    if (value.type.shape.size() != kImageRank) return false;
    any_image = true;
  }
  return any_image;
}

std::shared_ptr<const Operator> turned_concat(const Concat& concat) {
  auto result = std::make_shared<Concat>(concat);
  result->axis = static_cast<int64_t>(kToLast[normalize_axis(concat.axis, kImageRank)]);
  return result;
}

// Its amounts as an attribute; nothing where they, or what it pads with, are not known as a float.
std::shared_ptr<const Operator> turned_pad(const Graph& graph, const Node& node, const Pad& pad) {
  const auto inputs = operator_inputs(graph, node);
  const DType dtype = inputs[0].type.dtype;
  const bool known = std::all_of(inputs.begin() + 1, inputs.end(),
                                 [](const OperatorInput& i) { return !i.present || i.constant != nullptr; });
  if (!known || (dtype != DType::f32 && dtype != DType::f16)) return nullptr;
  const PadAmounts amounts = pad.amounts(inputs);
  auto result = std::make_shared<Pad>();
  result->mode = pad.mode;
  result->value = pad.padding_value(inputs).to_floats().at(0);
  Ints pads;
  for (const Ints* side : {&amounts.begin, &amounts.end})
    for (const size_t axis : kToFirst) pads.push_back((*side)[axis]);
  result->pads = std::move(pads);
  return result;
}

// Its axes as an attribute.
std::shared_ptr<const Operator> turned_reduce(const Graph& graph, const Node& node, const Reduce& reduce) {
  const auto inputs = operator_inputs(graph, node);
  if (!reduce.keep_dims || (inputs.size() > 1 && inputs[1].present && inputs[1].constant == nullptr))
    return nullptr;
  Ints axes;
  for (const size_t axis : reduce.reduced_axes(inputs)) axes.push_back(static_cast<int64_t>(kToLast[axis]));
  if (axes.empty()) return nullptr;
  std::sort(axes.begin(), axes.end());
  auto result = std::make_shared<Reduce>(reduce);
  result->axes = std::move(axes);
  return result;
}

}  // namespace

bool is_to_channels_last(const Node& node) { return is_transpose_by(node, kToLast); }
bool is_to_channels_first(const Node& node) { return is_transpose_by(node, kToFirst); }
std::shared_ptr<const Operator> to_channels_last() { return transpose_by(kToLast); }
std::shared_ptr<const Operator> to_channels_first() { return transpose_by(kToFirst); }

Shape channels_first(const Shape& shape) {
  Shape result;
  for (const size_t axis : kToFirst) result.push_back(shape.at(axis));
  return result;
}

HostTensor channels_first(const HostTensor& constant) {
  if (constant.elements() == 1) return constant;
  Shape shape(kImageRank - constant.shape().size(), 1);
  shape.insert(shape.end(), constant.shape().begin(), constant.shape().end());
  const HostTensor image = constant.reshaped(shape);
  return transpose_by(kToFirst)->evaluate(std::array{&image})[0];
}

std::optional<TurnedOperator> turned(const Graph& graph, const Node& node) {
  const auto* pad = dynamic_cast<const Pad*>(node.op.get());
  const auto* reduce = dynamic_cast<const Reduce*>(node.op.get());
  const auto* concat = dynamic_cast<const Concat*>(node.op.get());
  const size_t inputs = pad != nullptr || reduce != nullptr ? 1 : node.inputs.size();
  if (node.outputs.size() != 1 || node.outputs[0] == kNoValue || node.inputs.empty() ||
      graph.values[node.outputs[0]].type.shape.size() != kImageRank || !inputs_turn(graph, node, inputs))
    return std::nullopt;
  std::shared_ptr<const Operator> op;
  if (pad != nullptr) op = turned_pad(graph, node, *pad);
  if (reduce != nullptr) op = turned_reduce(graph, node, *reduce);
  if (concat != nullptr) op = turned_concat(*concat);
  if (is_elementwise(*node.op)) op = node.op;
  return op ? std::optional(TurnedOperator{std::move(op), inputs}) : std::nullopt;
}

}  // namespace vellum

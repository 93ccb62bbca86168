#include "passes/layout/nchw_form.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "graph/operator_support.hpp"
#include "graph/operators/conv/conv.hpp"
#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/elementwise/cast.hpp"
#include "graph/operators/elementwise/select.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/pad.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "graph/operators/reduction/channel_norm.hpp"
#include "graph/operators/reduction/normalization.hpp"
#include "graph/operators/reduction/reduce.hpp"
#include "passes/rewrite/build.hpp"

namespace vellum {
namespace {

using Order = std::array<size_t, kImageRank>;

// Output dimension i is input dimension order[i]. So axis i of N, H, W, C is axis kToNhwc[i] of N, C, H, W.
constexpr Order kToNhwc{0, 2, 3, 1}, kToNchw{0, 3, 1, 2};

bool is_transpose_by(const Operator& op, const Order& order) {
  const auto* transpose = dynamic_cast<const Transpose*>(&op);
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

// Whether the first `count` inputs are images, or constants that broadcast to images, and one of them is an
// image.
bool are_images(const Graph& graph, const Node& node, size_t count) {
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

std::shared_ptr<const Operator> nchw_concat(const Concat& concat) {
  auto result = std::make_shared<Concat>(concat);
  result->axis = static_cast<int64_t>(kToNhwc[normalize_axis(concat.axis, kImageRank)]);
  return result;
}

// With its amounts as an attribute; nothing where they, or the value that it pads with, are not constant
// floats.
std::shared_ptr<const Operator> nchw_pad(const Graph& graph, const Node& node, const Pad& pad) {
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
    for (const size_t axis : kToNchw) pads.push_back((*side)[axis]);
  result->pads = std::move(pads);
  return result;
}

// With its axes as an attribute.
std::shared_ptr<const Operator> nchw_reduce(const Graph& graph, const Node& node, const Reduce& reduce) {
  const auto inputs = operator_inputs(graph, node);
  if (!reduce.keep_dims || (inputs.size() > 1 && inputs[1].present && inputs[1].constant == nullptr))
    return nullptr;
  Ints axes;
  for (const size_t axis : reduce.reduced_axes(inputs)) axes.push_back(static_cast<int64_t>(kToNhwc[axis]));
  if (axes.empty()) return nullptr;
  std::sort(axes.begin(), axes.end());
  auto result = std::make_shared<Reduce>(reduce);
  result->axes = std::move(axes);
  return result;
}

// Over channels, with constant scales and shifts.
std::optional<NchwForm> nchw_norm(const Graph& graph, const Node& node, const LayerNormalization& norm) {
  const Shape& shape = graph.values[node.outputs[0]].type.shape;
  if (normalize_axis(norm.axis, shape.size()) + 1 != shape.size()) return std::nullopt;
  auto op = std::make_shared<ChannelNormalization>();
  op->epsilon = norm.epsilon;
  op->centred = norm.centred;
  NchwForm result{std::move(op), 1};
  for (size_t slot = 1; slot < node.inputs.size(); ++slot) {
    if (node.inputs[slot] == kNoValue) continue;
    const HostTensor* factors = graph.constant(node.inputs[slot]);
    auto per_channel = factors ? expand_to_last_dimensions(*factors, {shape.back()}) : std::nullopt;
    if (!per_channel) return std::nullopt;
    result.parameters.push_back(std::move(*per_channel));
  }
  return result;
}

// A product with one constant matrix: a convolution with windows of one pixel.
std::optional<NchwForm> nchw_product(const Graph& graph, const Node& node) {
  const HostTensor* matrix = graph.constant(node.inputs[1]);
  if (matrix == nullptr || matrix->shape().size() != 2 || matrix->elements() == 0 ||
      !is_float(matrix->dtype()))
    return std::nullopt;
  const int64_t inputs = matrix->shape()[0], outputs = matrix->shape()[1];
  return NchwForm{
      std::make_shared<Conv>(), 1, {gather_strided(*matrix, {outputs, inputs, 1, 1}, {1, outputs, 0, 0}, 0)}};
}

}  // namespace

bool is_transpose_to_nhwc(const Operator& op) { return is_transpose_by(op, kToNhwc); }
bool is_transpose_to_nchw(const Operator& op) { return is_transpose_by(op, kToNchw); }
std::shared_ptr<const Operator> transpose_to_nhwc() { return transpose_by(kToNhwc); }
std::shared_ptr<const Operator> transpose_to_nchw() { return transpose_by(kToNchw); }

Shape to_nchw(const Shape& shape) {
  Shape result;
  for (const size_t axis : kToNchw) result.push_back(shape.at(axis));
  return result;
}

HostTensor to_nchw(const HostTensor& constant) {
  if (constant.elements() == 1) return constant;
  Shape shape(kImageRank - constant.shape().size(), 1);
  shape.insert(shape.end(), constant.shape().begin(), constant.shape().end());
  const HostTensor image = constant.reshaped(shape);
  return transpose_by(kToNchw)->evaluate(std::array{&image})[0];
}

std::optional<NchwForm> nchw_form(const Graph& graph, const Node& node) {
  const auto* pad = dynamic_cast<const Pad*>(node.op.get());
  const auto* reduce = dynamic_cast<const Reduce*>(node.op.get());
  const auto* concat = dynamic_cast<const Concat*>(node.op.get());
  const auto* norm = dynamic_cast<const LayerNormalization*>(node.op.get());
  const bool is_product = dynamic_cast<const MatMul*>(node.op.get()) != nullptr;
  const bool has_parameters = pad != nullptr || reduce != nullptr || norm != nullptr || is_product;
  const size_t images = has_parameters ? 1 : node.inputs.size();
  if (node.outputs.size() != 1 || node.outputs[0] == kNoValue || node.inputs.empty() ||
      graph.values[node.outputs[0]].type.shape.size() != kImageRank || !are_images(graph, node, images))
    return std::nullopt;
  if (norm != nullptr) return nchw_norm(graph, node, *norm);
  if (is_product) return nchw_product(graph, node);
  std::shared_ptr<const Operator> op;
  if (pad != nullptr) op = nchw_pad(graph, node, *pad);
  if (reduce != nullptr) op = nchw_reduce(graph, node, *reduce);
  if (concat != nullptr) op = nchw_concat(*concat);
  if (is_elementwise(*node.op)) op = node.op;
  return op ? std::optional(NchwForm{std::move(op), images}) : std::nullopt;
}

}  // namespace vellum

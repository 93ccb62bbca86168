#include "passes/tile/operator_images.hpp"

#include <algorithm>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/conv/conv_transpose.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/depth_to_space.hpp"
#include "graph/operators/movement/pad.hpp"
#include "graph/operators/movement/pick_channels.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/resize.hpp"
#include "graph/operators/movement/slice.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "graph/operators/reduction/channel_norm.hpp"
#include "graph/operators/reduction/normalization.hpp"
#include "graph/operators/reduction/pool.hpp"
#include "graph/operators/reduction/reduce.hpp"
#include "graph/operators/reduction/softmax.hpp"
#include "graph/operators/reduction/squeeze_excite.hpp"
#include "passes/tile/operator_access.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

bool is_batch(const Graph& graph, ValueId value, int64_t images) {
  const TensorType& type = graph.values[value].type;
  return is_float(type.dtype) && !type.shape.empty() && type.shape[0] == images &&
         element_count(type.shape) > 0;
}

// Those that join several inputs, each of which may be a batch.
bool has_equal_inputs(const Node& node) {
  return is_elementwise(node) || as<Concat>(node) || as<PickChannels>(node);
}

bool reads_images(const Graph& graph, const Node& node, size_t i) {
  if (node.inputs[i] == kNoValue) return false;
  if (as<Conv>(node)) return i == 0 || i == 3 || i == 4;
  if (as<Gemm>(node))  // a residual may be one row, which is added to all
    return i == 0 || (i == 3 && shape_of(graph, node.inputs[3])[0] == shape_of(graph, node.outputs[0])[0]);
  if (!has_equal_inputs(node) || as<BatchNormalization>(node)) return i == 0;
  const Shape &shape = shape_of(graph, node.inputs[i]), &result = shape_of(graph, node.outputs[0]);
  return shape.size() == result.size() && shape[0] == result[0];
}

bool leaves_images_in_order(const Graph& graph, const Node& node) {
  if (is_elementwise(node) || as<ConvTranspose>(node) || as<Conv>(node) || as<GlobalPool>(node) ||
      as<DepthToSpace>(node) || as<SpaceToDepth>(node) || as<PickChannels>(node) || as<SqueezeExcite>(node) ||
      as<InstanceNormalization>(node) || as<GroupNormalization>(node) || as<ChannelNormalization>(node) ||
      as<Resize>(node) || as<ReshapeFamily>(node))
    return true;
  const auto inputs = operator_inputs(graph, node);
  if (const auto* product = as<Gemm>(node)) return !product->transpose_a;
  if (const auto* product = as<MatMul>(node)) return !product->transpose_a && inputs[0].type.shape.size() > 1;
  if (const auto* pool = as<Pool>(node)) return !pool->with_indices;
  if (const auto* transpose = as<Transpose>(node))
    return transpose->permutation(shape_of(graph, node.inputs[0]).size())[0] == 0;
  if (const auto* slice = as<Slice>(node)) {
    const SliceRange range = slice->range(inputs);
    return range.starts[0] == 0 && range.steps[0] == 1;
  }
  if (const auto* pad = as<Pad>(node)) {
    const PadAmounts amounts = pad->amounts(inputs);
    return amounts.begin[0] == 0 && amounts.end[0] == 0;
  }
  if (const auto* split = as<Split>(node)) return axis_of(graph, node, split->axis) > 0;
  if (const auto* concat = as<Concat>(node)) return axis_of(graph, node, concat->axis) > 0;
  if (const auto* softmax = as<Softmax>(node)) return axis_of(graph, node, softmax->axis) > 0;
  if (const auto* norm = as<LayerNormalization>(node)) return axis_of(graph, node, norm->axis) > 0;
  if (const auto* reduce = as<Reduce>(node)) {
    const std::vector<size_t> axes = reduce->reduced_axes(inputs);
    return std::find(axes.begin(), axes.end(), 0u) == axes.end();
  }
  return false;
}

// Whether the operator for one image computes one image, and the same otherwise: a size of the whole batch
// may be a constant.
bool computes_one_image(const Graph& graph, const Node& node) {
  std::vector<OperatorInput> inputs = operator_inputs(graph, node);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (reads_images(graph, node, i)) inputs[i].type.shape[0] = 1;
  try {
    const std::vector<TensorType> types = operator_for_images(graph, node, 1)->infer(inputs);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      Shape wanted = shape_of(graph, node.outputs[i]);
      wanted[0] = 1;
      if (types.at(i).shape != wanted) return false;
    }
  } catch (const Error&) {
    return false;
  }
  return true;
}

}  // namespace

bool has_images(const Graph& graph, const Node& node) {
  if (node.inputs.empty() || node.inputs[0] == kNoValue || node.outputs[0] == kNoValue) return false;
  const Shape& result = shape_of(graph, node.outputs[0]);
  const int64_t images = result.empty() ? 0 : result[0];
  if (images < 2) return false;
  for (const ValueId output : node.outputs)
    if (output != kNoValue && !is_batch(graph, output, images)) return false;
  bool has_batch = false;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!reads_images(graph, node, i)) {
      const bool may_be_computed = is_elementwise(node) && !as<BatchNormalization>(node);
      if (node.inputs[i] != kNoValue && !graph.constant(node.inputs[i]) && !may_be_computed) return false;
      continue;
    }
    if (graph.constant(node.inputs[i]) || !is_batch(graph, node.inputs[i], images)) return false;
    has_batch = true;
  }
  return has_batch && leaves_images_in_order(graph, node) && computes_one_image(graph, node);
}

std::vector<RowsRead> images_read(const Graph& graph, const Node& node, const Rows& computed) {
  std::vector<RowsRead> reads(node.inputs.size());
  for (size_t i = 0; i < reads.size(); ++i)
    if (reads_images(graph, node, i)) reads[i] = {false, computed};
  return reads;
}

std::shared_ptr<const Operator> operator_for_images(const Graph& graph, const Node& node, int64_t count) {
  if (!as<Reshape>(node)) return node.op;
  auto reshape = std::make_shared<Reshape>();
  reshape->shape = shape_of(graph, node.outputs[0]);
  reshape->shape->front() = count;
  return reshape;
}

}  // namespace vellum

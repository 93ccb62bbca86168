#include "quantize/layers.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/conv/conv_transpose.hpp"
#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/depth_to_space.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/pad.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/resize.hpp"
#include "graph/operators/movement/slice.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "graph/operators/reduction/pool.hpp"
#include "graph/operators/reduction/reduce.hpp"
#include "passes/passes.hpp"
#include "vellum/error.hpp"

namespace vellum::quantization {
namespace {

bool is_computed_float(const Graph& graph, ValueId id) {
  return id != kNoValue && graph.constant(id) == nullptr && graph.values[id].type.dtype == DType::f32;
}

bool all_computed(const Graph& graph, const Node& node) {
  return std::ranges::all_of(node.inputs, [&](ValueId id) { return is_computed_float(graph, id); });
}

bool is_average(const Operator& op) {
  if (const auto* pool = dynamic_cast<const Pool*>(&op)) return pool->kind == PoolKind::average;
  if (const auto* pool = dynamic_cast<const GlobalPool*>(&op)) return pool->kind == PoolKind::average;
  const auto* reduce = dynamic_cast<const Reduce*>(&op);
  return reduce != nullptr && reduce->kind == ReduceKind::mean;
}

}  // namespace

Graph float_graph(const Graph& imported, const InputShapes& shapes) {
  Graph graph = imported;
  infer_shapes_and_fold(graph, shapes);
  if (graph.tail)
    throw Error(ErrorCode::unsupported, "a model whose shapes depend on its data cannot be quantised");
  decompose(graph);
  widen_halves(graph);
  remove_identities(graph);
  merge_reshapes(graph);
  remove_identities(graph);
  fuse_activation_patterns(graph);
  concat_zeros_to_pad(graph);
  fuse_pad(graph);
  for (size_t before = SIZE_MAX; graph.nodes.size() < before;) {
    before = graph.nodes.size();
    fold_batch_norm(graph);
    fold_scale(graph);
    fuse_bias(graph);
  }
  share_constants(graph);
  remove_dead_code(graph);
  return graph;
}

bool has_weights(const Graph& graph, const Node& node) {
  const Operator& op = *node.op;
  const bool is_layer = dynamic_cast<const Conv*>(&op) || dynamic_cast<const ConvTranspose*>(&op) ||
                        dynamic_cast<const Gemm*>(&op) || dynamic_cast<const MatMul*>(&op);
  if (!is_layer || node.inputs.size() < 2 || !is_computed_float(graph, node.inputs[0])) return false;
  const HostTensor* weights = graph.constant(node.inputs[1]);
  if (weights == nullptr || weights->dtype() != DType::f32 || weights->shape().size() < 2) return false;
  if (dynamic_cast<const MatMul*>(&op)) return weights->shape().size() == 2;
  const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != kNoValue;
  return !has_bias || graph.constant(node.inputs[2]) != nullptr;
}

size_t channel_axis(const Node& node) {
  if (dynamic_cast<const Conv*>(node.op.get())) return 0;
  const auto* gemm = dynamic_cast<const Gemm*>(node.op.get());
  return gemm != nullptr && gemm->transpose_b ? 0 : 1;
}

size_t output_channel_axis(const Graph& graph, const Node& node) {
  const bool is_product =
      dynamic_cast<const Gemm*>(node.op.get()) || dynamic_cast<const MatMul*>(node.op.get());
  return is_product ? graph.values[node.outputs[0]].type.shape.size() - 1 : 1;
}

std::string layer_name(const Graph& graph, const Node& node) { return graph.values[node.outputs[0]].name; }

bool takes_integers(const Graph& graph, const Node& node) {
  if (has_weights(graph, node)) return true;
  const Operator& op = *node.op;
  if (const auto* binary = dynamic_cast<const Binary*>(&op))
    return (binary->kind == BinaryKind::add || binary->kind == BinaryKind::mul) && all_computed(graph, node);
  if (dynamic_cast<const Concat*>(&op)) return all_computed(graph, node);
  const auto* resize = dynamic_cast<const Resize*>(&op);
  const bool interpolates = resize != nullptr && resize->mode == ResizeMode::linear;
  return (is_average(op) || interpolates) && is_computed_float(graph, node.inputs[0]);
}

bool keeps_values(const Graph& graph, const Node& node) {
  const Operator& op = *node.op;
  if (node.inputs.empty() || !is_computed_float(graph, node.inputs[0])) return false;
  if (const auto* pool = dynamic_cast<const Pool*>(&op))
    return pool->kind == PoolKind::max && node.outputs.size() == 1;
  if (const auto* pool = dynamic_cast<const GlobalPool*>(&op)) return pool->kind == PoolKind::max;
  if (const auto* resize = dynamic_cast<const Resize*>(&op)) return resize->mode == ResizeMode::nearest;
  if (const auto* pad = dynamic_cast<const Pad*>(&op))
    return pad->mode != PadMode::constant ||
           (pad->value == 0.0f && (node.inputs.size() < 3 || node.inputs[2] == kNoValue));
  return dynamic_cast<const ReshapeFamily*>(&op) || dynamic_cast<const Transpose*>(&op) ||
         dynamic_cast<const Slice*>(&op) || dynamic_cast<const Split*>(&op) ||
         dynamic_cast<const Gather*>(&op) || dynamic_cast<const DepthToSpace*>(&op) ||
         dynamic_cast<const SpaceToDepth*>(&op);
}

RoundedValues rounded_values(const Graph& graph, const std::set<std::string>& in_floats) {
  RoundedValues result;
  result.parameters_of.resize(graph.values.size());
  std::iota(result.parameters_of.begin(), result.parameters_of.end(), ValueId{0});
  for (const Node& node : graph.nodes) {
    if (!takes_integers(graph, node) || in_floats.contains(layer_name(graph, node))) continue;
    for (const ValueId id : node.inputs)
      if (is_computed_float(graph, id)) result.values.insert(id);
  }
  // Backwards: what such a value is made of is rounded in its place, and in the same way.
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    const bool is_rounded =
        std::ranges::any_of(node.outputs, [&](ValueId id) { return result.values.contains(id); });
    if (is_rounded && keeps_values(graph, node)) result.values.insert(node.inputs[0]);
  }
  for (const Node& node : graph.nodes) {
    if (!keeps_values(graph, node) || !result.values.contains(node.inputs[0])) continue;
    for (const ValueId id : node.outputs)
      if (id != kNoValue && result.values.contains(id))
        result.parameters_of[id] = result.parameters_of[node.inputs[0]];
  }
  return result;
}

}  // namespace vellum::quantization

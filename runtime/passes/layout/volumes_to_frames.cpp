// Volumes (N, C, D, H, W) become pictures (N * D, C, H, W), so that the kernels of pictures, and the passes
// for them, serve the networks of volumes. A convolution reads the pictures of its window as channels
// (StackFrames). What connects convolutions follows; the rest of the graph reads volumes.
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/stack_frames.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "graph/operators/reduction/normalization.hpp"
#include "graph/operators/reduction/pool.hpp"
#include "graph/operators/reduction/reduce.hpp"
#include "passes/layout/frame_form.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/build.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

std::shared_ptr<const Operator> exchange_channels_and_depth() {
  auto transpose = std::make_shared<Transpose>();
  transpose->perm = Ints{0, 2, 1, 3, 4};
  return transpose;
}

std::shared_ptr<const Operator> mean_over(Ints axes, bool keep_dims) {
  auto mean = std::make_shared<Reduce>();
  mean->axes = std::move(axes);
  mean->keep_dims = keep_dims;
  return mean;
}

class FrameConversion {
 public:
  explicit FrameConversion(Graph& graph) : editor_(graph) {}

  void run() {
    for (const size_t index : editor_.nodes()) {
      FrameBuilder builder(editor_, index,
                           [this, index](ValueId volume) { return frames_of(index, volume); });
      if (const auto result = convert(builder, index)) put_volume(builder, index, *result);
    }
    editor_.commit();
  }

 private:
  bool is_volume(ValueId value) const {
    const TensorType& type = editor_.type(value);
    return type.shape.size() == kVolumeRank && is_float_value(editor_, value) &&
           element_count(type.shape) > 0;
  }

  // The frames of a volume, before node `index` where they are not there yet.
  ValueId frames_of(size_t index, ValueId volume) {
    if (const auto found = frames_.find(volume); found != frames_.end()) return found->second;
    const TensorType type = editor_.type(volume);
    const Shape& s = type.shape;
    const std::string name = editor_.graph().values[volume].name + "/frames";
    const ValueId by_depth = editor_.compute_before(index, name, exchange_channels_and_depth(), {volume},
                                                    {type.dtype, {s[0], s[2], s[1], s[3], s[4]}});
    const Shape shape{s[0] * s[2], s[1], s[3], s[4]};
    return frames_[volume] =
               editor_.compute_before(index, name, reshape_to(shape), {by_depth}, {type.dtype, shape});
  }

  // The frames of the node's output; nothing where it stays a node of volumes.
  std::optional<ValueId> convert(FrameBuilder& builder, size_t index) {
    if (is_convolution_of_volumes(editor_.graph(), editor_.node(index))) return convolve_frames(builder);
    const Node& node = editor_.node(index);
    if (node.inputs.empty() || node.outputs.size() != 1 || !frames_.contains(node.inputs[0]))
      return node.outputs.size() == 1 && node.inputs.size() == 2 ? combine(builder) : std::nullopt;
    if (match_node<BatchNormalization>(editor_, index) || match_node<Unary>(editor_, index) ||
        is_clip_by_constants(index))
      return map(builder);
    if (match_node<Binary>(editor_, index)) return combine(builder);
    if (match_node<Concat>(editor_, index)) return join(builder);
    if (const auto pool = match_node<Pool>(editor_, index)) return pool_pictures(builder, *pool.op);
    return std::nullopt;
  }

  // Computes an operator that works element by element on frames.
  ValueId map(FrameBuilder& builder) {
    std::vector<ValueId> inputs = builder.node().inputs;
    inputs[0] = builder.frames_of(inputs[0]);
    const auto op = builder.node().op;
    return builder.compute(op, std::move(inputs));
  }

  bool is_clip_by_constants(size_t index) const {
    const auto clip = match_node<Clip>(editor_, index);
    return clip && is_constant_or_absent(editor_, *clip.node, 1) &&
           is_constant_or_absent(editor_, *clip.node, 2);
  }

  // Two volumes, or one and a factor for each channel; at least one is in frames.
  std::optional<ValueId> combine(FrameBuilder& builder) {
    const Node node = builder.node();
    const ValueId output = node.outputs[0];
    const auto* binary = dynamic_cast<const Binary*>(node.op.get());
    if (binary == nullptr || !is_volume(output) ||
        !(frames_.contains(node.inputs[0]) || frames_.contains(node.inputs[1])))
      return std::nullopt;
    for (const ValueId input : node.inputs)
      if (!operand_shape(input, output)) return std::nullopt;
    std::vector<ValueId> inputs;
    for (const ValueId input : node.inputs) {
      if (editor_.type(input).shape == editor_.type(output).shape && editor_.constant(input) == nullptr) {
        inputs.push_back(builder.frames_of(input));
        continue;
      }
      const Shape shape = *operand_shape(input, output);
      const HostTensor* constant = editor_.constant(input);
      inputs.push_back(constant ? builder.add_constant(constant->reshaped(shape))
                                : builder.compute(reshape_to(shape), {input}));
    }
    return builder.compute(node.op, std::move(inputs));
  }

  // The shape in which an operand of a node of volumes is combined with frames; nothing where it varies along
  // depth or space.
  std::optional<Shape> operand_shape(ValueId input, ValueId output) const {
    const TensorType &type = editor_.type(input), &y = editor_.type(output);
    if (type.dtype != y.dtype) return std::nullopt;
    if (type.shape == y.shape && editor_.constant(input) == nullptr) return y.shape;
    if (element_count(type.shape) == 1) return Shape{1, 1, 1, 1};
    Shape padded(kVolumeRank - std::min(kVolumeRank, type.shape.size()), 1);
    padded.insert(padded.end(), type.shape.begin(), type.shape.end());
    if (padded.size() != kVolumeRank || padded != Shape{1, y.shape[1], 1, 1, 1}) return std::nullopt;
    return Shape{1, y.shape[1], 1, 1};
  }

  std::optional<ValueId> join(FrameBuilder& builder) {
    const Node node = builder.node();
    const auto& concat = dynamic_cast<const Concat&>(*node.op);
    if (normalize_axis(concat.axis, kVolumeRank) != 1) return std::nullopt;
    std::vector<ValueId> inputs;
    for (const ValueId input : node.inputs) {
      if (editor_.constant(input) != nullptr || !is_volume(input)) return std::nullopt;
      inputs.push_back(builder.frames_of(input));
    }
    return builder.compute(node.op, std::move(inputs));
  }

  // A pool whose window has one picture.
  std::optional<ValueId> pool_pictures(FrameBuilder& builder, const Pool& volumes) {
    const Node node = builder.node();
    const WindowPlacement window = volumes.place(operator_inputs(editor_.graph(), node));
    const bool one_picture = window.kernel[0] == 1 && window.strides[0] == 1 && window.pads_begin[0] == 0 &&
                             window.pads_end[0] == 0 && window.output[0] == window.input[0];
    if (!one_picture || volumes.with_indices || volumes.window_indices) return std::nullopt;
    auto pool = std::make_shared<Pool>(volumes);
    pool->window = pictures_of(window);
    pool->window.ceil_mode = volumes.window.ceil_mode;
    const ValueId pooled = builder.compute(std::move(pool), {builder.frames_of(node.inputs[0])});
    const Shape &from = editor_.type(pooled).shape, &to = editor_.type(node.outputs[0]).shape;
    if (from[2] != to[3] || from[3] != to[4]) return std::nullopt;  // ceil_mode with other pads
    return pooled;
  }

  // The node computes its volume from the frames; nothing reads it where all readers read frames.
  void put_volume(FrameBuilder& builder, size_t index, ValueId frames) {
    const ValueId output = editor_.node(index).outputs[0];
    const Shape& s = editor_.type(output).shape;
    const ValueId by_depth = builder.compute(reshape_to({s[0], s[2], s[1], s[3], s[4]}), {frames});
    frames_[output] = frames;
    editor_.replace(index, exchange_channels_and_depth(), {by_depth});
  }

  GraphEditor editor_;
  std::unordered_map<ValueId, ValueId> frames_;  // of volumes
};

// Means over space and depth of frames that were made volumes: two means, and no volume.
void reduce_frames(GraphEditor& editor, size_t index) {
  const Node node = editor.node(index);
  const auto pool = match_node<GlobalPool>(editor, index);
  const auto reduce = match_node<Reduce>(editor, index);
  if (pool ? pool->kind != PoolKind::average : !reduce || reduce->kind != ReduceKind::mean) return;
  const auto transpose = match_producer<Transpose>(editor, node.inputs[0]);
  const TensorType type = editor.type(node.inputs[0]);
  if (!transpose || type.shape.size() != kVolumeRank || !is_float_value(editor, node.inputs[0])) return;
  if (transpose->permutation(kVolumeRank) != std::vector<size_t>{0, 2, 1, 3, 4}) return;
  if (reduce && reduce->reduced_axes(operator_inputs(editor.graph(), node)) != std::vector<size_t>{2, 3, 4})
    return;
  const Shape& s = type.shape;
  const ValueId frames =
      editor.compute_before(index, node.name + "/frames", reshape_to({s[0] * s[2], s[1], s[3], s[4]}),
                            {transpose.input()}, {type.dtype, {s[0] * s[2], s[1], s[3], s[4]}});
  const ValueId means = editor.compute_before(index, node.name + "/space", mean_over({2, 3}, true), {frames},
                                              {type.dtype, {s[0] * s[2], s[1], 1, 1}});
  const ValueId by_depth = editor.compute_before(index, node.name + "/depth", reshape_to({s[0], s[2], s[1]}),
                                                 {means}, {type.dtype, {s[0], s[2], s[1]}});
  const ValueId mean = editor.compute_before(index, node.name + "/mean", mean_over({1}, false), {by_depth},
                                             {type.dtype, {s[0], s[1]}});
  editor.replace(index, reshape_to(editor.type(node.outputs[0]).shape), {mean});
}

bool has_volumes(const Graph& graph) {
  for (const Node& node : graph.nodes)
    if (is_convolution_of_volumes(graph, node)) return true;
  return false;
}

}  // namespace

void volumes_to_frames(Graph& graph) {
  if (!has_volumes(graph)) return;
  FrameConversion(graph).run();
  remove_dead_code(graph);
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) reduce_frames(editor, index);
  editor.commit();
  remove_dead_code(graph);
  merge_reshapes(graph);
}

}  // namespace vellum

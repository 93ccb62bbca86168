// Group normalisation as exporters write it for operator sets without the operator: the channels of each
// group become one plane, which InstanceNormalization normalises, and products and sums with constants follow
// for each channel.
#include <memory>
#include <optional>
#include <vector>

#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/reduction/normalization.hpp"
#include "passes/fuse/channel_affine.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// Scale and bias of each channel from those of each group.
std::optional<ChannelAffine> factors_of_channels(const GraphEditor& editor, const Node& norm,
                                                 int64_t channels) {
  const HostTensor *scale = editor.graph().constant(norm.inputs[1]),
                   *bias = editor.graph().constant(norm.inputs[2]);
  if (scale == nullptr || bias == nullptr) return std::nullopt;
  const std::vector<float> scales = scale->to_floats(), biases = bias->to_floats();
  ChannelAffine result;
  for (int64_t c = 0; c < channels; ++c) {
    const auto group = static_cast<size_t>(c) * scales.size() / static_cast<size_t>(channels);
    result.scale.push_back(double{scales[group]});
    result.shift.push_back(double{biases[group]});
  }
  return result;
}

// Appends the only reader of `value` to the factors if it multiplies by or adds a constant for each channel.
// Returns the reader's output, else `value`.
ValueId append_reader(const GraphEditor& editor, ValueId value, BinaryKind kind, ChannelAffine& factors) {
  const auto reader = match_constant_reader(editor, value, kind);
  if (!reader) return value;
  const auto constants = per_channel(*reader->constant, editor.type(value).shape);
  if (!constants) return value;
  for (size_t c = 0; c < constants->size(); ++c) {
    if (kind == BinaryKind::mul) factors.scale[c] *= (*constants)[c];
    factors.shift[c] =
        kind == BinaryKind::mul ? factors.shift[c] * (*constants)[c] : factors.shift[c] + (*constants)[c];
  }
  return reader->output;
}

void replace_by_group_norm(GraphEditor& editor, size_t index) {
  const auto norm = match_node<InstanceNormalization>(editor, index);
  if (!norm || norm->activation) return;
  const auto split = match_producer<ReshapeFamily>(editor, norm.input());
  if (!split) return;
  const ValueId x = split.input();
  const TensorType type = editor.type(x);
  const Shape grouped = editor.type(norm.input()).shape;
  if (type.shape.size() < 3 || grouped[0] != type.shape[0] || grouped[1] == 0 ||
      type.shape[1] % grouped[1] != 0 || element_count(type.shape) == 0)
    return;
  const auto back = editor.only_reader(norm.node->outputs[0]);
  const auto joined = back ? match_node<ReshapeFamily>(editor, *back) : Match<ReshapeFamily>{};
  if (!joined || editor.type(joined.node->outputs[0]) != type) return;
  auto factors = factors_of_channels(editor, *norm.node, type.shape[1]);
  if (!factors) return;
  ValueId y = append_reader(editor, joined.node->outputs[0], BinaryKind::mul, *factors);
  y = append_reader(editor, y, BinaryKind::add, *factors);
  auto op = std::make_shared<GroupNormalization>();
  op->groups = grouped[1];
  op->epsilon = norm->epsilon;
  const std::string name = editor.node(index).name;
  const auto constant = [&](const char* what, const std::vector<double>& values) {
    return editor.add_constant(name + what, HostTensor::from<double>(type.dtype, {type.shape[1]}, values));
  };
  const std::vector<ValueId> inputs{x, constant("/scale", factors->scale), constant("/bias", factors->shift)};
  editor.replace(*editor.producer(y), std::move(op), inputs);
}

}  // namespace

void fuse_group_norm(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) replace_by_group_norm(editor, index);
  editor.commit();
  remove_dead_code(graph);
}

}  // namespace vellum

#include "compile/fuse_branches.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "caps/cooperative_matrix.hpp"
#include "compile/match_depthwise.hpp"
#include "cost/fused_layers.hpp"
#include "graph/operators/movement/concat.hpp"
#include "kernels/conv/window.hpp"
#include "program/divide.hpp"

namespace vellum {
namespace {

constexpr int64_t kTaps = 9, kMiddle = 4;

// A convolution with constant weights, without groups, residual and scale, which the node `reader` alone
// reads.
std::optional<Match<Conv>> match_branch(const GraphEditor& editor, ValueId value, size_t reader) {
  auto conv = match_producer<Conv>(editor, value);
  if (!conv || editor.only_reader(value) != reader || conv->group != 1 || conv.node->inputs.size() > 3)
    return std::nullopt;
  if (editor.type(conv.input(0)).shape.size() != 4 || !has_constant_weights(editor, *conv.node))
    return std::nullopt;
  return conv;
}

Window2d window_of(const GraphEditor& editor, const Match<Conv>& conv) {
  return to_2d(conv->place(operator_inputs(editor.graph(), *conv.node)));
}

bool is_3x3(const Window2d& window) {
  for (const size_t axis : {0u, 1u})
    if (window.kernel[axis] != 3 || window.stride[axis] != 1 || window.dilation[axis] != 1 ||
        window.padding[axis] != 1 || window.output[axis] != window.input[axis])
      return false;
  return true;
}

TileDemand demand_of(const Shape& x, int64_t outputs, int64_t taps) {
  TileDemand demand{x[3], x[0] * x[2], slices(outputs), x[0] * x[2] * x[3] * x[1] * outputs * taps,
                    {},   taps == 1};
  if (taps > 1) demand.row = {.taps = 3, .operations = 1};
  return demand;
}

// The weights of both as those of a 3x3 convolution, and the biases.
HostTensor weights_of_both(const HostTensor& narrow, const HostTensor& wide) {
  const std::vector<float> ones = narrow.to_floats(), nines = wide.to_floats();
  std::vector<float> weights(ones.size() * kTaps, 0.0f);
  for (size_t i = 0; i < ones.size(); ++i) weights[i * kTaps + kMiddle] = ones[i];
  weights.insert(weights.end(), nines.begin(), nines.end());
  Shape shape = wide.shape();
  shape[0] += narrow.shape()[0];
  return HostTensor::from<float>(wide.dtype(), shape, weights);
}

std::vector<float> bias_or_zeros(const GraphEditor& editor, const Match<Conv>& conv) {
  const ValueId bias = input_or_none(*conv.node, 2);
  if (bias != kNoValue) return editor.constant(bias)->to_floats();
  return std::vector<float>(static_cast<size_t>(editor.type(conv.input(1)).shape[0]), 0.0f);
}

void fuse_concatenated(GraphEditor& editor, size_t index, const DeviceCaps& caps, Precision precision) {
  const auto concat = match_node<Concat>(editor, index);
  if (!concat || concat.node->inputs.size() != 2 || !is_float_value(editor, concat.node->outputs[0])) return;
  const auto narrow = match_branch(editor, concat.input(0), index),
             wide = match_branch(editor, concat.input(1), index);
  if (!narrow || !wide || narrow->input(0) != wide->input(0) || concat->axis != 1) return;
  if ((*narrow)->activation != (*wide)->activation) return;
  const Window2d window = window_of(editor, *wide);
  if (!is_pointwise(window_of(editor, *narrow)) || !is_3x3(window) || !fits_32_bits(window)) return;
  if (precision == Precision::fp16 && !half_products(caps).empty()) return;
  const Shape& x = editor.type(wide->input(0)).shape;
  const int64_t first = editor.type(narrow->input(1)).shape[0], rest = editor.type(wide->input(1)).shape[0];
  // Slices of either, and at least four input channels: with fewer the kernel is another one.
  if (first % 16 != 0 || x[1] < 4) return;
  if (!merges_branches(caps, demand_of(x, first, 1), demand_of(x, rest, kTaps))) return;

  const std::string name = wide->node->name;
  HostTensor weights = weights_of_both(*editor.constant(narrow->input(1)), *editor.constant(wide->input(1)));
  std::vector<float> both = bias_or_zeros(editor, *narrow);
  const std::vector<float> second = bias_or_zeros(editor, *wide);
  both.insert(both.end(), second.begin(), second.end());
  HostTensor bias = HostTensor::from<float>(weights.dtype(), {first + rest}, both);
  auto op = std::make_shared<Conv>(*wide->op);
  op->narrow_outputs = first;
  const ValueId input = wide->input(0);
  const size_t removed[] = {narrow->index, wide->index};
  const ValueId w = editor.add_constant(name + "/both_weights", std::move(weights));
  const ValueId b = editor.add_constant(name + "/both_biases", std::move(bias));
  editor.replace(index, std::move(op), {input, w, b});
  for (const size_t each : removed) editor.remove(each);
}

}  // namespace

void fuse_branches(Graph& graph, const DeviceCaps& caps, Precision precision) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) fuse_concatenated(editor, index, caps, precision);
  editor.commit();
}

}  // namespace vellum

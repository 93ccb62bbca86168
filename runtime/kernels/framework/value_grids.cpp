#include "kernels/framework/value_grids.hpp"

#include <algorithm>
#include <cmath>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/conv/conv_transpose.hpp"
#include "graph/operators/conv/scaled_conv.hpp"
#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/elementwise/byte_table.hpp"
#include "graph/operators/elementwise/dynamic_steps.hpp"
#include "graph/operators/elementwise/quantize.hpp"
#include "graph/operators/elementwise/select.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "graph/operators/fused/fused_nodes.hpp"
#include "graph/operators/matmul/attention.hpp"
#include "graph/operators/matmul/fixed_matmul.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/moves_elements.hpp"
#include "graph/operators/movement/resize.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "graph/operators/reduction/fixed_rows.hpp"
#include "graph/operators/reduction/normalization.hpp"
#include "graph/operators/reduction/pool.hpp"
#include "graph/operators/reduction/reduce.hpp"
#include "graph/operators/reduction/softmax.hpp"

namespace vellum {
namespace {

// Numbers that are multiples of `step`, from `least` <= 0 to `most` >= 0 steps: at most 256.
struct StepRange {
  float step = 1.0f, least = 0.0f, most = 0.0f;

  bool operator==(const StepRange&) const = default;
  ByteGrid grid(StoreRounding rounding) const { return {step, static_cast<int32_t>(-least), rounding}; }
};
// By ValueId.
using Ranges = std::vector<std::optional<StepRange>>;

// Returns the range with the numbers step * least to step * most, and with zero, which unused channels hold.
std::optional<StepRange> range_of_steps(float step, float least, float most) {
  const float low = std::min(least, 0.0f), high = std::max(most, 0.0f);
  if (!(step > 0.0f) || !std::isfinite(step) || !(high - low <= 255.0f)) return std::nullopt;
  return StepRange{step, low, high};
}

template <typename Op>
const Activation* activation_in(const Operator& op) {
  const auto* found = dynamic_cast<const Op*>(&op);
  return found == nullptr ? nullptr : &found->activation;
}

}  // namespace

const Activation* activation_of(const Operator& op) {
  if (const auto* unary = dynamic_cast<const Unary*>(&op))
    return unary->kind == UnaryKind::activation ? &unary->activation : nullptr;
  for (const Activation* found :
       {activation_in<Conv>(op), activation_in<ConvTranspose>(op), activation_in<Gemm>(op),
        activation_in<Binary>(op), activation_in<Pool>(op), activation_in<BatchNormalization>(op),
        activation_in<InstanceNormalization>(op), activation_in<GroupNormalization>(op),
        activation_in<ScaledConv>(op), activation_in<FixedMatMul>(op)})
    if (found != nullptr) return found;
  return nullptr;
}

bool is_never_negative(const Operator& op) {
  const Activation* activation = activation_of(op);
  if (activation == nullptr || activation->is_scaled()) return false;
  return activation->kind == ActivationKind::relu || activation->kind == ActivationKind::sigmoid ||
         (activation->kind == ActivationKind::clip && activation->alpha >= 0.0f && activation->beta >= 0.0f);
}

namespace {

// Returns the range of a DequantizeLinear of 8-bit integers with one scale and one zero point.
std::optional<StepRange> dequantised_range(const Graph& graph, const Node& node) {
  if (dynamic_cast<const DequantizeLinear*>(node.op.get()) == nullptr) return std::nullopt;
  const DType dtype = graph.values[node.inputs[0]].type.dtype;
  if (dtype != DType::u8 && dtype != DType::i8) return std::nullopt;
  const HostTensor* scale = graph.constant(node.inputs[1]);
  if (scale == nullptr || scale->elements() != 1) return std::nullopt;
  float zero = 0.0f;
  if (node.inputs.size() > 2 && node.inputs[2] != kNoValue) {
    const HostTensor* given = graph.constant(node.inputs[2]);
    if (given == nullptr || given->elements() != 1) return std::nullopt;
    zero = static_cast<float>(given->to_ints()[0]);
  }
  const float low = dtype == DType::u8 ? 0.0f : -128.0f;
  return range_of_steps(scale->to_floats()[0], low - zero, low + 255.0f - zero);
}

template <typename... Ops>
bool is_any_of(const Operator& op) {
  return ((dynamic_cast<const Ops*>(&op) != nullptr) || ...);
}

// Returns whether the kernels of a node store nothing but results, four at a time, so that the store can
// round them. (The fast kernel of Softmax stores rows that are not whole texels element by element, as
// attention stores the results of heads.)
bool stores_results(const Graph& graph, const Node& node) {
  if (const auto* prelu = dynamic_cast<const PRelu*>(node.op.get()))
    return static_cast<bool>(prelu->fixed_point);
  if (const auto* softmax = dynamic_cast<const Softmax*>(node.op.get())) {
    const Softmax::Extent extent = softmax->extent(graph.values[node.inputs[0]].type.shape);
    return extent.inner % 4 == 0 || (extent.inner == 1 && extent.length % 4 == 0);
  }
  if (const auto* attention = dynamic_cast<const Attention*>(node.op.get()))
    return attention->views && (*attention->views)[2].shape[3] % 4 == 0;
  // From channels last, which graph inputs of pictures have.
  if (const auto* transpose = dynamic_cast<const Transpose*>(node.op.get()))
    return transpose->perm == std::optional(Attributes::Ints{0, 3, 1, 2});
  return is_any_of<Resize, Concat, Reduce, GlobalPool, LayerNormalization, MatMul>(*node.op);
}

// Returns the range to which a node rounds its input, if it does nothing else and uses all 256 numbers of
// bytes.
std::optional<StepRange> rounding_range(const Node& node) {
  const auto* unary = dynamic_cast<const Unary*>(node.op.get());
  if (unary == nullptr || unary->kind != UnaryKind::activation) return std::nullopt;
  const Activation& rounding = unary->activation;
  if (!rounding.only_rounds()) return std::nullopt;
  if (rounding.most - rounding.least != 255.0f || rounding.least > 0.0f || rounding.most < 0.0f)
    return std::nullopt;
  return range_of_steps(rounding.step, rounding.least, rounding.most);
}

// By ValueId.
using Roundings = std::vector<StoreRounding>;

// If a node only rounds its input, gives the input the range, so that the store of the input rounds. Returns
// how stores round.
Roundings round_in_stores(const Graph& graph, Ranges& ranges) {
  Roundings roundings(graph.values.size(), StoreRounding::none);
  std::vector<size_t> readers(graph.values.size(), 0);
  for (const ValueId output : graph.outputs) ++readers[output];
  for (const Node& node : graph.nodes)
    for (const ValueId input : node.inputs)
      if (input != kNoValue) ++readers[input];
  std::vector<bool> may_round(graph.values.size(), false);
  for (const Node& node : graph.nodes) {
    if (node.outputs.size() == 1 && stores_results(graph, node)) may_round[node.outputs[0]] = true;
    const std::optional<StepRange> range = rounding_range(node);
    if (!range || !may_round[node.inputs[0]] || readers[node.inputs[0]] != 1) continue;
    ranges[node.inputs[0]] = range;
    roundings[node.inputs[0]] =
        activation_of(*node.op)->ties_away ? StoreRounding::away : StoreRounding::to_even;
  }
  return roundings;
}

// Returns a range with the numbers of all inputs if they are multiples of the same step.
std::optional<StepRange> joined_range(const Node& node, const Ranges& ranges) {
  std::optional<StepRange> joined = ranges[node.inputs[0]];
  for (const ValueId input : node.inputs) {
    const std::optional<StepRange>& range = ranges[input];
    if (!joined || !range || range->step != joined->step) return std::nullopt;
    joined = range_of_steps(joined->step, std::min(joined->least, range->least),
                            std::max(joined->most, range->most));
  }
  return joined;
}

// Returns for each value whether it is never negative. DynamicSteps quantises such a value with the zero
// point 0 in every run, so that its integers fit in bytes.
std::vector<bool> never_negative(const Graph& graph) {
  std::vector<bool> found(graph.values.size(), false);
  for (const Node& node : graph.nodes)
    if (node.outputs[0] != kNoValue)
      found[node.outputs[0]] = is_never_negative(*node.op) || (moves_elements(node) && found[node.inputs[0]]);
  return found;
}

void add_dynamic_ranges(const Graph& graph, Ranges& ranges) {
  const std::vector<bool> positive = never_negative(graph);
  for (const Node& node : graph.nodes)
    if (dynamic_cast<const DynamicSteps*>(node.op.get()) != nullptr && positive[node.inputs[0]])
      ranges[node.outputs[0]] = StepRange{1.0f, 0.0f, 255.0f};
}

// Returns whether a tensor has one pixel at most, so that floats of every layout are the same memory.
bool is_one_pixel(const Shape& shape) { return shape.size() >= 2 && element_count(shape) == shape[1]; }

// Removes the ranges of graph outputs that nothing else reads, if they have one pixel: the kernel stores the
// floats that the application reads, and no dispatch converts bytes to them.
void store_outputs_as_floats(const Graph& graph, Ranges& ranges) {
  std::vector<bool> is_read(graph.values.size(), false);
  for (const Node& node : graph.nodes)
    for (const ValueId input : node.inputs)
      if (input != kNoValue) is_read[input] = true;
  for (const ValueId output : graph.outputs)
    if (!is_read[output] && is_one_pixel(graph.values[output].type.shape)) ranges[output].reset();
}

Ranges ranges_of(const Graph& graph, Ranges ranges);

// Adds the ranges of the outputs of FusedNodes, which follow from the ranges of the inputs.
void add_fused_ranges(const Node& node, const FusedNodes& fused, Ranges& ranges) {
  Ranges body(fused.body.values.size());
  for (size_t i = 0; i < node.inputs.size() && i < fused.body.inputs.size(); ++i)
    if (node.inputs[i] != kNoValue) body[fused.body.inputs[i]] = ranges[node.inputs[i]];
  body = ranges_of(fused.body, std::move(body));
  for (size_t i = 0; i < node.outputs.size() && i < fused.body.outputs.size(); ++i)
    if (node.outputs[i] != kNoValue) ranges[node.outputs[i]] = body[fused.body.outputs[i]];
}

// Returns the ranges of all values. `ranges`: those of the graph's inputs.
Ranges ranges_of(const Graph& graph, Ranges ranges) {
  for (const Node& node : graph.nodes) {
    if (node.inputs.empty()) continue;
    if (const auto* fused = dynamic_cast<const FusedNodes*>(node.op.get())) {
      add_fused_ranges(node, *fused, ranges);
      continue;
    }
    std::optional<StepRange> range;
    const Activation* activation = activation_of(*node.op);
    if (activation != nullptr && activation->is_rounded())
      range = range_of_steps(activation->step, activation->least, activation->most);
    else if (const auto* table = dynamic_cast<const ByteTable*>(node.op.get()))
      range = range_of_steps(table->y_step, static_cast<float>(table->y_least),
                             static_cast<float>(table->y_most));
    else if (const auto* rows = dynamic_cast<const FixedRows*>(node.op.get()))
      range =
          range_of_steps(rows->y_step, static_cast<float>(rows->y_least), static_cast<float>(rows->y_most));
    else if (moves_elements(node))
      range = ranges[node.inputs[0]];
    else if (dynamic_cast<const Concat*>(node.op.get()) != nullptr)
      range = joined_range(node, ranges);
    else
      range = dequantised_range(graph, node);
    for (const ValueId output : node.outputs)
      if (output != kNoValue) ranges[output] = range;
  }
  return ranges;
}

}  // namespace

bool stores_bytes(const LoweringOptions& options) {
  return options.arithmetic == Arithmetic::fp32 || options.precision != Precision::fp16;
}

std::vector<std::optional<ByteGrid>> value_grids(const Graph& graph, Precision precision) {
  Ranges ranges = ranges_of(graph, Ranges(graph.values.size()));
  const Roundings roundings = round_in_stores(graph, ranges);
  add_dynamic_ranges(graph, ranges);
  if (precision == Precision::fp32) store_outputs_as_floats(graph, ranges);  // halves would round steps
  std::vector<std::optional<ByteGrid>> grids(ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i)
    if (ranges[i] && is_float(graph.values[i].type.dtype)) grids[i] = ranges[i]->grid(roundings[i]);
  if (std::ranges::none_of(grids, [](const auto& grid) { return grid.has_value(); })) grids.clear();
  return grids;
}

}  // namespace vellum

#include "selfcheck/quantised_cases.hpp"

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "graph/byte_rows.hpp"
#include "graph/operators/conv/conv_transpose.hpp"
#include "graph/operators/conv/scaled_conv.hpp"
#include "graph/operators/elementwise/byte_table.hpp"
#include "graph/operators/elementwise/dynamic_steps.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "graph/operators/matmul/attention.hpp"
#include "graph/operators/matmul/fixed_matmul.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/movement/cache_update.hpp"
#include "graph/operators/reduction/fixed_rows.hpp"
#include "kernels/conv/result_table.hpp"
#include "kernels/fused/expand.hpp"
#include "kernels/fused/rounded_gates.hpp"
#include "kernels/fused/table.hpp"

namespace vellum {
namespace {

using namespace selfcheck;

// A function of a quantised tensor by a table.
void add_byte_table(std::vector<SmallOperator>& list) {
  std::vector<float> entries;
  for (int i = 0; i < 256; ++i) entries.push_back(static_cast<float>(i));
  list.push_back(small_operator("ByteTable", "ByteTable",
                                {steps({1, 10, 9, 7}), as_constant({HostTensor::f32({256}, entries), false})},
                                {{"first", int64_t{-100}}}));
}

// Layers whose rounded results a table maps to others. The sums are multiples of 1/1024, which no order of
// additions rounds, and adjacent numbers of the table are close to each other.
void add_result_tables(std::vector<SmallOperator>& list) {
  const auto add = [&](const char* name, Shape x, Shape w, std::shared_ptr<const Operator> layer) {
    Operand filters = weights(std::move(w));
    for (float& weight : filters.tensor.mutable_as<float>()) weight = std::nearbyint(64 * weight) / 64;
    auto table = std::make_shared<ByteTable>();
    table->x_step = 1.0f / 16;
    table->first = -128;
    table->y_step = 0x1p-9f;
    table->y_most = 2048 + 255;
    std::vector<float> entries;
    for (int i = 0; i < ByteTable::kEntries; ++i) entries.push_back(static_cast<float>(2048 + i) * 0x1p-9f);
    SmallOperator made = small_operator(
        name, "ConvTable",
        {steps(std::move(x)), filters, as_constant({HostTensor::f32({ByteTable::kEntries}, entries), false})},
        table_nodes(layer->with_activation({.step = 1.0f / 16, .least = -100, .most = 127}), table));
    std::vector<ValueId>& inputs = made.graph.nodes[0].inputs;
    inputs.insert(inputs.begin() + 2, kResultTable - 2, kNoValue);
    list.push_back(std::move(made));
  };
  auto window = std::make_shared<Conv>(), depthwise = std::make_shared<Conv>();
  window->window.pads = depthwise->window.pads = {1, 1, 1, 1};
  depthwise->group = 20;
  add("ConvTable 1x1", {1, 20, 9, 7}, {24, 20, 1, 1}, std::make_shared<Conv>());
  add("ConvTable 3x3", {1, 12, 9, 7}, {16, 12, 3, 3}, window);
  add("ConvTable 3x3 depthwise", {1, 20, 13, 11}, {20, 1, 3, 3}, depthwise);
  add("ConvTable of a product", {7, 40}, {40, 24}, std::make_shared<Gemm>());
}

// Channels times their factors, rounded. The products are multiples of 1/256, so that none is a tie.
void add_rounded_scaling(std::vector<SmallOperator>& list) {
  auto conv = std::make_shared<Conv>();
  conv->scaling = {.step = 5.0f / 256, .least = -100, .most = 155};
  SmallOperator made =
      small_operator("Conv 1x1 of rounded channels", "Conv",
                     {steps({1, 20, 9, 7}), weights({24, 20, 1, 1}), weights({24}, 3), steps({1, 20, 1, 1})},
                     std::move(conv));
  std::vector<ValueId>& inputs = made.graph.nodes[0].inputs;
  inputs.insert(inputs.begin() + 3, kNoValue);
  list.push_back(std::move(made));
}

// A layer that rounds to multiples of 1/16, and the table of its results.
GateLayer layer_with_table(int64_t group = 1, int64_t pad = 0) {
  auto conv = std::make_shared<Conv>();
  conv->group = group;
  conv->window.pads.assign(4, pad);
  conv->activation = {.step = 1.0f / 16, .least = -128, .most = 127};
  auto table = std::make_shared<ByteTable>();
  table->x_step = 1.0f / 16;
  table->first = -128;
  table->y_step = 1.0f / 128;
  return {conv, table};
}

Operand rounded_weights(Shape shape, uint32_t seed) {
  Operand operand = weights(std::move(shape), seed);
  for (float& weight : operand.tensor.mutable_as<float>()) weight = std::nearbyint(64 * weight) / 64;
  return operand;
}

// Layers with tables that one kernel computes. Means of 64 multiples of 1/16, sums of products and results of
// tables are multiples of powers of two, which no order of additions rounds.
void add_fused_tables(std::vector<SmallOperator>& list) {
  std::vector<float> entries;
  for (int i = 0; i < ByteTable::kEntries; ++i) entries.push_back(static_cast<float>(i) / 128);
  const Operand table = as_constant({HostTensor::f32({ByteTable::kEntries}, entries), false});
  auto rounding = std::make_shared<Unary>();
  rounding->activation = {.step = 1.0f / 64, .least = -128, .most = 127};
  list.push_back(
      small_operator("RoundedGates", "RoundedGates",
                     {steps({1, 20, 8, 8}), rounded_weights({6, 20, 1, 1}, 2), rounded_weights({6}, 3),
                      rounded_weights({20, 6, 1, 1}, 4), rounded_weights({20}, 5), table, table},
                     rounded_gates_nodes(rounding, layer_with_table(), layer_with_table())));
  const GateLayer pointwise = layer_with_table(), depthwise = layer_with_table(20, 1);
  list.push_back(small_operator("Conv 1x1 in steps", "Conv",
                                {steps({1, 10, 9, 7}), rounded_weights({20, 10, 1, 1}, 2)}, pointwise.conv));
  SmallOperator looked_up = small_operator("ConvTable 1x1 in steps", "ConvTable",
                                           {steps({1, 10, 9, 7}), rounded_weights({20, 10, 1, 1}, 2), table},
                                           table_nodes(pointwise.conv, pointwise.table));
  std::vector<ValueId>& inputs = looked_up.graph.nodes[0].inputs;
  inputs.insert(inputs.begin() + 2, kResultTable - 2, kNoValue);
  list.push_back(std::move(looked_up));
  list.push_back(small_operator(
      "ExpandConv 3x3 with tables", "ExpandConv",
      {steps({1, 10, 9, 7}), rounded_weights({20, 10, 1, 1}, 2), rounded_weights({20}, 3),
       rounded_weights({20, 1, 3, 3}, 4), rounded_weights({20}, 5), table, table},
      expand_nodes(pointwise.conv, depthwise.conv, nullptr, {pointwise.table, depthwise.table})));
}

// Returns a ScaledConv of the steps of an input that is never negative, which are bytes. `layer`: a
// ScaledConv whose inputs are those steps and their scale.
SmallOperator of_bytes(SmallOperator layer) {
  layer.name += " of bytes";
  Graph& graph = layer.graph;
  auto relu = std::make_shared<Unary>();
  relu->activation = {.kind = ActivationKind::relu};
  const ValueId x = graph.nodes[0].inputs[0], bounded = graph.add_value("bounded"),
                steps = graph.add_value("steps"), scale = graph.add_value("scale");
  graph.nodes[0].inputs[0] = steps;
  graph.nodes[0].inputs[3] = scale;
  graph.inputs.pop_back();
  layer.inputs.pop_back();
  graph.nodes.insert(graph.nodes.begin(),
                     {{"Relu", std::move(relu), {x}, {bounded}},
                      {"DynamicSteps", std::make_shared<DynamicSteps>(), {bounded}, {steps, scale}}});
  return layer;
}

// The operators that the pass fuse_dynamic_quantization makes, and the one that it starts from.
void add_dynamic_quantization(std::vector<SmallOperator>& list) {
  const auto floats = [](Operand operand) {
    operand.tensor = cast(operand.tensor, DType::f32);
    return operand;
  };
  const Operand scale{HostTensor::from<int64_t>(DType::i32, {1}, std::array{int64_t{0x3d000000}}), false};
  list.push_back(small_operator("DynamicQuantizeLinear", "DynamicQuantizeLinear", {steps({1, 10, 9, 7})}));
  list.push_back(small_operator("DynamicSteps", "DynamicSteps", {steps({1, 10, 9, 7})}));
  for (const int64_t kernel : {1, 3}) {
    auto op = std::make_shared<ScaledConv>();
    list.push_back(small_operator("ScaledConv of " + std::to_string(kernel) + "x" + std::to_string(kernel),
                                  "ScaledConv",
                                  {floats(small_integers({1, 10, 9, 7})),
                                   as_constant(floats(small_integers({6, 10, kernel, kernel}, 2))),
                                   weights({6}, 3), scale, weights({6}, 4)},
                                  op));
    SmallOperator reads_bytes = of_bytes(list.back());
    // The convolution finds the range of its results.
    SmallOperator ranged = list.back();
    ranged.name += ", then DynamicSteps";
    const ValueId steps_of_results = ranged.graph.add_value("steps");
    ranged.graph.nodes.push_back(
        {"DynamicSteps", std::make_shared<DynamicSteps>(), ranged.graph.outputs, {steps_of_results}});
    ranged.graph.outputs = {steps_of_results};
    list.push_back(std::move(ranged));
    list.push_back(std::move(reads_bytes));
  }
}

// Functions of rows in integers, along the channels and along the last dimension.
void add_fixed_rows(std::vector<SmallOperator>& list) {
  constexpr std::pair<const char*, FixedRowsKind> kKinds[] = {
      {"FixedRows, softmax", FixedRowsKind::softmax},
      {"FixedRows, softmax of 16 bits", FixedRowsKind::softmax_16},
      {"FixedRows, unit length", FixedRowsKind::unit_length},
      {"FixedRows, unit length of uint8", FixedRowsKind::unit_length_u8}};
  for (const auto& [name, kind] : kKinds)
    for (const int64_t axis : {1, 3}) {
      auto op = std::make_shared<FixedRows>();
      op->kind = kind;
      op->axis = axis;
      op->x_step = 1.0f / 16.0f;
      op->y_step = kind == FixedRowsKind::softmax_16 ? 0x1p-15f : 0x1p-8f;
      op->y_most = kind == FixedRowsKind::softmax_16 ? 32767 : 255;
      list.push_back(small_operator(name + std::string(axis == 1 ? ", of channels" : ""), "FixedRows",
                                    {steps({1, 10, 9, 7})}, std::move(op)));
    }
}

// A product of two tensors of integers, of which half of the sums are ties.
void add_fixed_matmul(std::vector<SmallOperator>& list) {
  constexpr float kStep = 1.0f / 16;
  auto op = std::make_shared<FixedMatMul>();
  op->fixed_point = fixed_matmul(kStep, kStep, 2 * kStep * kStep);
  op->activation = {.step = op->fixed_point.y_step, .least = -128, .most = 127, .ties_away = true};
  const auto integers = [](const Shape& shape, int64_t seed) {
    Operand operand = small_integers(shape, seed);
    operand.tensor = cast(operand.tensor, DType::f32);
    for (float& value : operand.tensor.mutable_as<float>()) value *= kStep;
    return operand;
  };
  SmallOperator made =
      small_operator("FixedMatMul", "FixedMatMul", {integers({2, 9, 13}, 1), integers({2, 13, 6}, 2)}, op);
  round_input(made.graph, 1, kStep);
  round_input(made.graph, 0, kStep);
  list.push_back(std::move(made));
}

// Layers of integers of 16 bits.
void add_layers_of_16_bits(std::vector<SmallOperator>& list) {
  // Kernels of halves compute the same numbers in floats, hence the scales are those of the multiplier.
  constexpr float kStep = 1.0f / 16, kSumStep = 1.0f / 64, kMultiplier = 0.3f;
  constexpr float kWeightStep = kMultiplier * kSumStep / kStep, kBias = -5.0f;
  const auto fixed_point = [&](size_t outputs) {
    auto fixed = std::make_shared<FixedPoint>();
    fixed->x_scale = kStep;
    fixed->y_scale = kSumStep;
    fixed->has_16_bits = true;
    fixed->w_scale.assign(outputs, kWeightStep);
    fixed->bias.assign(outputs, static_cast<int64_t>(kBias));
    fixed->multipliers.assign(outputs, short_multiplier(fixed_multiplier(kMultiplier)));
    return fixed;
  };
  const auto multiples = [](const Operand& integers, float step) {
    HostTensor tensor = cast(integers.tensor, DType::f32);
    for (float& value : tensor.mutable_as<float>()) value *= step;
    return tensor;
  };
  const auto add = [&](const char* name, const char* type, Shape x, Shape w, const auto& layer) {
    const auto outputs = static_cast<int64_t>(layer->fixed_point->w_scale.size());
    const std::vector<float> bias(static_cast<size_t>(outputs), kBias * kStep * kWeightStep);
    SmallOperator made = small_operator(
        name, type,
        {{multiples(small_integers(std::move(x), 1), kStep)},
         {multiples(small_integers(std::move(w), 2), kWeightStep), true},
         {HostTensor::from<float>(DType::f32, {outputs}, bias), true}},
        layer->with_activation({.step = kSumStep, .least = -32768, .most = 32767, .ties_away = true}));
    made.graph.has_integer_weights = true;
    list.push_back(std::move(made));
  };
  const auto conv = [&](size_t outputs, int64_t group, int64_t pad) {
    auto op = std::make_shared<Conv>();
    op->group = group;
    op->window.pads.assign(4, pad);
    op->fixed_point = fixed_point(outputs);
    return op;
  };
  add("Conv 1x1 of 16 bits", "Conv", {1, 20, 9, 7}, {24, 20, 1, 1}, conv(24, 1, 0));
  add("Conv 3x3 of 16 bits", "Conv", {1, 12, 9, 7}, {16, 12, 3, 3}, conv(16, 1, 1));
  add("Conv 3x3 depthwise of 16 bits", "Conv", {1, 20, 13, 11}, {20, 1, 3, 3}, conv(20, 20, 1));
  auto transposed = std::make_shared<ConvTranspose>();
  transposed->fixed_point = fixed_point(16);
  add("ConvTranspose 3x3 of 16 bits", "ConvTranspose", {1, 12, 9, 7}, {12, 16, 3, 3}, transposed);
}

// Multiples of 1/64 with a magnitude of 127/64 in each row of `channels`: no byte is rounded the other way.
Operand exact_rows(Shape shape, int64_t channels, uint32_t seed) {
  Operand operand = computed(std::move(shape), seed);
  size_t i = 0;
  for (float& value : operand.tensor.mutable_as<float>())
    value = i++ % static_cast<size_t>(channels) == 0 ? 127.0f / 64 : std::nearbyint(value * 64) / 64;
  return operand;
}

// Attention of a cache in bytes, into which new tokens are written.
void add_byte_caches(std::vector<SmallOperator>& list) {
  const int64_t heads = 2, capacity = 21, tokens = 3, channels = 16;
  const Shape cache{1, heads, capacity, channels}, added{1, heads, tokens, channels};
  auto update = std::make_shared<CacheUpdate>();
  update->axis = 2;
  update->channels = channels;
  update->cache_type = {DType::f32, cache};
  const Operand past{to_byte_rows(exact_rows(cache, channels, 1).tensor, channels), false};
  SmallOperator made = small_operator(
      "Attention of a cache in bytes", "CacheUpdate",
      {past, exact_rows(added, channels, 2), Operand{HostTensor::i64({1}, std::array{int64_t{9}}), false}},
      update);
  auto attention = std::make_shared<Attention>();
  attention->cache_rows = RowFormat::scaled_bytes;
  const StridedView rows{0, cache, row_major_strides(byte_rows_shape(cache, channels))};
  attention->views = {StridedView{0, added, row_major_strides(added)}, rows, rows};
  attention->output = added;
  Graph& graph = made.graph;
  const ValueId present = graph.outputs[0], y = graph.add_value("y");
  graph.nodes.push_back({"Attention",
                         std::move(attention),
                         {graph.inputs[1], present, present, kNoValue,
                          graph.add_constant("length", HostTensor::i64({1}, std::array{int64_t{12}}))},
                         {y}});
  graph.outputs = {y};
  list.push_back(std::move(made));
}

// Attention of a cache of integers, of 8 or of 4 bits, into which new tokens are written. `scale`: the shape
// of the scale that divides tokens of floats; empty: tokens are integers.
void add_integer_caches(std::vector<SmallOperator>& list, RowFormat rows, const Shape& scale = {}) {
  const int64_t heads = 2, capacity = 21, tokens = 3, channels = 16;
  const bool has_nibbles = rows == RowFormat::nibbles;
  const DType dtype = has_nibbles ? DType::u8 : DType::i8;
  const Shape cache{1, heads, capacity, channels}, added{1, heads, tokens, channels};
  const auto integers = [&](Shape shape) {
    if (has_nibbles) shape.back() /= 2;
    std::vector<int64_t> values(static_cast<size_t>(element_count(shape)));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<int64_t>(i * 89 % 256) - (has_nibbles ? 0 : 128);
    return HostTensor::from<int64_t>(dtype, shape, values);
  };
  auto update = std::make_shared<CacheUpdate>();
  update->axis = 2;
  update->rows = rows;
  update->cache_type = integers(cache).type();
  update->channels = update->cache_type.shape.back();
  std::vector<Operand> operands{Operand{pack_bytes(integers(cache)), false}, Operand{integers(added), false},
                                Operand{HostTensor::i64({1}, std::array{int64_t{9}}), false}};
  if (!scale.empty()) {
    operands[1] = exact_rows(added, channels, 3);
    const std::vector<float> steps(static_cast<size_t>(element_count(scale)), 3.0f / 64);
    operands.push_back(Operand{HostTensor::f32(scale, steps), false});
  }
  SmallOperator made = small_operator(std::string(has_nibbles ? "Attention of a cache of 4-bit integers"
                                                              : "Attention of a cache of 8-bit integers") +
                                          (scale.empty() ? "" : ", quantised"),
                                      "CacheUpdate", operands, update);
  auto attention = std::make_shared<Attention>();
  attention->cache_rows = rows;
  attention->scale = has_nibbles ? 0.25f : 1.0f / 64;
  const StridedView words{0, cache, row_major_strides(made.graph.values[made.graph.inputs[0]].type.shape)};
  attention->views = {StridedView{0, added, row_major_strides(added)}, words, words};
  attention->output = added;
  Graph& graph = made.graph;
  const ValueId present = graph.outputs[0], y = graph.add_value("y"),
                q = graph.add_constant("q", exact_rows(added, channels, 2).tensor);
  graph.nodes.push_back({"Attention",
                         std::move(attention),
                         {q, present, present, kNoValue,
                          graph.add_constant("length", HostTensor::i64({1}, std::array{int64_t{12}}))},
                         {y}});
  graph.outputs = {y};
  list.push_back(std::move(made));
}

}  // namespace

void add_quantised_operators(std::vector<SmallOperator>& list) {
  add_byte_table(list);
  add_result_tables(list);
  add_rounded_scaling(list);
  add_fused_tables(list);
  add_fixed_rows(list);
  add_fixed_matmul(list);
  add_layers_of_16_bits(list);
  add_dynamic_quantization(list);
  add_byte_caches(list);
  add_integer_caches(list, RowFormat::bytes);
  add_integer_caches(list, RowFormat::nibbles);
  add_integer_caches(list, RowFormat::bytes, {1});
  add_integer_caches(list, RowFormat::nibbles, {1, 2, 1, 16});
}

}  // namespace vellum

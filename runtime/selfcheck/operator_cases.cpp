#include "selfcheck/operator_cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "graph/operators/matmul/attention.hpp"
#include "graph/operators/matmul/block_product.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/movement/block_gather.hpp"
#include "graph/operators/reduction/channel_norm.hpp"
#include "graph/operators/reduction/normalization.hpp"
#include "graph/operators/reduction/pool.hpp"
#include "graph/operators/reduction/squeeze_excite.hpp"
#include "kernels/fused/branches.hpp"
#include "kernels/fused/expand.hpp"
#include "kernels/fused/mean.hpp"
#include "kernels/fused/norm.hpp"
#include "kernels/fused/pool.hpp"
#include "kernels/fused/separable.hpp"
#include "kernels/fused/squeeze_excite.hpp"
#include "selfcheck/elementwise_cases.hpp"
#include "selfcheck/epilogue_cases.hpp"
#include "selfcheck/function_cases.hpp"
#include "selfcheck/movement_cases.hpp"
#include "selfcheck/pixel_move_cases.hpp"
#include "selfcheck/quantised_cases.hpp"
#include "selfcheck/weight_cases.hpp"

namespace vellum {
namespace {

using namespace selfcheck;
using Ints = std::vector<int64_t>;

const Ints kPad1{1, 1, 1, 1}, kPad2{2, 2, 2, 2}, kTwo{2, 2};

void add_convolutions(std::vector<SmallOperator>& list) {
  const auto conv = [&](const char* name, Shape x, Shape w, AttributePairs attributes) {
    const int64_t channels = w[0];
    list.push_back(small_operator(
        name, "Conv", {computed(std::move(x)), weights(std::move(w)), weights({channels}, 3)}, attributes));
  };
  conv("Conv 1x1", {1, 24, 13, 11}, {20, 24, 1, 1}, {});
  conv("Conv 3x3", {1, 12, 13, 11}, {20, 12, 3, 3}, {{"pads", kPad1}});
  conv("Conv 3x3 of a picture", {1, 3, 17, 19}, {12, 3, 3, 3}, {{"pads", kPad1}, {"strides", kTwo}});
  conv("Conv 3x3 in groups", {1, 16, 9, 10}, {24, 4, 3, 3}, {{"pads", kPad1}, {"group", int64_t{4}}});
  conv("Conv 3x3 depthwise", {1, 20, 13, 11}, {20, 1, 3, 3}, {{"pads", kPad1}, {"group", int64_t{20}}});
  conv("Conv 5x5 depthwise", {1, 20, 13, 11}, {20, 1, 5, 5},
       {{"pads", kPad2}, {"strides", kTwo}, {"group", int64_t{20}}});
  conv("Conv 3x3, dilated", {1, 12, 13, 11}, {20, 12, 3, 3}, {{"pads", kPad2}, {"dilations", kTwo}});
  list.push_back(small_operator("ConvTranspose 3x3", "ConvTranspose",
                                {computed({1, 12, 7, 6}), weights({12, 8, 3, 3}), weights({8}, 3)},
                                {{"strides", kTwo}, {"pads", kPad1}}));
  list.push_back(small_operator("ConvTranspose 2x2", "ConvTranspose",
                                {computed({1, 12, 7, 6}), weights({12, 8, 2, 2})}, {{"strides", kTwo}}));
}

// A depthwise convolution with the padding that keeps the size at steps of one.
std::shared_ptr<Conv> depthwise_conv(int64_t channels, int64_t kernel, int64_t stride) {
  auto conv = std::make_shared<Conv>();
  conv->group = channels;
  conv->window.strides = {stride, stride};
  conv->window.pads = kernel == 3 ? kPad1 : kPad2;
  return conv;
}

// Channels of the depthwise convolution that multiply 3x3 taps of a 5x5 window beside others that multiply
// all.
void add_boxes_of_taps(std::vector<SmallOperator>& list) {
  auto conv = depthwise_conv(20, 5, 1);
  conv->channel_taps = {{6, {0, 1, 1}, {1, 3, 3}}, {14, {0, 0, 0}, {1, 5, 5}}};
  list.push_back(small_operator("Conv 3x3 and 5x5 depthwise", "Conv",
                                {computed({1, 20, 13, 11}), weights({20, 1, 5, 5}), weights({20}, 3)},
                                std::move(conv)));
}

std::shared_ptr<Conv> with_relu(std::shared_ptr<Conv> conv) {
  conv->activation.kind = ActivationKind::relu;
  return conv;
}

std::shared_ptr<SqueezeExcite> squeeze_excite() {
  auto squeeze = std::make_shared<SqueezeExcite>();
  squeeze->hidden.kind = ActivationKind::relu;
  squeeze->gate.kind = ActivationKind::sigmoid;
  return squeeze;
}

// The node gets a second output.
SmallOperator with_gates(SmallOperator made) {
  made.graph.nodes[0].outputs.push_back(made.graph.add_value("gates"));
  made.graph.outputs = made.graph.nodes[0].outputs;
  return made;
}

// --- Nodes that fuse() makes for GPUs ---

void add_separable_nodes(std::vector<SmallOperator>& list) {
  const auto add = [&](const char* name, const Shape& x, int64_t filters, int64_t kernel, int64_t stride) {
    list.push_back(small_operator(
        name, "SeparableConv",
        {computed(x), weights({x[1], 1, kernel, kernel}), weights({x[1]}, 3),
         weights({filters, x[1], 1, 1}, 4), weights({filters}, 5)},
        separable_nodes(with_relu(depthwise_conv(x[1], kernel, stride)), std::make_shared<Conv>())));
  };
  add("SeparableConv 3x3", {1, 20, 13, 11}, 24, 3, 1);
  add("SeparableConv 3x3, steps of two", {1, 20, 13, 11}, 24, 3, 2);
  add("SeparableConv 5x5 of many channels", {1, 140, 7, 7}, 36, 5, 1);
}

void add_squeeze_excite_nodes(std::vector<SmallOperator>& list) {
  const auto add = [&](const char* name, const Shape& x, int64_t kernel, int64_t stride) {
    list.push_back(with_gates(small_operator(
        name, "ConvSqueezeExcite",
        {computed(x), weights({x[1], 1, kernel, kernel}), weights({x[1]}, 3), weights({8, x[1], 1, 1}, 4),
         weights({8}, 5), weights({x[1], 8, 1, 1}, 6), weights({x[1]}, 7)},
        squeeze_excite_nodes(depthwise_conv(x[1], kernel, stride), squeeze_excite()))));
  };
  add("ConvSqueezeExcite 3x3", {1, 20, 13, 11}, 3, 1);
  add("ConvSqueezeExcite 5x5, steps of two", {1, 20, 17, 15}, 5, 2);
}

// With gates of `hidden` channels or without.
void add_expand_nodes(std::vector<SmallOperator>& list) {
  const auto add = [&](const char* name, const Shape& x, int64_t channels, int64_t kernel, int64_t stride,
                       int64_t hidden) {
    std::vector<Operand> inputs{computed(x), weights({channels, x[1], 1, 1}), weights({channels}, 3),
                                weights({channels, 1, kernel, kernel}, 4), weights({channels}, 5)};
    if (hidden > 0)
      for (const Operand& input : {weights({hidden, channels, 1, 1}, 6), weights({hidden}, 7),
                                   weights({channels, hidden, 1, 1}, 8), weights({channels}, 9)})
        inputs.push_back(input);
    SmallOperator made = small_operator(
        name, "ExpandConv", std::move(inputs),
        expand_nodes(with_relu(std::make_shared<Conv>()), depthwise_conv(channels, kernel, stride),
                     hidden > 0 ? squeeze_excite() : nullptr));
    list.push_back(hidden > 0 ? with_gates(std::move(made)) : std::move(made));
  };
  add("ExpandConv 3x3", {1, 12, 13, 11}, 20, 3, 1, 0);
  add("ExpandConv 5x5, steps of two", {1, 12, 17, 15}, 20, 5, 2, 0);
  add("ExpandConv 3x3 with gates", {1, 12, 14, 14}, 20, 3, 1, 8);
}

void add_branch_nodes(std::vector<SmallOperator>& list) {
  auto wide = std::make_shared<Conv>();
  wide->window.pads = kPad1;
  list.push_back(small_operator("Conv 1x1 and 3x3", "Conv",
                                {computed({1, 12, 13, 11}), weights({16, 12, 1, 1}), weights({16}, 3),
                                 weights({20, 12, 3, 3}, 4), weights({20}, 5)},
                                branch_nodes(std::make_shared<Conv>(), std::move(wide))));
}

void add_pool_nodes(std::vector<SmallOperator>& list) {
  for (const int64_t stride : {1, 2}) {
    auto pool = std::make_shared<Pool>();
    pool->window.kernel = {3, 3};
    pool->window.strides = {stride, stride};
    pool->window.pads = kPad1;
    list.push_back(small_operator(stride == 1 ? "PoolConv 3x3" : "PoolConv 3x3, steps of two", "PoolConv",
                                  {computed({1, 20, 13, 11}), weights({24, 20, 1, 1}), weights({24}, 3)},
                                  pool_nodes(std::move(pool), std::make_shared<Conv>())));
  }
}

void add_mean_nodes(std::vector<SmallOperator>& list) {
  for (const int64_t channels : {20, 260})
    list.push_back(
        small_operator(channels == 20 ? "ConvMean" : "ConvMean of many channels", "ConvMean",
                       {computed({1, channels, 7, 7}), weights({24, channels, 1, 1}), weights({24}, 3)},
                       mean_nodes(std::make_shared<Conv>())));
}

void add_norm_nodes(std::vector<SmallOperator>& list) {
  for (const int64_t channels : {40, 260})
    list.push_back(
        small_operator(channels == 40 ? "ProductNorm" : "ProductNorm of many channels", "ProductNorm",
                       {computed({9, channels}), weights({channels, 36}), weights({36}, 3),
                        computed({9, 36}, 4), weights({36}, 5), weights({36}, 6)},
                       norm_nodes(std::make_shared<Gemm>(), std::make_shared<LayerNormalization>(), true)));
  auto norm = std::make_shared<ChannelNormalization>();
  norm->centred = false;
  norm->activation = {.kind = ActivationKind::relu};
  list.push_back(small_operator("ProductNorm of pictures", "ProductNorm",
                                {computed({1, 20, 5, 7}), weights({22, 20, 1, 1}), weights({22}, 3),
                                 computed({1, 22, 5, 7}, 4), weights({22}, 5), weights({22}, 6)},
                                norm_nodes(std::make_shared<Conv>(), std::move(norm), false)));
}

void add_products(std::vector<SmallOperator>& list) {
  list.push_back(small_operator("Gemm", "Gemm", {computed({7, 40}), weights({40, 30}), weights({30}, 3)}));
  list.push_back(small_operator("Gemm of a constant and a computed matrix", "Gemm",
                                {weights({9, 38}), computed({38, 30}), weights({9, 1}, 3)}));
  list.push_back(small_operator("MatMul", "MatMul", {computed({2, 9, 20}), computed({2, 20, 14}, 2)}));
  list.push_back(
      small_operator("MatMul of texels", "MatMul", {computed({2, 8, 20}), computed({2, 20, 16}, 2)}));
  list.push_back(
      small_operator("Attention", "Attention",
                     {computed({1, 4, 20, 16}), computed({1, 4, 20, 16}, 2), computed({1, 4, 20, 16}, 3)}));
  list.push_back(small_operator("Attention with a mask", "Attention",
                                {computed({1, 4, 20, 16}), computed({1, 4, 20, 16}, 2),
                                 computed({1, 4, 20, 16}, 3), masked({20, 20})}));
  auto capped = std::make_shared<Attention>();
  capped->softcap = 2.0f;
  SmallOperator sinks =
      small_operator("Attention with a soft cap and sinks", "Attention",
                     {computed({1, 4, 20, 16}), computed({1, 4, 20, 16}, 2), computed({1, 4, 20, 16}, 3)},
                     std::move(capped));
  std::vector<ValueId>& inputs = sinks.graph.nodes.back().inputs;
  inputs.resize(5, kNoValue);
  inputs.push_back(sinks.graph.add_constant("sinks", weights({4}).tensor));
  list.push_back(std::move(sinks));
  // Two heads of eight channels, whose tokens are pixels.
  auto pictures = std::make_shared<Attention>();
  const StridedView pixels{0, {1, 2, 20, 8}, {320, 160, 1, 20}};
  pictures->views = {pixels, pixels, pixels};
  pictures->output = {1, 2, 20, 8};
  list.push_back(
      small_operator("Attention of pictures", "Attention",
                     {computed({1, 16, 4, 5}), computed({1, 16, 4, 5}, 2), computed({1, 16, 4, 5}, 3)},
                     std::move(pictures)));
  for (const int64_t images : {1, 2}) {
    const Shape tokens{images, 4, 20, 16};
    SmallOperator biased = small_operator(
        images == 1 ? "Attention with a bias of keys" : "Attention with a bias of the keys of each image",
        "Attention", {computed(tokens), computed(tokens, 2), computed(tokens, 3), masked({20, 20})},
        std::make_shared<Attention>());
    std::vector<ValueId>& operands = biased.graph.nodes.back().inputs;
    operands.resize(6, kNoValue);
    operands.push_back(biased.graph.add_constant("key_bias", weights({images, 4, 1, 20}).tensor));
    list.push_back(std::move(biased));
  }
  auto rounded = std::make_shared<Attention>();
  rounded->score_rounding = {.step = 1.0f / 16, .least = -128, .most = 127};
  rounded->weight_rounding = {.step = 1.0f / 256, .least = 0, .most = 255};
  rounded->scale = 1.0f / 64;
  list.push_back(small_operator("Attention, rounded", "Attention",
                                {steps({1, 4, 20, 16}), steps({1, 4, 20, 16}), computed({1, 4, 20, 16}, 3)},
                                rounded));
  auto operands = std::make_shared<Attention>(*rounded);
  operands->q_rounding = operands->k_rounding = {0.5f, {.step = 1.0f / 16, .least = -128, .most = 127}};
  list.push_back(small_operator("Attention of rounded operands", "Attention",
                                {steps({1, 4, 20, 16}), steps({1, 4, 20, 16}), computed({1, 4, 20, 16}, 3)},
                                operands));
  auto cosines = std::make_shared<Attention>();
  cosines->q_norm = {1e-6f, std::vector<float>(4 * 16, 0.25f)};
  cosines->k_norm = {1e-6f, std::vector<float>(4 * 16, 0.5f)};
  list.push_back(small_operator(
      "Attention of normalised operands", "Attention",
      {computed({1, 4, 20, 16}), computed({1, 4, 20, 16}, 2), computed({1, 4, 20, 16}, 3)}, cosines));
}

// Bytes of any value, as packed weights have.
Operand octets(Shape shape, uint32_t seed) {
  HostTensor tensor(DType::u8, std::move(shape));
  uint32_t state = seed;
  for (uint8_t& byte : tensor.mutable_as<uint8_t>()) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<uint8_t>(state >> 24);
  }
  return {std::move(tensor), true};
}

// Products and tables with packed weights, which MatMulNBits and GatherBlockQuantized become.
void add_packed_weights(std::vector<SmallOperator>& list) {
  for (const int64_t rows : {1, 9})
    for (const int64_t bits : {4, 8}) {
      auto op = std::make_shared<BlockProduct>();
      op->weights.rows = 72, op->weights.columns = 13, op->weights.bits = bits, op->weights.block = 32;
      list.push_back(small_operator(
          "MatMulNBits of " + std::to_string(bits) + " bits" + (rows == 1 ? ", one row" : ""), "BlockProduct",
          {computed({rows, 72}), octets({13, 3, 4 * bits}, 2), as_constant(positive({39}, 3)),
           octets({13, (3 * bits + 7) / 8}, 4), weights({13}, 5)},
          std::move(op)));
    }
  auto rows = std::make_shared<BlockGather>();
  rows->bits = 4, rows->block = 16, rows->packed_pairs = rows->is_centred = true;
  list.push_back(small_operator(
      "GatherBlockQuantized", "BlockGather",
      {octets({9, 18}, 2), small_integers({3}), as_constant(positive({9, 3}, 3)), octets({9, 2}, 4)},
      std::move(rows)));
}

void add_reductions(std::vector<SmallOperator>& list) {
  list.push_back(small_operator("Softmax", "Softmax", {masked({3, 50})}, {{"axis", int64_t{-1}}}));
  list.push_back(small_operator("LayerNormalization", "LayerNormalization",
                                {computed({5, 36}), weights({36}), weights({36}, 3)}));
  list.push_back(small_operator("ChannelNormalization", "ChannelNormalization",
                                {computed({1, 34, 7, 9}), weights({34}), weights({34}, 3)}));
  list.push_back(small_operator("ChannelNormalization without a mean", "ChannelNormalization",
                                {computed({1, 34, 7, 9}), weights({34})}, {{"centred", int64_t{0}}}));
  list.push_back(small_operator("InstanceNormalization", "InstanceNormalization",
                                {computed({1, 6, 7, 9}), weights({6}), weights({6}, 3)}));
  list.push_back(small_operator("GroupNormalization", "GroupNormalization",
                                {computed({1, 16, 7, 9}), weights({16}), weights({16}, 3)},
                                {{"num_groups", int64_t{2}}}));
  list.push_back(small_operator("GroupNormalization within slices", "GroupNormalization",
                                {computed({1, 12, 7, 9}), weights({12}), weights({12}, 3)},
                                {{"num_groups", int64_t{4}}}));
  list.push_back(small_operator("ReduceMean", "ReduceMean", {computed({1, 10, 7, 9}), integers({2, 3})}));
  list.push_back(small_operator("ReduceMax", "ReduceMax", {masked({4, 9, 11}), integers({1})}));
  list.push_back(small_operator("GlobalAveragePool", "GlobalAveragePool", {computed({1, 18, 7, 9})}));
  list.push_back(small_operator("MaxPool 2x2", "MaxPool", {masked({1, 10, 9, 11})},
                                {{"kernel_shape", kTwo}, {"strides", kTwo}}));
  list.push_back(small_operator("AveragePool 3x3", "AveragePool", {computed({1, 10, 9, 11})},
                                {{"kernel_shape", Ints{3, 3}}, {"pads", kPad1}}));
  list.push_back(small_operator("AdaptiveAveragePool", "AdaptiveAveragePool", {computed({1, 10, 9, 11})},
                                {{"height", int64_t{4}}, {"width", int64_t{7}}}));
  list.push_back(
      small_operator("Softmax of channels", "Softmax", {masked({1, 12, 7, 9})}, {{"axis", int64_t{1}}}));
  list.push_back(
      small_operator("Softmax of rows", "Softmax", {masked({1, 3, 9, 40})}, {{"axis", int64_t{-1}}}));
  list.push_back(small_operator("LogSoftmax", "LogSoftmax", {masked({3, 50})}, {{"axis", int64_t{-1}}}));
  list.push_back(
      small_operator("ReduceSum of channels", "ReduceSum", {computed({1, 10, 7, 9}), integers({1})}));
  list.push_back(small_operator("ReduceL2", "ReduceL2", {computed({1, 10, 7, 9}), integers({1})}));
  list.push_back(small_operator("GlobalMaxPool", "GlobalMaxPool", {masked({1, 18, 7, 9})}));
  list.push_back(small_operator("LRN", "LRN", {computed({1, 10, 7, 9})}, {{"size", int64_t{5}}}));
  list.push_back(small_operator("BatchNormalization", "BatchNormalization",
                                {computed({1, 10, 7, 9}), weights({10}), weights({10}, 3), weights({10}, 4),
                                 Operand{positive({10}).tensor, true}}));
  list.push_back(small_operator("ArgMax", "ArgMax", {steps({1, 10, 7, 9})}, {{"axis", int64_t{1}}}));
  list.push_back(small_operator("Multinomial", "Multinomial", {computed({3, 40})},
                                {{"seed", 1.0f}, {"sample_size", int64_t{5}}}));
  list.push_back(small_operator("TopK", "TopK", {steps({4, 30}), integers({5})}));
  list.push_back(small_operator("TopK of long rows", "TopK", {steps({2, 600}), integers({20})}));
  list.push_back(
      small_operator("CumSum", "CumSum", {computed({5, 13}), {HostTensor::i64({}, Ints{1}), true}}));
}

// Batches of six steps, in both directions. Drivers that run on the CPU process some of seven together.
void add_recurrent_layers(std::vector<SmallOperator>& list) {
  constexpr int64_t kInputs = 10, kUnits = 13;
  struct Layer {
    const char *name, *type;
    int64_t gates, batches;
  };
  for (const auto& [name, type, gates, batches] :
       {Layer{"LSTM", "LSTM", 4, 2}, Layer{"GRU", "GRU", 3, 2}, Layer{"RNN", "RNN", 1, 2},
        Layer{"LSTM of seven batches", "LSTM", 4, 7}})
    list.push_back(
        small_operator(name, type,
                       {computed({6, batches, kInputs}), weights({2, gates * kUnits, kInputs}),
                        weights({2, gates * kUnits, kUnits}, 3), weights({2, 2 * gates * kUnits}, 4)},
                       {{"hidden_size", kUnits}, {"direction", std::string("bidirectional")}}));
}

// The operator that the pass fuse_squeeze_excite makes.
void add_squeeze_excite(std::vector<SmallOperator>& list) {
  list.push_back(small_operator("SqueezeExcite", "SqueezeExcite",
                                {computed({1, 20, 7, 9}), weights({6, 20, 1, 1}), weights({6}, 3),
                                 weights({20, 6, 1, 1}, 4), weights({20}, 5)},
                                squeeze_excite()));
}

}  // namespace

std::vector<SmallOperator> small_operators() {
  std::vector<SmallOperator> list;
  add_convolutions(list);
  add_boxes_of_taps(list);
  add_separable_nodes(list);
  add_squeeze_excite_nodes(list);
  add_expand_nodes(list);
  add_branch_nodes(list);
  add_pool_nodes(list);
  add_mean_nodes(list);
  add_norm_nodes(list);
  add_products(list);
  add_packed_weights(list);
  add_reductions(list);
  add_elementwise_operators(list);
  add_recurrent_layers(list);
  add_integer_operators(list);
  add_squeeze_excite(list);
  add_quantised_operators(list);
  add_movement_operators(list);
  add_epilogues(list);
  add_pixel_moves(list);
  add_functions(list);
  add_integer_weights(list);
  return list;
}

}  // namespace vellum

// Attention on every storage and precision against the host reference.
#include "graph/operators/matmul/attention.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "caps/vendors.hpp"
#include "kernels/gpu_named.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace attention_test {

OperatorCase attention(Shape q, Shape k, Shape v, std::optional<HostTensor> mask = {}) {
  OperatorCase test;
  test.type = "Attention";
  test.opset = 23;
  test.inputs = {random_tensor(std::move(q), 1), random_tensor(std::move(k), 2),
                 random_tensor(std::move(v), 3)};
  if (mask) test.inputs.push_back(std::move(mask));
  // Attention reads linear tensors. Layout conversions have their own tests.
  test.sweep.channels4_inputs = false;
  // Wide heads and masks are checked without Arithmetic::fp16: masks affect the scores alone.
  test.sweep.arithmetic_fp16 = test.inputs.size() == 3 && test.inputs[2]->shape().back() <= 8;
  return test;
}

TEST(Attention, OddNumbersOfTokens) {
  check_operator(attention({1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}));
  check_operator(attention({2, 3, 7, 5}, {2, 3, 65, 5}, {2, 3, 65, 4}));
  check_operator(attention({1, 2, 65, 5}, {1, 2, 1, 5}, {1, 2, 1, 5}));
  check_operator(attention({1, 2, 257, 5}, {1, 2, 257, 5}, {1, 2, 257, 5}));
}

// More keys than the loops of an invocation may run: it loads more slices at a time, and shares the keys.
TEST(Attention, ManyKeys) {
  DeviceCaps caps = test_context()->caps();
  caps.max_loop_iterations = 1000;
  for (const int64_t keys : {128, 333, 1030}) {
    check_operator(attention({1, 2, 3, 16}, {1, 2, keys, 16}, {1, 2, keys, 8}), caps);
    check_operator(attention({1, 1, 5, 70}, {1, 1, keys, 70}, {1, 1, keys, 5}), caps);
  }
  OperatorCase test = attention({1, 1, 5, 1024}, {1, 1, 1100, 1024}, {1, 1, 1100, 4});
  test.sweep.fp16 = false;
  check_operator(test);  // 275 times 256 iterations, and more
}

TEST(Attention, WideHeads) {
  check_operator(attention({1, 2, 7, 32}, {1, 2, 9, 32}, {1, 2, 9, 32}));
  check_operator(attention({1, 2, 19, 64}, {1, 2, 33, 64}, {1, 2, 33, 64}));
  check_operator(attention({1, 1, 6, 72}, {1, 1, 7, 72}, {1, 1, 7, 72}));
  check_operator(attention({1, 1, 3, 6}, {1, 1, 5, 6}, {1, 1, 5, 131}));
}

TEST(Attention, HeadsInTheLastDimension) {
  for (const auto& [q_heads, kv_heads] : {std::pair<int64_t, int64_t>{3, 3}, {6, 3}, {6, 2}}) {
    OperatorCase test = attention({2, 5, 8 * q_heads}, {2, 6, 8 * kv_heads}, {2, 6, 5 * kv_heads});
    test.attributes.set("q_num_heads", q_heads);
    test.attributes.set("kv_num_heads", kv_heads);
    check_operator(test);
  }
}

TEST(Attention, MasksThatBroadcast) {
  for (const Shape& mask : {Shape{7}, Shape{5, 7}, Shape{3, 1, 7}, Shape{2, 1, 5, 7}, Shape{2, 3, 5, 7}})
    check_operator(attention({2, 3, 5, 8}, {2, 3, 7, 8}, {2, 3, 7, 8}, random_tensor(mask, 4, -3.0f, 3.0f)));
}

TEST(Attention, MasksThatExclude) {
  HostTensor mask(DType::boolean, {5, 7});
  auto bits = mask.mutable_as<uint8_t>();
  for (size_t i = 0; i < bits.size(); ++i)
    bits[i] = i % 7 == 6 || i % 3 == 1;  // whole groups of four left out, too
  check_operator(attention({1, 2, 5, 8}, {1, 2, 7, 8}, {1, 2, 7, 8}, mask));
  for (size_t i = 0; i < 7; ++i) bits[7 + i] = 0;  // a token that attends to no key
  check_operator(attention({1, 2, 5, 8}, {1, 2, 7, 8}, {1, 2, 7, 8}, mask));
  OperatorCase causal = attention({1, 2, 6, 8}, {1, 2, 9, 8}, {1, 2, 9, 8});
  causal.attributes.set("is_causal", int64_t{1});
  check_operator(causal);
}

// Caches of which each image fills another part, over storages, windows, masks, and in three dimensions.
TEST(Attention, LengthsOfCaches) {
  struct Case {
    int64_t queries, keys, heads, kv_heads, channels, window;
    bool causal, has_mask, tokens_first;
    std::vector<int64_t> lengths;
  };
  for (const Case& c : {Case{1, 67, 4, 2, 8, 0, true, false, false, {67, 1}},
                        Case{5, 67, 4, 2, 8, 0, true, false, true, {34, 5}},
                        Case{3, 30, 2, 2, 20, 4, true, false, false, {30, 7}},
                        Case{2, 21, 2, 1, 6, 0, false, true, false, {0, 13}},
                        Case{9, 40, 3, 3, 8, 9, true, true, true, {40, 22}}}) {
    OperatorCase test =
        c.tokens_first ? attention({2, c.queries, c.heads * c.channels}, {2, c.keys, c.kv_heads * c.channels},
                                   {2, c.keys, c.kv_heads * c.channels})
                       : attention({2, c.heads, c.queries, c.channels}, {2, c.kv_heads, c.keys, c.channels},
                                   {2, c.kv_heads, c.keys, c.channels});
    auto op = std::make_shared<Attention>();
    op->causal = c.causal;
    op->window = c.window;
    op->q_heads = c.heads;
    op->kv_heads = c.kv_heads;
    test.op = op;
    test.inputs.push_back(c.has_mask ? std::optional(random_tensor({c.queries, c.keys}, 4)) : std::nullopt);
    test.inputs.push_back(HostTensor::i64({2}, c.lengths));
    check_operator(test);
  }
}

// Scores far past 65504, where a half would be infinite and the softmax NaN.
TEST(Attention, LargeScoresDoNotOverflow) {
  OperatorCase test = attention({1, 1, 6, 64}, {1, 1, 10, 64}, {1, 1, 10, 8});
  test.inputs[0] = random_tensor({1, 1, 6, 64}, 1, 100.0f, 120.0f);
  test.inputs[1] = random_tensor({1, 1, 10, 64}, 2, -120.0f, 120.0f);
  test.attributes.set("scale", 1.0f);
  test.sweep.fp32_tolerance = 1e-3;
  check_operator(test);
}

TEST(Attention, ScoresThatGrowAlongTheKeys) {
  OperatorCase test = attention({1, 1, 3, 4}, {1, 1, 40, 4}, {1, 1, 40, 4});
  HostTensor k(DType::f32, {1, 1, 40, 4});
  auto values = k.mutable_as<float>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 16.0f;
  test.inputs[0] = random_tensor({1, 1, 3, 4}, 1, 0.5f, 1.0f);
  test.inputs[1] = k;
  check_operator(test);
}

// Views of matrices of tokens, which need no packing: Q, K and V of `heads` heads of `channels`, V of 4, side
// by side in one matrix or in three, for two images.
struct Tokens {
  int64_t heads = 3, queries = 9, keys = 9, channels = 8;
  bool one_matrix = true;
  bool images_inside = false;  // the images of a token follow one another, not the tokens of an image
};

OperatorCase tokens_in_rows(const Tokens& t, std::optional<HostTensor> mask = {}) {
  const int64_t images = 2, widths[] = {t.channels * t.heads, t.channels * t.heads, 4 * t.heads};
  const int64_t all = widths[0] + widths[1] + widths[2];
  auto op = std::make_shared<Attention>();
  OperatorCase test{.type = "Attention", .inputs = {}};
  std::array<StridedView, 3> views;
  int64_t first = 0;
  for (size_t i = 0; i < 3; ++i) {
    const int64_t tokens = i == 0 ? t.queries : t.keys, width = t.one_matrix ? all : widths[i];
    views[i].offset = t.one_matrix ? first : 0;
    views[i].shape = {images, t.heads, tokens, widths[i] / t.heads};
    views[i].strides = {tokens * width, widths[i] / t.heads, width, 1};
    if (t.images_inside) views[i].strides[0] = width, views[i].strides[2] = images * width;
    first += widths[i];
    const bool again = t.one_matrix && i > 0;
    test.inputs.push_back(
        again ? std::nullopt
              : std::optional(random_tensor({images * tokens, width}, static_cast<uint32_t>(i))));
    if (again) test.same_as[i] = 0;
  }
  // SwiftShader takes minutes to compile a mask that is read as texels, as check_operator() does with
  // channels4 inputs.
  test.sweep.channels4_inputs = !mask;
  test.sweep.arithmetic_fp16 = !mask;
  if (mask) test.inputs.push_back(std::move(mask));
  op->views = views;
  op->tokens_first = true;
  op->output = {images * t.queries, widths[2]};
  test.op = op;
  return test;
}

TEST(Attention, OfMatricesOfTokens) {
  check_operator(tokens_in_rows({}));
  check_operator(tokens_in_rows({.images_inside = true}));
  check_operator(tokens_in_rows({.queries = 5, .keys = 11, .one_matrix = false}));
  check_operator(tokens_in_rows({.heads = 1, .queries = 3, .keys = 1, .one_matrix = false}));
  check_operator(tokens_in_rows({}, random_tensor({3, 9, 9}, 4)));
  // With a mask these are more bindings than some devices have.
  check_operator(tokens_in_rows({.one_matrix = false}, random_tensor({2, 1, 1, 9}, 4)));
  EXPECT_EQ(check_candidates(tokens_in_rows({})), (std::vector<std::string>{"matrices", "packed"}));
}

TEST(Attention, OfMatricesTakesOneDispatch) {
  const auto dispatches = [](const OperatorCase& test) {
    return lower(single_node_graph(test), test_context()->caps(), {.storage = StorageChoice::buffer})
        .tasks.size();
  };
  EXPECT_EQ(dispatches(tokens_in_rows({})), 1u);
  OperatorCase odd = tokens_in_rows({});
  auto op = std::make_shared<Attention>(dynamic_cast<const Attention&>(*odd.op));
  (*op->views)[1].offset += 2;  // in the middle of a texel
  odd.op = op;
  EXPECT_EQ(dispatches(odd), 4u);
  check_operator(odd);
}

TEST(Attention, Constants) {
  OperatorCase test = attention({1, 2, 5, 8}, {1, 2, 7, 8}, {1, 2, 7, 8}, random_tensor({5, 7}, 4));
  test.constants = {1, 3};
  // A constant mask is stored in fp16; SwiftShader takes more than 9 GB to compile a tile that unpacks it.
  test.sweep.fp16 = test_context()->caps().name.find("SwiftShader") == std::string::npos;
  check_operator(test);
}

// A large GPU, which few queries leave idle: their keys are split.
DeviceCaps large_gpu() {
  DeviceCaps caps = test_context()->caps();
  caps.type = DeviceType::discrete_gpu;
  caps.vendor_id = 0;
  caps.name = "NAVI31";
  return caps;
}

std::vector<std::string> shaders_on(const DeviceCaps& caps, const OperatorCase& test) {
  std::vector<std::string> shaders;
  for (const Task& task : lower(single_node_graph(test), caps, {.storage = StorageChoice::buffer}).tasks)
    shaders.push_back(task.dispatch->shader);
  return shaders;
}

// Operands of one shape are gathered by one dispatch, from as many tensors as the device may bind.
TEST(Attention, OperandsOfOneShapeAreGatheredAtOnce) {
  const auto gathers = [](const OperatorCase& test, uint32_t buffers = 4) {
    DeviceCaps caps = test_context()->caps();
    caps.max_storage_buffers_per_stage = buffers;
    return std::ranges::count(shaders_on(caps, test), "attention_pack");
  };
  const OperatorCase three = attention({2, 3, 37, 6}, {2, 3, 37, 6}, {2, 3, 37, 6});
  EXPECT_EQ(gathers(three), 1);
  EXPECT_EQ(gathers(three, 3), 2);
  check_operator(three);
  const OperatorCase keys_and_values = attention({2, 3, 9, 8}, {2, 3, 37, 8}, {2, 3, 37, 8});
  EXPECT_EQ(gathers(keys_and_values), 2);
  check_operator(keys_and_values);
  OperatorCase queries_and_keys = attention({2, 3, 37, 8}, {2, 3, 37, 8}, {2, 3, 37, 9});
  EXPECT_EQ(gathers(queries_and_keys), 2);
  check_operator(queries_and_keys);
  EXPECT_EQ(gathers(attention({2, 3, 9, 6}, {2, 3, 37, 6}, {2, 3, 37, 9})), 3);
}

TEST(Attention, KeysSplitAmongInvocations) {
  const OperatorCase test = attention({2, 3, 5, 6}, {2, 3, 133, 6}, {2, 3, 133, 9});
  EXPECT_EQ(shaders_on(large_gpu(), test).back(), "attention_merge");
  DeviceCaps cpu = large_gpu();
  cpu.type = DeviceType::cpu;
  EXPECT_EQ(shaders_on(cpu, test).back(), "attention");
  check_operator(test, large_gpu());
  check_operator(attention({1, 2, 3, 4}, {1, 2, 257, 4}, {1, 2, 257, 4}), large_gpu());
  check_operator(attention({1, 1, 3, 4}, {1, 1, 128, 4}, {1, 1, 128, 4}, random_tensor({3, 128}, 4)),
                 large_gpu());
}

// Parts without a key that counts contribute nothing.
TEST(Attention, SplitKeysOfMasksThatExclude) {
  HostTensor mask(DType::boolean, {3, 150});
  auto bits = mask.mutable_as<uint8_t>();
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = i / 150 == 0 ? i % 150 == 149 : i % 150 < 30;
  check_operator(attention({1, 2, 3, 8}, {1, 2, 150, 8}, {1, 2, 150, 8}, mask), large_gpu());
  OperatorCase causal = attention({1, 2, 6, 8}, {1, 2, 140, 8}, {1, 2, 140, 8});
  causal.attributes.set("is_causal", int64_t{1});
  check_operator(causal, large_gpu());
}

// On NVIDIA's GPUs invocations of a workgroup share the keys: more of them than parts that have keys, tokens
// that do not fill a workgroup, and fewer slices of values than invocations.
TEST(Attention, KeysSharedInAWorkgroup) {
  DeviceCaps gpu = large_gpu();
  gpu.vendor_id = kNvidia;
  const auto sharers = [&](const OperatorCase& test) {
    const Program program = lower(single_node_graph(test), gpu, {.storage = StorageChoice::buffer});
    for (const auto& [name, value] : program.tasks.back().dispatch->defines)
      if (name == "SHARE_KEYS") return value;
    return std::string("1");
  };
  const OperatorCase long_keys = attention({2, 3, 5, 6}, {2, 3, 205, 6}, {2, 3, 205, 9});
  EXPECT_EQ(sharers(long_keys), "16");
  check_operator(long_keys, gpu);
  const OperatorCase few_keys = tokens_in_rows({.queries = 49, .keys = 49, .one_matrix = false});
  EXPECT_EQ(sharers(few_keys), "4");
  check_operator(few_keys, gpu);
  check_operator(tokens_in_rows({.queries = 30, .keys = 30}, random_tensor({3, 30, 30}, 4)), gpu);
  EXPECT_EQ(sharers(attention({1, 2, 5, 8}, {1, 2, 9, 8}, {1, 2, 9, 8})), "1");
  HostTensor mask(DType::boolean, {3, 150});
  auto bits = mask.mutable_as<uint8_t>();
  for (size_t i = 0; i < bits.size(); ++i)
    bits[i] = i / 150 == 0 ? i % 150 == 149 : i / 150 == 1 && i % 150 < 30;
  check_operator(attention({1, 2, 3, 8}, {1, 2, 150, 8}, {1, 2, 150, 36}, mask), gpu);
  OperatorCase causal = attention({1, 2, 46, 8}, {1, 2, 46, 8}, {1, 2, 46, 8});
  causal.attributes.set("is_causal", int64_t{1});
  check_operator(causal, gpu);
}

// Slices of Q and K that are loaded together, and those that remain: of 5 and of 9, packed and in matrices.
TEST(Attention, SlicesLoadedAhead) {
  DeviceCaps gpu = large_gpu();
  gpu.vendor_id = kAmd;
  for (const int64_t channels : {18, 36}) {
    const OperatorCase test = attention({1, 2, 5, channels}, {1, 2, 21, channels}, {1, 2, 21, 6});
    const Program program = lower(single_node_graph(test), gpu, {});
    const auto& defines = program.tasks.back().dispatch->defines;
    EXPECT_EQ(std::ranges::count(defines, std::pair<std::string, std::string>{"AHEAD", "4"}), 1);
    check_operator(test, gpu);
  }
  check_operator(tokens_in_rows({.queries = 21, .keys = 21, .channels = 20}), gpu);
}

// On Adreno's GPUs a loop multiplies the values of one key after the other, where these have many slices, by
// fma().
TEST(Attention, KeyByKey) {
  const DeviceCaps adreno = adreno_named("Adreno (TM) 660");
  const OperatorCase test = attention({1, 2, 5, 20}, {1, 2, 21, 20}, {1, 2, 21, 38});
  const Program program = lower(single_node_graph(test), adreno, {});
  const auto& defines = program.tasks.back().dispatch->defines;
  for (const std::string name : {"KEY_BY_KEY", "FMA"})
    EXPECT_EQ(std::ranges::count(defines, std::pair<std::string, std::string>{name, "1"}), 1) << name;
  check_operator(test, adreno);
  check_operator(tokens_in_rows({.queries = 21, .keys = 21, .channels = 36}), adreno);
  check_operator(attention({1, 2, 6, 36}, {1, 2, 150, 36}, {1, 2, 150, 36}), adreno);
}

TEST(Attention, SplitKeysOfMatrices) {
  const OperatorCase test = tokens_in_rows({.keys = 129, .one_matrix = false});
  EXPECT_EQ(shaders_on(large_gpu(), test), (std::vector<std::string>{"attention", "attention_merge"}));
  check_operator(test, large_gpu());
}

// Q and K are multiples of a quarter, so that the products are exact and no score is rounded the other way.
OperatorCase rounded(OperatorCase test, Activation scores = {.step = 0.3f, .least = -20, .most = 17}) {
  auto op = test.op ? std::make_shared<Attention>(dynamic_cast<const Attention&>(*test.op))
                    : std::make_shared<Attention>();
  if (!test.op) op->causal = test.attributes.get_int("is_causal", 0) != 0;
  op->scale = 0.5f;
  op->score_rounding = scores;
  op->weight_rounding = {.step = 0x1p-9f, .least = 0, .most = 255};
  for (size_t i = 0; i < 3; ++i)
    if (test.inputs[i])
      for (float& value : test.inputs[i]->mutable_as<float>()) value = std::nearbyint(4 * value) / 4;
  test.op = op;
  test.sweep.fp16 = test.sweep.arithmetic_fp16 = false;
  return test;
}

// Packed, with masks, of the last dimension's heads, and in matrices of tokens.
TEST(Attention, RoundedScoresAndWeights) {
  check_operator(rounded(attention({1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1})));
  check_operator(rounded(attention({2, 3, 9, 6}, {2, 3, 37, 6}, {2, 3, 37, 9})));
  check_operator(rounded(attention({1, 2, 19, 32}, {1, 2, 33, 32}, {1, 2, 33, 36})));
  check_operator(rounded(attention({2, 3, 5, 8}, {2, 3, 7, 8}, {2, 3, 7, 8}), {}));
  check_operator(rounded(attention({2, 3, 5, 8}, {2, 3, 7, 8}, {2, 3, 7, 8}, random_tensor({3, 1, 7}, 4))));
  HostTensor mask(DType::boolean, {5, 7});
  auto bits = mask.mutable_as<uint8_t>();
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = i < 7 ? 0 : i % 3 == 1;  // the first row has no key
  check_operator(rounded(attention({1, 2, 5, 8}, {1, 2, 7, 8}, {1, 2, 7, 8}, mask)));
  OperatorCase causal = attention({1, 2, 6, 8}, {1, 2, 9, 8}, {1, 2, 9, 8});
  causal.attributes.set("is_causal", int64_t{1});
  check_operator(rounded(causal));
  check_operator(rounded(tokens_in_rows({})));
  check_operator(rounded(tokens_in_rows({.queries = 5, .keys = 11, .one_matrix = false})));
  check_operator(
      rounded(tokens_in_rows({.images_inside = true}), {.step = 0.001f, .least = -9000, .most = 9000}));
}

// Q and K are rounded while they are gathered, from one matrix and from three tensors.
TEST(Attention, RoundedOperands) {
  const auto rounds_operands = [](OperatorCase test, OperandRounding q, OperandRounding k) {
    test = rounded(std::move(test));
    auto op = std::make_shared<Attention>(dynamic_cast<const Attention&>(*test.op));
    op->q_rounding = q;
    op->k_rounding = k;
    test.op = op;
    return test;
  };
  const OperandRounding fine{0.5f, {.step = 0.125f, .least = -9, .most = 11}},
      coarse{-1.0f, {.step = 0.25f, .least = -5, .most = 7}}, none;
  const OperandRounding wide{1.0f, {.step = 0.0625f, .least = -9000, .most = 9000}};
  check_operator(rounds_operands(tokens_in_rows({}), fine, coarse));
  check_operator(rounds_operands(tokens_in_rows({}), fine, none));
  check_operator(rounds_operands(tokens_in_rows({}), none, wide));
  check_operator(
      rounds_operands(tokens_in_rows({.queries = 5, .keys = 11, .one_matrix = false}), none, coarse));
  check_operator(rounds_operands(attention({2, 3, 9, 6}, {2, 3, 37, 6}, {2, 3, 37, 9}), fine, coarse));
  const OperatorCase one_product = rounds_operands(tokens_in_rows({.channels = 4}), fine, coarse);
  check_operator(one_product);
  EXPECT_EQ(shaders_on(large_gpu(), one_product),
            (std::vector<std::string>{"attention_pack", "attention_rounded"}));
}

// Few queries on a large GPU: the keys are not split, because all weights are needed before one is rounded.
TEST(Attention, RoundedWeightsOfManyKeys) {
  const OperatorCase test = rounded(attention({1, 2, 3, 4}, {1, 2, 257, 4}, {1, 2, 257, 4}));
  EXPECT_EQ(shaders_on(large_gpu(), test).back(), "attention_rounded");
  check_operator(test, large_gpu());
}

}  // namespace attention_test
}  // namespace vellum::test

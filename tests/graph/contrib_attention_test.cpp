// Attention of the domain com.microsoft, in batches, with caches and masks. tests/oracles/onnx_contrib.py
// prints these values, which ONNX Runtime computes: the products of each row with eighths({width}, 9).
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "run_operator.hpp"

namespace vellum::testing {
namespace {

using AttributeValues = std::vector<std::pair<std::string, Attributes::Value>>;

HostTensor words(const Shape& shape, const Ints& values) {
  return HostTensor::from<int64_t>(DType::i32, shape, values);
}

Floats fingerprint(const HostTensor& y) {
  const Floats values = y.to_floats(), factors = eighths({y.shape().back()}, 9).to_floats();
  Floats products;
  for (size_t i = 0; i < values.size(); i += factors.size())
    products.push_back(std::inner_product(factors.begin(), factors.end(), &values[i], 0.0f));
  return products;
}

void expect_fingerprint(const HostTensor& y, const Floats& expected) {
  const Floats actual = fingerprint(y);
  ASSERT_EQ(actual.size(), expected.size()) << to_string(y.shape());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 2e-5f) << "row " << i;
}

// Four heads of queries and two of keys, with 16 channels each.
struct GroupQuery {
  int64_t batches = 1, tokens = 1;
  std::optional<int64_t> past = std::nullopt;
  Ints lengths;
  bool packed = false, turns = false, bias = false, sinks = false;
  AttributeValues attributes = {};
  std::optional<int64_t> total = std::nullopt;  // the longest of the lengths

  std::vector<HostTensor> run() const {
    const auto [spec, inputs] = node();
    return run_all(*make(spec, inputs), inputs);
  }

  std::pair<Spec, OptionalTensors> node() const {
    const int64_t all_tokens = total.value_or(*std::ranges::max_element(lengths));
    OptionalTensors inputs;
    if (packed)
      inputs = {eighths({batches, tokens, 128}, 1), std::nullopt, std::nullopt};
    else
      inputs = {eighths({batches, tokens, 64}, 1), eighths({batches, tokens, 32}, 2),
                eighths({batches, tokens, 32}, 3)};
    for (const int64_t seed : {4, 5})
      inputs.push_back(past ? std::optional(eighths({batches, 2, *past, 16}, seed)) : std::nullopt);
    Ints last = lengths;
    for (int64_t& length : last) --length;
    inputs.push_back(words({batches}, last));
    inputs.push_back(words({}, {all_tokens}));
    for (const int64_t seed : {6, 7})
      inputs.push_back(turns ? std::optional(eighths({32, 8}, seed)) : std::nullopt);
    inputs.push_back(std::nullopt);
    inputs.push_back(bias ? std::optional(eighths({1, 1, tokens, all_tokens}, 8)) : std::nullopt);
    if (sinks) inputs.emplace_back(eighths({4}, 9, 2.0f));
    AttributeValues all = attributes;
    all.insert(all.end(),
               {{"num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}, {"do_rotary", int64_t{turns}}});
    return {Spec{"com.microsoft.GroupQueryAttention", 1, all, 3}, inputs};
  }
};

void expect_group(const GroupQuery& query, const Floats& y, const Floats& keys, const Floats& values) {
  const std::vector<HostTensor> results = query.run();
  expect_fingerprint(results.at(0), y);
  expect_fingerprint(results.at(1), keys);
  expect_fingerprint(results.at(2), values);
}

TEST(GroupQueryAttention, OfAPrompt) {
  expect_group({.tokens = 3, .lengths = {3}}, {-2.046875f, -3.6514816f, -5.2501622f},
               {3.9375f, 2.265625f, -1.53125f, -2.875f, -1.09375f, 2.015625f},
               {-0.53125f, -2.734375f, -2.546875f, 0.359375f, 6.125f, 0.734375f});
  expect_group({.tokens = 3, .past = 0, .lengths = {3}, .packed = true, .turns = true},
               {0.234375f, -0.93946727f, 2.0776959f},
               {-0.0234375f, 0.056640625f, 0.056640625f, -0.17773438f, -1.2460938f, 0.0625f},
               {0.734375f, 2.015625f, -2.546875f, -1.03125f, -2.9375f, 0.734375f});
}

TEST(GroupQueryAttention, AfterCachedTokens) {
  expect_group({.past = 4, .lengths = {5}, .turns = true}, {2.5307377f},
               {-2.875f, 2.265625f, -1.09375f, -1.53125f, 1.7089844f, 2.015625f, -2.9375f, 4.0625f,
                -1.953125f, 1.7753906f},
               {0.359375f, -2.734375f, 6.125f, -2.546875f, -0.53125f, 0.734375f, -1.03125f, -2.265625f,
                3.9375f, 0.359375f});
  expect_group({.tokens = 2,
                .past = 3,
                .lengths = {5},
                .turns = true,
                .attributes = {{"rotary_interleaved", int64_t{1}}}},
               {0.25705827f, -2.9101922f},
               {-2.875f, 2.265625f, -1.09375f, 1.2109375f, 0.4765625f, -1.53125f, 2.015625f, -2.9375f,
                1.0664062f, 2.5058594f},
               {0.359375f, -2.734375f, 6.125f, -0.53125f, -2.734375f, -2.546875f, 0.734375f, -1.03125f,
                0.359375f, 6.125f});
}

// The cache is longer than what it holds. What follows the tokens stays as it was; ONNX Runtime clears it.
TEST(GroupQueryAttention, InACacheOfFixedLength) {
  const std::vector<HostTensor> results = GroupQuery{.past = 8, .lengths = {5}, .turns = true}.run();
  expect_fingerprint(results.at(0), {2.5220413f});
  const Floats keys = fingerprint(results.at(1)), before = fingerprint(eighths({1, 2, 8, 16}, 4));
  const Floats now{-2.875f, 2.265625f, -1.09375f, -1.53125f, 1.7089844f};
  for (size_t i = 0; i < 8; ++i) EXPECT_NEAR(keys[i], i < now.size() ? now[i] : before[i], 1e-5f) << i;
}

// A mask of fixed size gives the capacity as total_sequence_length; ONNX Runtime takes the length from
// seqlens_k.
TEST(GroupQueryAttention, TheLengthIsThatOfSeqlens) {
  for (const int64_t tokens : {1, 3})
    for (const int64_t window : {-1, 2})
      for (const float softcap : {0.0f, 2.0f}) {
        GroupQuery query{.tokens = tokens,
                         .past = 8,
                         .lengths = {5},
                         .turns = true,
                         .attributes = {{"local_window_size", window}, {"softcap", softcap}}};
        const std::vector<HostTensor> exact = query.run();
        query.total = 8;
        const std::vector<HostTensor> fixed = query.run();
        for (size_t i = 0; i < 3; ++i) EXPECT_EQ(fixed[i].to_floats(), exact[i].to_floats()) << i;
      }
  // One that is not full before it grows.
  const std::vector<HostTensor> grown =
      GroupQuery{.past = 4, .lengths = {4}, .turns = true, .total = 5}.run();
  EXPECT_EQ(grown[1].shape(), (Shape{1, 2, 5, 16}));
  EXPECT_EQ(grown[0].to_floats(),
            (GroupQuery{.past = 4, .lengths = {4}, .turns = true}.run()[0].to_floats()));
}

TEST(GroupQueryAttention, WithAWindowACapAndABias) {
  EXPECT_EQ(
      GroupQuery({.tokens = 2, .past = 4, .lengths = {6}, .attributes = {{"local_window_size", int64_t{6}}}})
          .run()[0]
          .to_floats(),
      GroupQuery({.tokens = 2, .past = 4, .lengths = {6}}).run()[0].to_floats());
  expect_fingerprint(GroupQuery({.tokens = 2,
                                 .past = 4,
                                 .lengths = {6},
                                 .attributes = {{"local_window_size", int64_t{2}}, {"softcap", 2.0f}}})
                         .run()[0],
                     {3.85924f, -3.5235404f});
  expect_fingerprint(
      GroupQuery({.tokens = 2, .past = 3, .lengths = {5}, .bias = true, .attributes = {{"scale", 0.5f}}})
          .run()[0],
      {11.995613f, -3.7768951f});
}

TEST(GroupQueryAttention, OfBatchesOfSeveralLengths) {
  const std::vector<HostTensor> results =
      GroupQuery{.batches = 2, .past = 4, .lengths = {5, 3}, .turns = true}.run();
  expect_fingerprint(results.at(0), {2.5307377f, -3.1341751f});
  const Floats keys = fingerprint(results.at(1));
  EXPECT_NEAR(keys.at(4), 1.7089844f, 1e-5f) << "the first batch's new token follows its four";
  EXPECT_NEAR(keys.at(12), 0.26953125f, 1e-5f) << "the second batch's follows two";
}

TEST(GroupQueryAttention, RefusesWhatDoesNotFit) {
  const Spec spec{
      "com.microsoft.GroupQueryAttention", 1, {{"num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}}, 3};
  const OptionalTensors inputs{
      eighths({1, 1, 64}, 1),    eighths({1, 1, 32}, 2), eighths({1, 1, 32}, 3), eighths({1, 2, 4, 16}, 4),
      eighths({1, 2, 4, 16}, 5), words({1}, {6}),        words({}, {7})};
  expect_refused(spec, inputs, "total_sequence_length is 7 with 1 new tokens and a cache of 4");
  OptionalTensors sinks = inputs;
  sinks[6] = words({}, {5});
  sinks.resize(11);
  sinks.push_back(eighths({3}, 9));
  expect_refused(spec, sinks, "head_sink of shape 3 has not one element for each of 4 heads");
}

TEST(GroupQueryAttention, WithSinks) {
  expect_fingerprint(GroupQuery({.tokens = 3, .lengths = {3}, .sinks = true}).run()[0],
                     {-2.3534028f, -2.4879417f, -3.7261031f});
  expect_fingerprint(
      GroupQuery({.tokens = 2, .past = 3, .lengths = {5}, .turns = true, .sinks = true}).run()[0],
      {0.42993499f, -1.4692059f});
  expect_fingerprint(
      GroupQuery({.batches = 2, .past = 4, .lengths = {5, 3}, .attributes = {{"smooth_softmax", int64_t{1}}}})
          .run()[0],
      {7.8137355f, -2.7343757f});
  expect_fingerprint(GroupQuery({.tokens = 2,
                                 .past = 6,
                                 .lengths = {5},
                                 .sinks = true,
                                 .attributes = {{"local_window_size", int64_t{2}}, {"softcap", 2.0f}}})
                         .run()[0],
                     {-0.23388856f, -2.4237456f});
}

// Without a cache, causal order and a bias are one mask.
TEST(GroupQueryAttention, WithSinksAndABias) {
  const GroupQuery prompt{.tokens = 3, .lengths = {3}, .bias = true, .sinks = true};
  GroupQuery cached = prompt;
  cached.past = 3;
  const HostTensor expected = cached.run()[0], y = prompt.run()[0];
  for (size_t i = 0; i < expected.to_floats().size(); ++i)
    ASSERT_NEAR(y.to_floats()[i], expected.to_floats()[i], 1e-6f) << i;
}

// Caches from which tokens before the window are evicted: all tokens are in them until they are full.
TEST(GroupQueryAttention, InCachesOfAWindow) {
  GroupQuery query{.tokens = 2,
                   .past = 6,
                   .lengths = {5},
                   .turns = true,
                   .attributes = {{"local_window_size", int64_t{4}}, {"sliding_window_cache", int64_t{1}}}};
  const std::vector<HostTensor> results = query.run();
  expect_fingerprint(results[0], {-0.8383183f, -2.7259486f});
  EXPECT_EQ(results[1].shape(), (Shape{1, 2, 6, 16}));
  const auto expect = [&](const char* message, ErrorCode code = ErrorCode::corrupt_model) {
    const auto [spec, inputs] = query.node();
    expect_refused(spec, inputs, message, code);
  };
  query.lengths = {7};
  expect("make the caches state with a state_capacity", ErrorCode::unsupported);
  query.lengths = {3};
  query.past = 3;
  expect("a cache of 3 tokens for a window of 4");
  query.past = std::nullopt;
  expect("sliding_window_cache without caches");
  query.attributes[0].second = int64_t{-1};
  expect("without local_window_size");
}

TEST(ContribAttention, RotaryEmbeddingTakesOnePositionOrAll) {
  const HostTensor x = eighths({2, 3, 32}, 1), cosines = eighths({32, 8}, 6), sines = eighths({32, 8}, 7);
  expect_fingerprint(run({"com.microsoft.RotaryEmbedding", 1, {}}, {x, ints({1}, {4}), cosines, sines}),
                     {1.2871094f, 0.93945312f, 0.34765625f, -1.8027344f, -1.5371094f, 0.24414062f});
  expect_fingerprint(
      run({"com.microsoft.RotaryEmbedding", 1, {{"interleaved", int64_t{1}}, {"num_heads", int64_t{2}}}},
          {x, ints({2, 3}, {0, 1, 2, 7, 8, 9}), cosines, sines}),
      {-0.56640625f, 0.77929688f, -1.7226562f, 1.5585938f, 0.69921875f, 1.6699219f});
}

TEST(ContribAttention, MasksOfPadding) {
  const HostTensor q = eighths({2, 3, 32}, 1), k = eighths({2, 4, 32}, 2), v = eighths({2, 4, 32}, 3);
  const Spec spec{"com.microsoft.MultiHeadAttention", 1, {{"num_heads", int64_t{2}}}};
  expect_fingerprint(run(spec, {q, k, v, std::nullopt, words({2, 4}, {1, 1, 0, 1, 1, 0, 0, 1})}),
                     {-2.0419804f, -1.7385934f, -2.2159568f, -4.5466807f, -0.88387922f, 4.4418172f});
  expect_fingerprint(run(spec, {q, k, v, std::nullopt, words({2}, {3, 2}), eighths({1, 2, 3, 4}, 8)}),
                     {-3.7151194f, -2.570412f, -1.7395289f, 4.8572995f, 6.2820488f, 7.305395f});
  expect_refused(spec, {q, k, v, std::nullopt, words({5}, {3, 2, 0, 0, 0})}, "key_padding_mask of shape",
                 ErrorCode::unsupported);
}

// Keys and values with heads apart are computed once, with their bias: ONNX Runtime adds only that of the
// query.
TEST(ContribAttention, ToKeysThatWereComputedBeforeAddsTheBiasOfTheQuery) {
  const Spec spec{"com.microsoft.MultiHeadAttention", 1, {{"num_heads", int64_t{2}}}};
  const HostTensor q = eighths({2, 3, 32}, 1), k = eighths({2, 2, 4, 16}, 2), v = eighths({2, 2, 4, 16}, 3),
                   bias = eighths({96}, 4);
  std::vector<float> sum = q.to_floats();
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += bias.as<float>()[i % 32];
  EXPECT_EQ(run(spec, {q, k, v, bias}).to_floats(), run(spec, {floats({2, 3, 32}, sum), k, v}).to_floats());
}

TEST(ContribAttention, OfEarlierTokensAlone) {
  const HostTensor x = eighths({2, 3, 32}, 1);
  expect_fingerprint(run({"com.microsoft.MultiHeadAttention",
                          1,
                          {{"num_heads", int64_t{2}}, {"unidirectional", int64_t{1}}}},
                         {x, x, x}),
                     {-4.34375f, -0.33548206f, 8.391417f, 2.28125f, -2.922769f, -4.8799247f});
}

TEST(ContribAttention, ProjectsItsInput) {
  const HostTensor y =
      run({"com.microsoft.Attention", 1, {{"num_heads", int64_t{2}}, {"rotary_embedding_dim", int64_t{0}}}},
          {eighths({2, 3, 32}, 1), eighths({32, 96}, 2), eighths({96}, 3), words({2}, {2, 3})});
  expect_fingerprint(y, {-33.308578f, -33.593261f, -33.59375f, -13.414031f, -8.2774961f, -1.4843743f});
}

TEST(ContribAttention, ProjectsItsInputUnderEachKindOfMask) {
  const auto expect = [](const HostTensor& mask, int64_t causal, const Floats& y) {
    const Spec spec{"com.microsoft.Attention", 1, {{"num_heads", int64_t{2}}, {"unidirectional", causal}}};
    expect_fingerprint(run(spec, {eighths({2, 3, 32}, 1), eighths({32, 96}, 2), eighths({96}, 3), mask}), y);
  };
  // Numbers of keys with the first ones, and with running sums of lengths.
  expect(words({4}, {2, 3, 1, 0}), 0,
         {-23.222656f, -23.222656f, -23.222656f, -13.414031f, -8.2774961f, -1.4843743f});
  expect(words({8}, {2, 3, 0, 3, 6, 0, 3, 6}), 0,
         {-33.308578f, -33.593261f, -33.59375f, -13.414031f, -8.2774961f, -1.4843743f});
  // A number for each query and key; only those above 0 let it be seen.
  const HostTensor flags = words({2, 3, 3}, {1, 0, 1, 0, -1, 2, 1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 1, 0});
  expect(flags, 0, {-11.018415f, -10.992188f, -33.59375f, -13.414062f, -8.2774961f, 0.25390625f});
  expect(flags, 1, {-33.59375f, -33.593263f, -33.59375f, -1.484375f, -1.481297f, 0.25390625f});
}

// The cache holds two tokens of keys and values.
TEST(ContribAttention, ProjectsItsInputAfterEarlierTokens) {
  const OptionalTensors inputs{eighths({1, 3, 32}, 1), eighths({32, 96}, 2), eighths({96}, 3), std::nullopt,
                               eighths({2, 1, 2, 2, 16}, 4)};
  const Spec spec{
      "com.microsoft.Attention", 1, {{"num_heads", int64_t{2}}, {"unidirectional", int64_t{1}}}, 2};
  const std::vector<HostTensor> results = run_all(*make(spec, inputs), inputs);
  expect_fingerprint(results.at(0), {-5.8192282f, -7.1356445f, -33.593717f});
  expect_fingerprint(results.at(1), {-2.875f,   2.265625f,  1.0878906f,  -8.5449219f,  -20.335938f,
                                     -1.09375f, -1.53125f,  8.0722656f,  17.660156f,   22.632812f,
                                     2.015625f, -2.9375f,   -17.914062f, -13.144531f,  -4.7226562f,
                                     4.0625f,   -1.953125f, 15.466797f,  -0.38671875f, -0.93359375f});
}

// Sums of two products of these and of octets fit in 16 bits.
HostTensor half_octets(const Shape& shape, int64_t seed) {
  Ints values = octets(shape, seed, DType::i8).to_ints();
  for (int64_t& value : values) value >>= 1;
  return HostTensor::from<int64_t>(DType::i8, shape, values);
}

// An input and a matrix of 8 bits, with one scale or one for each column, masked and after earlier tokens.
TEST(ContribAttention, ProjectsIntegers) {
  const HostTensor matrix = half_octets({32, 96}, 3), bias = eighths({96}, 1),
                   step = floats({}, {1.0f / 256}),
                   zero = HostTensor::from<int64_t>(DType::u8, {}, std::array{int64_t{120}}),
                   zero_of_matrix = HostTensor::from<int64_t>(DType::i8, {}, std::array{int64_t{3}});
  const std::optional<HostTensor> none;
  const AttributeValues two_heads{{"num_heads", int64_t{2}}},
      causal{{"num_heads", int64_t{2}}, {"unidirectional", int64_t{1}}};
  const HostTensor x = octets({2, 3, 32}, 2);
  expect_fingerprint(run({"com.microsoft.QAttention", 1, two_heads},
                         {x, matrix, bias, step, step, none, zero, zero_of_matrix}),
                     {11.810905f, 11.794859f, 12.059308f, 11.833208f, 11.770423f, 11.900819f});
  expect_fingerprint(
      run({"com.microsoft.QAttention", 1, causal}, {x, matrix, bias, step, step, words({2}, {2, 3})}),
      {11.679138f, 12.088732f, 12.178352f, 11.554138f, 11.484501f, 11.698095f});
  Floats steps = eighths({96}, 4).to_floats();
  for (float& value : steps) value = std::abs(value) / 128;
  const OptionalTensors inputs{octets({1, 3, 32}, 2),       matrix, bias, step,
                               floats({96}, steps),         none,   zero, octets({96}, 2, DType::i8),
                               eighths({2, 1, 2, 2, 16}, 4)};
  const std::vector<HostTensor> results =
      run_all(*make({"com.microsoft.QAttention", 1, causal, 2}, inputs), inputs);
  expect_fingerprint(results.at(0), {3.6924146f, 8.8943834f, 8.7977748f});
  expect_fingerprint(results.at(1), {-2.875f,   2.265625f,  -0.80088043f, 1.3814926f,  -0.91025543f,
                                     -1.09375f, -1.53125f,  -3.986145f,   -2.5623169f, -3.90802f,
                                     2.015625f, -2.9375f,   9.9480209f,   5.8237534f,  6.8620834f,
                                     4.0625f,   -1.953125f, -2.5487518f,  -2.5189667f, -2.8925018f});
}

// The caches have room for twelve tokens and have five. What follows the new token stays as it was.
TEST(ContribAttention, CachesOfFixedCapacity) {
  const HostTensor q = eighths({2, 1, 64}, 1), k = eighths({2, 1, 64}, 2), v = eighths({2, 1, 64}, 3);
  const HostTensor keys = eighths({2, 4, 12, 16}, 4), values = eighths({2, 4, 12, 16}, 5),
                   length = words({1}, {5});
  const std::optional<HostTensor> none;
  const auto expect = [&](const Spec& spec, const OptionalTensors& inputs) {
    const std::vector<HostTensor> results = run_all(*make(spec, inputs), inputs);
    expect_fingerprint(results.at(0), {7.000733f, -3.2977061f});
    const Floats before = fingerprint(keys), after = fingerprint(results.at(1));
    ASSERT_EQ(after.size(), before.size());
    for (size_t i = 0; i < before.size(); ++i)
      if (i % 12 != 5) EXPECT_EQ(after[i], before[i]) << i;
  };
  expect({"com.microsoft.MultiHeadAttention", 1, {{"num_heads", int64_t{4}}}, 3},
         {q, k, v, none, none, none, keys, values, length});
  const Spec masked{"com.microsoft.DecoderMaskedMultiHeadAttention",
                    1,
                    {{"num_heads", int64_t{4}}, {"past_present_share_buffer", int64_t{1}}},
                    3};
  expect(masked, {q, k, v, none, none, keys, values, length});
  // Flags of the five tokens and the new one.
  expect(masked, {q, k, v, words({2, 6}, Ints(12, 1)), none, keys, values, length});
  expect_refused(masked,
                 {q, k, v, none, none, keys, values, length, words({1}, {4}), words({1, 4, 12}, Ints(48, 0))},
                 "several beams", ErrorCode::unsupported);
}

// Queries, keys and values of each head beside each other are the same as apart.
TEST(ContribAttention, PackedHeads) {
  const HostTensor packed = eighths({1, 2, 2, 3, 4}, 1), key_value = eighths({1, 2, 2, 2, 4}, 1);
  const auto part = [](const HostTensor& from, int64_t parts, int64_t which) {
    const Floats all = from.to_floats();
    Floats values;
    for (int64_t row = 0; row < 4; ++row)
      for (int64_t i = 0; i < 4; ++i)
        values.push_back(all[static_cast<size_t>((row * parts + which) * 4 + i)]);
    return floats({1, 2, 8}, values);
  };
  const Spec spec{"com.microsoft.MultiHeadAttention", 1, {{"num_heads", int64_t{2}}}};
  const auto apart = run(spec, {part(packed, 3, 0), part(packed, 3, 1), part(packed, 3, 2)});
  EXPECT_EQ(run(spec, {packed, std::nullopt, std::nullopt}).to_floats(), apart.to_floats());
  const HostTensor q = eighths({1, 2, 8}, 4);
  EXPECT_EQ(run(spec, {q, key_value, std::nullopt}).to_floats(),
            run(spec, {q, part(key_value, 2, 0), part(key_value, 2, 1)}).to_floats());
}

}  // namespace
}  // namespace vellum::testing

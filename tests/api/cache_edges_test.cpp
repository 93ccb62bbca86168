// Caches at their edges: tokens of zeros, more tokens than 16 bits count, and copies of the states of a
// session whose weights stream.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "decoder.hpp"
#include "public_interface.hpp"
#include "support/tensors.hpp"
#include "vellum/vellum.hpp"

namespace vellum::test {
namespace {

// y = attention of one token, which is written at `at` into caches of `capacity` tokens, to the tokens up to
// it.
OnnxModel one_layer(int64_t heads, int64_t capacity, int64_t channels) {
  OnnxModel model(24);
  for (const char* token : {"q", "k", "v"}) model.input(token, {1, heads, 1, channels});
  for (const char* past : {"past.key", "past.value"}) model.input(past, {1, heads, capacity, channels});
  const Attributes tokens = attributes({{"axis", int64_t{2}}});
  model.input("at", {1}, DType::i64)
      .input("length", {1}, DType::i64)
      .node("TensorScatter", {"past.key", "k", "at"}, {"present.key"}, tokens)
      .node("TensorScatter", {"past.value", "v", "at"}, {"present.value"}, tokens)
      .node("Attention", {"q", "present.key", "present.value", "", "", "", "length"}, {"y"});
  for (const char* output : {"y", "present.key", "present.value"}) model.output(output);
  return model;
}

std::map<std::string, Tensor> token_at(int64_t at, const Tensor& q, const Tensor& k, const Tensor& v) {
  return {{"q", q},
          {"k", k},
          {"v", v},
          {"at", Tensor::i64({1}, std::vector<int64_t>{at})},
          {"length", Tensor::i64({1}, std::vector<int64_t>{at + 1})}};
}

// In 8 bits a row has a scale of its own, the largest magnitude over 127, by which nothing may be divided
// here.
TEST(CacheEdges, TokensOfZerosAreZerosIn8Bits) {
  constexpr int64_t kHeads = 2, kChannels = 16;
  const Device device = Device::open(device_options());
  const Model model = load(one_layer(kHeads, 8, kChannels));
  Session bytes(device, model, {.state = "auto", .state_precision = StatePrecision::int8}),
      floats(device, model, {.state = "auto"});
  const Shape shape{1, kHeads, 1, kChannels};
  const HostTensor zeros(DType::f32, shape);
  for (int64_t at = 0; at < 6; ++at) {
    const auto seed = static_cast<uint32_t>(10 * at);
    const bool is_zero = at % 3 != 2;  // the first tokens, too
    const HostTensor k = is_zero ? zeros : random_tensor(shape, seed + 1),
                     v = is_zero ? zeros : random_tensor(shape, seed + 2);
    const auto inputs = token_at(at, random_tensor(shape, seed), k, v);
    EXPECT_TRUE(close(bytes.run(inputs).at("y"), floats.run(inputs).at("y"), 0.02)) << at;
  }
  const std::vector<float> keys = bytes.state("past.key").to_floats();
  for (int64_t head = 0; head < kHeads; ++head)
    for (const int64_t at : {0, 1, 3, 4, 6, 7})
      for (int64_t c = 0; c < kChannels; ++c)
        EXPECT_EQ(keys[static_cast<size_t>((head * 8 + at) * kChannels + c)], 0.0f) << at;
  EXPECT_EQ(device.validation_messages(), 0u);
}

// Most of the weight is on the last token, and a part on the first.
TEST(CacheEdges, MoreTokensThan16BitsCount) {
  constexpr int64_t kCapacity = 66000, kChannels = 16;
  const OnnxModel file = one_layer(1, kCapacity, kChannels);
  const Shape token{1, 1, 1, kChannels}, cache{1, 1, kCapacity, kChannels};
  const HostTensor keys = random_tensor(cache, 1, -0.01f, 0.01f), values = random_tensor(cache, 2);
  const HostTensor q = random_tensor(token, 3, 2.0f, 3.0f), k = random_tensor(token, 4, 1.0f, 1.5f),
                   v = random_tensor(token, 5, 3.0f, 4.0f);
  const Device device = Device::open(device_options());
  for (const StatePrecision precision : {StatePrecision::automatic, StatePrecision::int8}) {
    Session session(device, load(file), {.state = "auto", .state_precision = precision});
    session.prepare({});
    for (const int64_t at : {int64_t{65534}, int64_t{65535}, int64_t{65536}, kCapacity - 1}) {
      session.set_state("past.key", keys);
      session.set_state("past.value", values);
      const auto inputs = token_at(at, q, k, v);
      const std::vector<HostTensor> given{q, k, v, keys, values, inputs.at("at"), inputs.at("length")};
      const HostTensor expected = evaluate(file.graph(), given)[0];
      EXPECT_GT(std::fabs(expected.to_floats()[0]), 0.2f) << "the last token decides";
      const double tolerance = precision == StatePrecision::int8 ? 0.05 : 1e-4;
      EXPECT_TRUE(close(session.run(inputs).at("y"), expected, tolerance)) << at;
    }
  }
  EXPECT_EQ(device.validation_messages(), 0u);
}

// The caches of a prompt, saved in a session whose weights stream, continue in this session and in others.
TEST(CacheEdges, ForksOfASessionWhoseWeightsStream) {
  const Decoder decoder({}, DecoderForm::concatenation);
  const Device device = Device::open(device_options());
  const Model model = load(decoder.model());
  const auto next = [&](Session& session, const std::vector<int64_t>& tokens, int64_t past) {
    const auto count = static_cast<int64_t>(tokens.size());
    std::vector<int64_t> mask(80, 0);
    std::fill_n(mask.begin(), past + count, 1);
    return session
        .run({{"input_ids", Tensor::i64({1, count}, tokens)}, {"attention_mask", Tensor::i64({1, 80}, mask)}})
        .at("next")
        .to_ints()
        .back();
  };
  const std::vector<int64_t> prompt{7, 3, 44, 12, 5};
  const std::vector<int64_t> expected = decoder.generate(prompt, 12);
  const auto continues = [&](Session& session) {
    std::vector<int64_t> tokens{expected[0]};
    for (int64_t past = 5; tokens.size() < expected.size(); ++past)
      tokens.push_back(next(session, {tokens.back()}, past));
    return tokens == expected;
  };
  SessionOptions options{.state = "auto", .state_capacity = 80};
  Session resident(device, model, options);
  EXPECT_EQ(next(resident, prompt, 0), expected[0]);
  options.weights_budget = resident.memory().weights_bytes / 2;
  Session streams(device, model, options), other(device, model, options);
  EXPECT_EQ(next(streams, prompt, 0), expected[0]);
  EXPECT_GT(streams.memory().streamed_weights_bytes, 0u);
  const SavedState fork = streams.save_state();
  EXPECT_EQ(next(other, {1, 2, 3}, 0), decoder.generate({1, 2, 3}, 1)[0]);
  EXPECT_TRUE(continues(streams));
  other.restore_state(fork);
  EXPECT_TRUE(continues(other));
  resident.restore_state(fork);
  EXPECT_TRUE(continues(resident));
  streams.restore_state(fork);
  EXPECT_TRUE(continues(streams));
  EXPECT_EQ(device.validation_messages(), 0u);
}

}  // namespace
}  // namespace vellum::test

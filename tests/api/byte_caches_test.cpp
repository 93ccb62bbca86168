// Sessions whose caches are in 8 bits (SessionOptions::state_precision): what they cost and how far their
// logits are from those of caches in fp32.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "decoder.hpp"
#include "public_interface.hpp"
#include "support/errors.hpp"
#include "support/tensors.hpp"
#include "vellum/vellum.hpp"

namespace vellum::test {
namespace {

constexpr int64_t kPromptTokens = 9;
constexpr size_t kStepsAfterPrompt = 40;

class ByteCaches : public testing::TestWithParam<DecoderForm> {
 protected:
  SessionOptions options(StatePrecision precision) const {
    SessionOptions options{.state = "auto"};
    if (decoder.grows()) options.state_capacity = static_cast<uint32_t>(decoder.shape().capacity);
    options.state_precision = precision;
    return options;
  }

  OnnxModel model() const {
    OnnxModel result = decoder.model();
    result.output("logits");
    return result;
  }

  // The logits of the tokens after `past` earlier ones.
  std::vector<float> logits(Session& session, const std::vector<int64_t>& tokens, int64_t past) const {
    const auto count = static_cast<int64_t>(tokens.size()), length = past + count;
    std::map<std::string, Tensor> inputs{{"input_ids", Tensor::i64({1, count}, tokens)}};
    if (GetParam() != DecoderForm::tensor_scatter) {
      std::vector<int64_t> mask(static_cast<size_t>(decoder.shape().capacity), 0);
      std::fill_n(mask.begin(), length, 1);
      inputs.emplace("attention_mask", Tensor::i64({1, decoder.shape().capacity}, mask));
    } else {
      inputs.emplace("write_indices", Tensor::i64({1}, std::vector<int64_t>{past}));
      inputs.emplace("lengths", Tensor::i64({1}, std::vector<int64_t>{length}));
    }
    return session.run(inputs).at("logits").to_floats();
  }

  // The logits of a prompt and of steps with tokens that are the same in every session.
  std::vector<float> all_logits(Session& session) const {
    std::vector<int64_t> tokens;
    for (int64_t i = 0; i < kPromptTokens; ++i) tokens.push_back((7 * i + 3) % decoder.shape().vocabulary);
    std::vector<float> all = logits(session, tokens, 0);
    for (size_t step = 0; step < kStepsAfterPrompt; ++step) {
      const auto past = kPromptTokens + static_cast<int64_t>(step);
      const std::vector<float> next = logits(session, {(11 * past + 5) % decoder.shape().vocabulary}, past);
      all.insert(all.end(), next.begin(), next.end());
    }
    return all;
  }

  Decoder decoder{{.channels = 16}, GetParam()};
};

// The root mean square of the differences over that of the reference.
double relative_error(const std::vector<float>& values, const std::vector<float>& reference) {
  double error = 0, sum = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    error += std::pow(double{values[i]} - double{reference[i]}, 2);
    sum += std::pow(double{reference[i]}, 2);
  }
  return std::sqrt(error / sum);
}

TEST_P(ByteCaches, LogitsAreCloseToThoseOfFp32) {
  const Device device = Device::open(device_options());
  const Model loaded = load(model());
  Session floats(device, loaded, options(StatePrecision::automatic)),
      bytes(device, loaded, options(StatePrecision::int8));
  const std::vector<float> expected = all_logits(floats), found = all_logits(bytes);
  const double error = relative_error(found, expected);
  RecordProperty("relative_error_of_logits", std::to_string(error));
  EXPECT_LT(error, 0.03);
  EXPECT_GT(error, 1e-6) << "the caches were not in bytes";
  EXPECT_TRUE(bytes.warnings().empty()) << bytes.warnings().front();
  // The keys of the first layer depend on no cache.
  const Tensor key = bytes.state("past.0.key"), reference = floats.state("past.0.key");
  EXPECT_EQ(key.type(), reference.type());
  const auto row = static_cast<size_t>(decoder.shape().channels);
  const std::vector<float> rows = key.to_floats(), rows_expected = reference.to_floats();
  for (size_t first = 0; first < rows.size(); first += row) {
    float largest = 0;
    for (size_t i = first; i < first + row; ++i) largest = std::max(largest, std::fabs(rows_expected[i]));
    for (size_t i = first; i < first + row; ++i)
      ASSERT_LE(std::fabs(rows[i] - rows_expected[i]), 0.505f * largest / 127.0f + 1e-6f) << i;
  }
  EXPECT_EQ(device.validation_messages(), 0u);
}

TEST_P(ByteCaches, TakeAThirdOfTheMemoryThatEstimatesKnow) {
  const Device device = Device::open(device_options());
  const Model loaded = load(model());
  const auto shaped = [&](StatePrecision precision, Precision tensors) {
    SessionOptions result = options(precision);
    result.precision = tensors;
    result.input_shapes = {{"input_ids", {1, 1}}};
    if (decoder.grows()) result.input_shapes["attention_mask"] = {1, decoder.shape().capacity};
    return result;
  };
  const auto state_bytes = [&](StatePrecision precision, Precision tensors) {
    return estimate_memory(loaded, shaped(precision, tensors), device).use.state;
  };
  const DecoderShape& s = decoder.shape();
  const auto rows = static_cast<uint64_t>(2 * s.layers * s.kv_heads * s.capacity);
  const auto channels = static_cast<uint64_t>(s.channels), length = uint64_t{decoder.grows() ? 16u : 0u};
  EXPECT_EQ(state_bytes(StatePrecision::int8, Precision::fp32), rows * (channels + 4) + length);
  EXPECT_EQ(state_bytes(StatePrecision::int8, Precision::fp16), rows * (channels + 4) + length);
  EXPECT_EQ(state_bytes(StatePrecision::automatic, Precision::fp32), rows * 4 * channels + length);
  const SessionOptions of_bytes = shaped(StatePrecision::int8, Precision::fp32);
  const Session session(device, loaded, of_bytes);
  EXPECT_EQ(session.memory().state_bytes, estimate_memory(loaded, of_bytes, device).vulkan.state);
  // A budget that is too small in fp32 suffices in bytes.
  SessionOptions within = of_bytes;
  within.memory_budget = estimate_memory(loaded, of_bytes, device).vulkan.peak;
  EXPECT_NO_THROW(Session(device, loaded, within));
  within.state_precision = StatePrecision::automatic;
  within.budget_allows_fp16 = false;
  const uint64_t floats =
      estimate_memory(loaded, shaped(StatePrecision::automatic, Precision::fp32), device).vulkan.peak;
  EXPECT_GT(floats, within.memory_budget);
}

TEST_P(ByteCaches, StatesAreSetSavedAndRestored) {
  const Device device = Device::open(device_options());
  Session session(device, load(model()), options(StatePrecision::int8));
  const std::vector<float> after_prompt = logits(session, {7, 3, 44, 12}, 0);
  const SavedState saved = session.save_state();
  const std::vector<float> next = logits(session, {9}, 4);
  session.restore_state(saved);
  EXPECT_EQ(logits(session, {9}, 4), next);
  // Rows that were read and set again have the same bytes.
  session.restore_state(saved);
  for (const StateInfo& state : session.states()) session.set_state(state.input, session.state(state.input));
  EXPECT_LT(relative_error(logits(session, {9}, 4), next), 1e-5);
  session.reset_state();
  EXPECT_EQ(logits(session, {7, 3, 44, 12}, 0), after_prompt);
  // A session of caches in floats cannot take them.
  Session floats(device, load(model()), options(StatePrecision::automatic));
  logits(floats, {1}, 0);
  EXPECT_VELLUM_ERROR(floats.restore_state(saved), ErrorCode::invalid_argument, "other types or shapes");
}

INSTANTIATE_TEST_SUITE_P(Forms, ByteCaches,
                         testing::Values(DecoderForm::group_query, DecoderForm::group_query_grows,
                                         DecoderForm::tensor_scatter, DecoderForm::concatenation,
                                         DecoderForm::attention),
                         [](const auto& form) { return "Form" + std::to_string(form.index); });

TEST(ByteCachesWithoutState, AreRefused) {
  const Device device = Device::open(device_options());
  const Decoder decoder({}, DecoderForm::tensor_scatter);
  const SessionOptions options{.input_shapes = {{"input_ids", {1, 1}}},
                               .state_precision = StatePrecision::int8};
  EXPECT_VELLUM_ERROR(Session(device, load(decoder.model()), options), ErrorCode::invalid_argument,
                      "state_precision is int8, but no state");
}

}  // namespace
}  // namespace vellum::test

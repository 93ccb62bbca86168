// Steps of decoders, whose caches grow on the device.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "decoder.hpp"
#include "public_interface.hpp"
#include "step_models.hpp"
#include "support/tensors.hpp"
#include "vellum/steps.hpp"
#include "vellum/vellum.hpp"

namespace vellum::test {
namespace {

class DecodingSteps : public testing::TestWithParam<DecoderForm> {
 protected:
  static constexpr uint32_t kSteps = 20;

  SessionOptions session_options() const {
    SessionOptions options{.state = "auto"};
    if (decoder.grows()) options.state_capacity = static_cast<uint32_t>(decoder.shape().capacity);
    return options;
  }
  bool has_mask() const { return GetParam() != DecoderForm::tensor_scatter; }
  // The values of inputs that depend on the length, for `steps` runs of `tokens` tokens each.
  std::map<std::string, Tensor> lengths(int64_t past, int64_t tokens, int64_t steps) const {
    const int64_t capacity = decoder.shape().capacity;
    std::vector<int64_t> mask, indices, totals;
    for (int64_t step = 0; step < steps; ++step) {
      const int64_t before = past + step * tokens;
      for (int64_t i = 0; i < capacity; ++i) mask.push_back(i < before + tokens ? 1 : 0);
      indices.push_back(before);
      totals.push_back(before + tokens);
    }
    const auto shaped = [&](Shape shape, const std::vector<int64_t>& values) {
      if (steps > 1) shape.insert(shape.begin(), steps);
      return integers(shape, values);
    };
    if (has_mask()) return {{"attention_mask", shaped({1, capacity}, mask)}};
    return {{"write_indices", shaped({1}, indices)}, {"lengths", shaped({1}, totals)}};
  }
  std::vector<int64_t> run(Session& session, const std::vector<int64_t>& tokens, int64_t past) const {
    const auto count = static_cast<int64_t>(tokens.size());
    auto inputs = lengths(past, count, 1);
    inputs.emplace("input_ids", integers({1, count}, tokens));
    return session.run(inputs).at("next").to_ints();
  }
  StepOptions step_options() const {
    StepOptions options{.steps = kSteps,
                        .feedback = {{"next", "input_ids"}},
                        .step_inputs = {"attention_mask"},
                        .step_outputs = {"next"}};
    if (!has_mask()) options.step_inputs = {"write_indices", "lengths"};
    return options;
  }

  const std::vector<int64_t> prompt{7, 3, 44, 12, 5, 60, 18};
  Decoder decoder{{}, GetParam()};
};

TEST_P(DecodingSteps, HaveTheTokensAndCachesOfSeparateRuns) {
  const Device device = Device::open(device_options());
  const Model model = load(decoder.model());
  Session session(device, model, session_options()), separate(device, model, session_options());
  std::vector<int64_t> expected{run(separate, prompt, 0).back()};
  const auto past = static_cast<int64_t>(prompt.size());
  for (uint32_t i = 0; i < kSteps; ++i)
    expected.push_back(run(separate, {expected.back()}, past + int64_t{i})[0]);
  EXPECT_EQ(expected, decoder.generate(prompt, kSteps + 1));

  const int64_t first = run(session, prompt, 0).back();
  session.prepare({{"input_ids", {1, 1}}});
  StepLoop loop = session.bind_steps(step_options());
  const auto generate = [&] {
    auto inputs = lengths(past, 1, kSteps);
    inputs.emplace("input_ids", integers({1, 1}, {first}));
    return session.run_steps(loop, inputs);
  };
  const auto want = std::vector<int64_t>(expected.begin() + 1, expected.end());
  EXPECT_EQ(generate().outputs.at("next").to_ints(), want);
  for (const StateInfo& state : separate.states())
    EXPECT_TRUE(same_bits(session.state(state.input), separate.state(state.input))) << state.input;

  // After another prompt, whose shapes the session was prepared for in between.
  session.reset_state();
  EXPECT_EQ(run(session, prompt, 0).back(), first);
  EXPECT_EQ(generate().outputs.at("next").to_ints(), want);

  // Up to the end token, which keeps the caches as after that token.
  StepOptions options = step_options();
  options.end_output = "next";
  options.end_values = {want[8]};
  const auto end = static_cast<uint32_t>(std::ranges::find(want, want[8]) - want.begin()) + 1;
  loop = session.bind_steps(options);
  session.reset_state();
  separate.reset_state();
  EXPECT_EQ(run(session, prompt, 0).back(), first);
  EXPECT_EQ(run(separate, prompt, 0).back(), first);
  const StepResults ended = generate();
  EXPECT_TRUE(ended.ended);
  EXPECT_EQ(ended.steps, end);
  for (uint32_t i = 0; i < end; ++i) run(separate, {expected[i]}, past + int64_t{i});
  for (const StateInfo& state : separate.states())
    EXPECT_TRUE(same_bits(session.state(state.input), separate.state(state.input))) << state.input;
  EXPECT_EQ(run(session, {expected[end]}, past + int64_t{end})[0],
            run(separate, {expected[end]}, past + int64_t{end})[0]);
  EXPECT_EQ(device.validation_messages(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Forms, DecodingSteps,
                         testing::Values(DecoderForm::group_query, DecoderForm::group_query_grows,
                                         DecoderForm::tensor_scatter, DecoderForm::concatenation,
                                         DecoderForm::attention));

}  // namespace
}  // namespace vellum::test

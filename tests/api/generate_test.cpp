// Greedy decoding in one session: its caches are state, a prompt of many tokens and steps of one share them,
// and the length is a value of the run.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "decoder.hpp"
#include "public_interface.hpp"
#include "support/tensors.hpp"
#include "vellum/vellum.hpp"
#include "vulkan/interposer.hpp"
#include "vulkan_app.hpp"

namespace vellum::test {
namespace {

const std::vector<int64_t> kPrompt{7, 3, 44, 12, 5, 60, 18};
constexpr size_t kTokens = 64;

class Generate : public testing::TestWithParam<DecoderForm> {
 protected:
  // Runs the tokens after `past` earlier ones, and returns the token that follows the last.
  int64_t step(Session& session, const std::vector<int64_t>& tokens, int64_t past) const {
    const auto count = static_cast<int64_t>(tokens.size()), length = past + count;
    std::map<std::string, Tensor> inputs{{"input_ids", Tensor::i64({1, count}, tokens)}};
    if (GetParam() == DecoderForm::group_query) {
      std::vector<int64_t> mask(static_cast<size_t>(decoder.shape().capacity), 0);
      std::fill_n(mask.begin(), length, 1);
      inputs.emplace("attention_mask", Tensor::i64({1, decoder.shape().capacity}, mask));
    } else {
      inputs.emplace("write_indices", Tensor::i64({1}, std::vector<int64_t>{past}));
      inputs.emplace("lengths", Tensor::i64({1}, std::vector<int64_t>{length}));
    }
    return session.run(inputs).at("next").to_ints().back();
  }

  std::vector<int64_t> generate(Session& session, size_t count) const {
    std::vector<int64_t> tokens{step(session, kPrompt, 0)};
    auto past = static_cast<int64_t>(kPrompt.size());
    while (tokens.size() < count) tokens.push_back(step(session, {tokens.back()}, past++));
    return tokens;
  }

  Decoder decoder{{}, GetParam()};
};

TEST_P(Generate, TheTokensOfTheDoubleReference) {
  const std::vector<int64_t> expected = decoder.generate(kPrompt, kTokens);
  EXPECT_GT(std::set<int64_t>(expected.begin(), expected.end()).size(), 8u) << "no loop of few tokens";
  const Device device = Device::open(device_options());
  const Model model = load(decoder.model());
  Session session(device, model, {.state = "auto"});
  ASSERT_EQ(session.states().size(), 4u);
  EXPECT_EQ(generate(session, kTokens), expected);
  EXPECT_TRUE(session.warnings().empty()) << session.warnings().front();
  // From a copy of the state after the prompt the same tokens follow.
  session.reset_state();
  const int64_t first = step(session, kPrompt, 0);
  const SavedState after_prompt = session.save_state();
  const auto past = static_cast<int64_t>(kPrompt.size());
  const int64_t second = step(session, {first}, past);
  step(session, {second}, past + 1);
  session.restore_state(after_prompt);
  EXPECT_EQ(step(session, {first}, past), expected[1]);
  EXPECT_EQ(device.validation_messages(), 0u);
}

TEST_P(Generate, ANewLengthMakesNothing) {
  Interposer vulkan;
  VulkanApp app(vulkan.get_instance_proc_addr());
  DeviceOptions options = device_options();
  options.validation = false;  // the application's instance has it
  const Device device = Device::adopt(app.device(), options);
  Session session(device, load(decoder.model()), {.state = "auto"});
  int64_t token = step(session, kPrompt, 0);
  auto past = static_cast<int64_t>(kPrompt.size());
  token = step(session, {token}, past++);
  const uint32_t before = vulkan.objects_made(), allocations = vulkan.allocations();
  EXPECT_GT(before, 10u) << "the count counts";
  for (int i = 0; i < 5; ++i) token = step(session, {token}, past++);
  EXPECT_EQ(vulkan.objects_made(), before);
  EXPECT_EQ(vulkan.allocations(), allocations);
}

INSTANTIATE_TEST_SUITE_P(Forms, Generate,
                         testing::Values(DecoderForm::group_query, DecoderForm::tensor_scatter),
                         [](const auto& info) {
                           return info.param == DecoderForm::group_query ? "GroupQueryAttention"
                                                                         : "TensorScatter";
                         });

}  // namespace
}  // namespace vellum::test

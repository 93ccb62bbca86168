// Steps by the C interface.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "step_models.hpp"
#include "vellum/vellum.h"

namespace vellum::test {
namespace {

TEST_F(Steps, AreThereForC) {
  const std::string bytes = counter().bytes();
  vellum_error error;
  vellum_model* model = nullptr;
  vellum_device* c_device = nullptr;
  vellum_session* session = nullptr;
  vellum_session_options session_options{};
  vellum_session_options_init(&session_options);
  session_options.state = "auto";
  ASSERT_EQ(vellum_model_load_bytes(bytes.data(), bytes.size(), &model, &error), VELLUM_OK);
  ASSERT_EQ(vellum_device_open(nullptr, &c_device, &error), VELLUM_OK) << error.message;
  ASSERT_EQ(vellum_session_create(c_device, model, &session_options, &session, &error), VELLUM_OK);
  const vellum_feedback feedback{"next", "token"};
  const char* const kept[] = {"next"};
  const int64_t end = 8, first = 0;
  vellum_step_options options{};
  vellum_step_options_init(&options);
  EXPECT_EQ(options.steps, 1u);
  options.steps = 9;
  options.steps_per_submit = 1;
  options.feedback = &feedback;
  options.feedback_count = 1;
  options.step_outputs = kept;
  options.step_output_count = 1;
  options.end_output = "next";
  options.end_values = &end;
  options.end_value_count = 1;
  vellum_step_loop* loop = nullptr;
  ASSERT_EQ(vellum_step_loop_create(session, &options, &loop, &error), VELLUM_OK) << error.message;
  const vellum_input_values input{"token", &first, sizeof first, nullptr, 0};
  vellum_step_results results{};
  results.size = sizeof results;
  std::vector<uint32_t> reported;
  const auto report = [](uint32_t steps, void* user) -> int32_t {
    static_cast<std::vector<uint32_t>*>(user)->push_back(steps);
    return 0;
  };
  ASSERT_EQ(vellum_step_loop_run(loop, session, &input, 1, report, &reported, &results, &error), VELLUM_OK)
      << error.message;
  EXPECT_EQ(results.steps, 4u);
  EXPECT_EQ(results.ended, 1);
  // The count includes the second submit, if that has ended when the progress of the first is reported.
  ASSERT_FALSE(reported.empty());
  EXPECT_GE(reported.front(), 1u);
  EXPECT_TRUE(std::ranges::is_sorted(reported));
  vellum_tensor* tokens = nullptr;
  ASSERT_EQ(vellum_step_loop_output(loop, "next", &tokens, &error), VELLUM_OK) << error.message;
  const auto* values = static_cast<const int64_t*>(vellum_tensor_values(tokens));
  EXPECT_EQ(std::vector<int64_t>(values, values + 4), (std::vector<int64_t>{1, 4, 13, 8}));
  vellum_tensor_destroy(tokens);
  EXPECT_EQ(vellum_step_loop_output(loop, "sum.next", &tokens, &error), VELLUM_NOT_FOUND);
  const auto stop = [](uint32_t, void*) -> int32_t { return 1; };
  ASSERT_EQ(vellum_step_loop_run(loop, session, &input, 1, stop, nullptr, &results, &error), VELLUM_OK);
  EXPECT_EQ(results.steps, 2u);
  EXPECT_EQ(results.ended, 0);
  options.end_value_count = 0;
  vellum_step_loop* none = nullptr;
  EXPECT_EQ(vellum_step_loop_create(session, &options, &none, &error), VELLUM_INVALID_ARGUMENT);
  vellum_session_destroy(session);
  vellum_step_loop_destroy(loop);
  vellum_device_destroy(c_device);
  vellum_model_destroy(model);
}

}  // namespace
}  // namespace vellum::test

// State of a session: inputs that stay on the device and get the value of an output in each run.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "glslang_tables.hpp"
#include "public_interface.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "vellum/estimate.hpp"
#include "vellum/plan.hpp"
#include "vellum/vellum.h"
#include "vellum/vellum.hpp"

namespace vellum::test {
namespace {

Tensor floats(const Shape& shape, const std::vector<float>& values) { return Tensor::f32(shape, values); }

// sum.next = sum + x, y = 2 sum.next + the sum of z, which has any length.
OnnxModel running_sum() {
  OnnxModel model;
  model.input("x", {3})
      .input("sum", {3})
      .input("z", {kUnknownDim, kUnknownDim})
      .node("Add", {"sum", "x"}, {"sum.next"})
      .node("Add", {"sum.next", "sum.next"}, {"twice"})
      .node("ReduceSum", {"z"}, {"of_z"}, attributes({{"keepdims", int64_t{0}}}))
      .node("Add", {"twice", "of_z"}, {"y"})
      .output("y")
      .output("sum.next");
  return model;
}

const Tensor kX = floats({3}, {1, -2, 4}), kZ = floats({1, 2}, {0, 0});

class State : public testing::Test {
 protected:
  static void SetUpTestSuite() { device_ = new Device(Device::open(device_options())); }
  static void TearDownTestSuite() { delete device_; }
  void TearDown() override { EXPECT_EQ(device().validation_messages(), 0u); }
  static Device& device() { return *device_; }
  static Session make(const OnnxModel& model, const std::string& state, SessionOptions options = {}) {
    options.state = state;
    return Session(device(), load(model), options);
  }
  static Device* device_;
};
Device* State::device_ = nullptr;

TEST_F(State, RunsContinueIt) {
  for (const Precision precision : {Precision::fp32, Precision::fp16})
    for (const char* const pairs : {"sum=sum.next", "auto"}) {
      Session session = make(running_sum(), pairs, {.precision = precision});
      ASSERT_EQ(session.states().size(), 1u);
      EXPECT_EQ(session.states()[0].input, "sum");
      EXPECT_EQ(session.states()[0].output, "sum.next");
      for (int i = 1; i <= 3; ++i) {
        const auto outputs = session.run({{"x", kX}, {"z", kZ}});
        ASSERT_EQ(outputs.size(), 1u);  // the state is not among them
        const auto n = static_cast<float>(i);
        EXPECT_TRUE(close(outputs.at("y"), floats({3}, {2 * n, -4 * n, 8 * n})));
        EXPECT_TRUE(close(session.state("sum"), floats({3}, {n, -2 * n, 4 * n})));
      }
    }
}

TEST_F(State, IsSharedByAllShapesOfInputs) {
  Session session = make(running_sum(), "auto");
  session.run({{"x", kX}, {"z", kZ}});
  session.run({{"x", kX}, {"z", floats({1, 5}, {0, 0, 0, 0, 1})}});
  EXPECT_TRUE(close(session.output("y"), floats({3}, {5, -7, 17})));
  const vellum::Run run = session.submit({{"x", kX}, {"z", kZ}});
  EXPECT_TRUE(close(run.output("y"), floats({3}, {6, -12, 24})));
  EXPECT_EQ(run.outputs().size(), 1u);
  EXPECT_TRUE(close(session.state("sum.next"), floats({3}, {3, -6, 12})));
}

TEST_F(State, IsSetResetSavedAndRestored) {
  Session session = make(running_sum(), "auto"), other = make(running_sum(), "auto");
  EXPECT_VELLUM_ERROR(session.state("sum"), ErrorCode::invalid_argument, "no state yet");
  session.run({{"x", kX}, {"z", kZ}});
  const SavedState saved = session.save_state();
  EXPECT_GE(saved.bytes(), 12u);
  session.set_state("sum", floats({3}, {10, 20, 30}));
  session.run({{"x", kX}, {"z", kZ}});
  EXPECT_TRUE(close(session.state("sum"), floats({3}, {11, 18, 34})));
  session.restore_state(saved);
  EXPECT_TRUE(close(session.state("sum"), kX));
  session.reset_state();
  EXPECT_TRUE(close(session.state("sum"), floats({3}, {0, 0, 0})));
  EXPECT_VELLUM_ERROR(other.restore_state(saved), ErrorCode::invalid_argument, "not prepared");
  other.prepare({{"z", {1, 2}}});
  other.restore_state(saved);
  other.run({{"x", kX}, {"z", kZ}});
  EXPECT_TRUE(close(other.state("sum"), floats({3}, {2, -4, 8})));
  EXPECT_TRUE(close(session.state("sum"), floats({3}, {0, 0, 0})));
  EXPECT_VELLUM_ERROR(other.restore_state(SavedState()), ErrorCode::invalid_argument, "empty");
  EXPECT_VELLUM_ERROR(other.set_state("sum", kZ), ErrorCode::invalid_argument, "3 float32");
  EXPECT_VELLUM_ERROR(other.state("x"), ErrorCode::not_found, "'sum'");
}

// Each state is read before the other is written.
TEST_F(State, StatesMayChangePlaces) {
  OnnxModel model;
  model.input("a_in", {5})
      .input("b_in", {5})
      .node("Identity", {"b_in"}, {"a_out"})
      .node("Identity", {"a_in"}, {"b_out"})
      .node("Sub", {"a_in", "b_in"}, {"y"})
      .output("a_out")
      .output("y")
      .output("b_out");
  Session session = make(model, "auto");
  const Tensor a = random_tensor({5}, 1), b = random_tensor({5}, 2);
  session.set_state("a_in", a);
  session.set_state("b_in", b);
  session.run();
  EXPECT_TRUE(close(session.state("a_in"), b));
  EXPECT_TRUE(close(session.state("b_in"), a));
}

// past.next = past with `row` at `at`; y = past.next + past where past is read a second time.
OnnxModel row_writer(bool reads_past) {
  OnnxModel model;
  model.input("past", {4, 3})
      .input("row", {1, 3})
      .input("at", {1, 1}, DType::i64)
      .node("ScatterND", {"past", "at", "row"}, {"present"})
      .node("Add", {"present", reads_past ? "past" : "present"}, {"y"})
      .output("y")
      .output("present");
  return model;
}

TEST_F(State, IsWrittenInPlaceUnlessTheOldValueIsRead) {
  const Tensor old = random_tensor({4, 3}, 3), row = random_tensor({1, 3}, 4);
  for (const bool reads_past : {false, true}) {
    Session session = make(row_writer(reads_past), "past=present"), plain = make(row_writer(reads_past), "");
    session.set_state("past", old);
    const Tensor at = Tensor::i64({1, 1}, std::vector<int64_t>{2});
    const auto expected = plain.run({{"past", old}, {"row", row}, {"at", at}});
    EXPECT_TRUE(close(session.run({{"row", row}, {"at", at}}).at("y"), expected.at("y")));
    EXPECT_TRUE(close(session.state("past"), expected.at("present")));
    // In place there is no copy of the cache before the scatter, else one more after it.
    EXPECT_EQ(session.dispatch_count(), plain.dispatch_count() + (reads_past ? 1 : 0) - (reads_past ? 0 : 1));
  }
}

TEST_F(State, IsACategoryOfMemory) {
  const Model model = load(row_writer(false));
  const SessionOptions options{.state = "past=present"};
  Session session(device(), model, options);
  const MemoryEstimate estimate = estimate_memory(model, options, device());
  EXPECT_EQ(estimate.use.state, 48u);
  EXPECT_EQ(estimate.vulkan.state, session.memory().state_bytes);
  EXPECT_GE(session.memory().state_bytes, 48u);
  EXPECT_EQ(estimate_memory(model, {}, device()).use.state, 0u);
  const MemoryEstimate plain = estimate_memory(model, {}, device());
  EXPECT_LT(estimate.vulkan.in_out, plain.vulkan.in_out);
  SessionOptions budget = options;
  budget.memory_budget = estimate.vulkan.peak;
  Session within(device(), model, budget);
  within.run({{"row", random_tensor({1, 3}, 1)}, {"at", Tensor::i64({1, 1}, std::vector<int64_t>{0})}});
  EXPECT_LE(within.memory().budget_peak_bytes, budget.memory_budget);
}

TEST_F(State, MisuseIsExplained) {
  EXPECT_VELLUM_ERROR(make(running_sum(), "sum"), ErrorCode::invalid_argument, "past=present");
  EXPECT_VELLUM_ERROR(make(running_sum(), "total=sum.next"), ErrorCode::not_found, "'total'", "'sum'");
  EXPECT_VELLUM_ERROR(make(running_sum(), "sum=x"), ErrorCode::not_found, "'x'", "'y'");
  EXPECT_VELLUM_ERROR(make(running_sum(), "sum=y;x=y"), ErrorCode::invalid_argument, "two pairs");
  EXPECT_VELLUM_ERROR(make(running_sum(), "auto", {.in_flight = 2}), ErrorCode::invalid_argument,
                      "in_flight");
  EXPECT_VELLUM_ERROR(make(row_writer(false), "row=present"), ErrorCode::invalid_argument, "'row'", "1x3",
                      "4x3");
  EXPECT_VELLUM_ERROR(make(row_writer(false), "at=present"), ErrorCode::invalid_argument, "int64");
  OnnxModel nothing;
  nothing.input("x", {1}).node("Neg", {"x"}, {"y"}).output("y");
  EXPECT_VELLUM_ERROR(make(nothing, "auto"), ErrorCode::invalid_argument, "finds no input");
  OnnxModel growing;
  growing.input("past", {1, 4})
      .input("x", {1, 1})
      .node("Concat", {"past", "x"}, {"present"}, attributes({{"axis", int64_t{1}}}))
      .output("present");
  EXPECT_VELLUM_ERROR(make(growing, "auto"), ErrorCode::invalid_argument, "longer in each run");
  Session session = make(running_sum(), "auto");
  EXPECT_VELLUM_ERROR(session.set_input("sum", kX), ErrorCode::invalid_argument, "set_state()");
  EXPECT_VELLUM_ERROR(session.run({{"x", kX}, {"z", kZ}, {"sum", kX}}), ErrorCode::invalid_argument,
                      "set_state()");
  EXPECT_VELLUM_ERROR(session.submit({{"x", kX}, {"z", kZ}, {"sum", kX}}), ErrorCode::invalid_argument,
                      "set_state()");
  session.run({{"x", kX}, {"z", kZ}});
  EXPECT_VELLUM_ERROR(session.output("sum.next"), ErrorCode::invalid_argument, "state()");
}

TEST_F(State, IsThereForC) {
  const std::string bytes = row_writer(false).bytes();
  vellum_error error;
  vellum_model* c_model = nullptr;
  vellum_device* c_device = nullptr;
  vellum_session* session = nullptr;
  vellum_session_options options{};
  vellum_session_options_init(&options);
  options.state = "past=present";
  ASSERT_EQ(vellum_model_load_bytes(bytes.data(), bytes.size(), &c_model, &error), VELLUM_OK);
  ASSERT_EQ(vellum_device_open(nullptr, &c_device, &error), VELLUM_OK) << error.message;
  ASSERT_EQ(vellum_session_create(c_device, c_model, &options, &session, &error), VELLUM_OK) << error.message;
  ASSERT_EQ(vellum_session_state_count(session), 1u);
  vellum_state_info info{};
  info.size = sizeof info;
  ASSERT_EQ(vellum_session_state(session, 0, &info, &error), VELLUM_OK);
  EXPECT_STREQ(info.input, "past");
  EXPECT_STREQ(info.output, "present");
  EXPECT_EQ(info.byte_size, 48u);
  EXPECT_EQ(vellum_session_state(session, 1, &info, &error), VELLUM_INVALID_ARGUMENT);
  std::vector<float> values(12, 2.0f), read(12);
  EXPECT_EQ(vellum_session_set_state(session, "past", values.data(), 48, &error), VELLUM_OK);
  vellum_saved_state* saved = nullptr;
  ASSERT_EQ(vellum_session_save_state(session, &saved, &error), VELLUM_OK);
  EXPECT_EQ(vellum_session_reset_state(session, &error), VELLUM_OK);
  EXPECT_EQ(vellum_session_get_state(session, "present", read.data(), 48, &error), VELLUM_OK);
  EXPECT_EQ(read, std::vector<float>(12, 0.0f));
  EXPECT_EQ(vellum_session_restore_state(session, saved, &error), VELLUM_OK);
  EXPECT_EQ(vellum_session_get_state(session, "past", read.data(), 48, &error), VELLUM_OK);
  EXPECT_EQ(read, values);
  EXPECT_EQ(vellum_session_get_state(session, "past", read.data(), 44, &error), VELLUM_INVALID_ARGUMENT);
  EXPECT_EQ(vellum_session_get_state(session, "row", read.data(), 48, &error), VELLUM_NOT_FOUND);
  vellum_saved_state_destroy(saved);
  vellum_session_destroy(session);
  vellum_device_destroy(c_device);
  vellum_model_destroy(c_model);
}

TEST_F(State, StatesThatAllShapesCannotShareAreRefused) {
  OnnxModel model;
  model.input("s", {kUnknownDim}).node("Neg", {"s"}, {"s.next"}).output("s.next");
  Session session = make(model, "auto", {.input_shapes = {{"s", {2}}}});
  session.set_state("s", floats({2}, {1, 2}));
  session.run();
  EXPECT_VELLUM_ERROR(session.prepare({{"s", {3}}}), ErrorCode::invalid_argument, "first prepared");
  session.run();
}

}  // namespace
}  // namespace vellum::test

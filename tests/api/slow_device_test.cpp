// Sessions on a slow device: nobody beside them waits long.
#include "vulkan/slow_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "api/impl.hpp"
#include "plan/dispatch_model.hpp"
#include "public_interface.hpp"
#include "support/errors.hpp"
#include "support/fetched_model.hpp"
#include "support/tensors.hpp"
#include "vulkan_app.hpp"

namespace vellum::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// A dispatch takes up to this times what the performance model predicts.
constexpr double kSlowest = 1.4;
constexpr uint32_t kMaxSubmitMs = 1;

class SlowDevices : public testing::Test {
 protected:
  SlowDevices() : app(vulkan.get_instance_proc_addr(), with_timeline_semaphores()), device(adopt()) {}

  Device adopt() {
    DeviceOptions options = adopt_options();
    options.debug_labels = true;
    return Device::adopt(app.device(), options);
  }

  // From now on a dispatch of the model takes 0.6 to 1.4 times as long as predicted. Returns the predicted
  // milliseconds of a run.
  double slow_down() {
    std::map<std::string, std::vector<double>> times;
    double predicted = 0;
    impl(device)->on_compiled = [&](const CompiledModel& compiled) {
      const std::vector<double> tasks =
          predicted_milliseconds(compiled.program, compiled.barriers, impl(device)->context->caps());
      for (size_t t = 0; t < tasks.size(); ++t) {
        if (!compiled.program.tasks[t].dispatch) continue;
        const Dispatch& dispatch = *compiled.program.tasks[t].dispatch;
        const double slowness = 0.6 + (kSlowest - 0.6) * static_cast<double>(t * 7 % 11) / 10;
        times[dispatch.name + " (" + dispatch.op + ")"].push_back(slowness * tasks[t]);
        predicted += tasks[t];
      }
    };
    const Session session(device, loaded);
    impl(device)->on_compiled = nullptr;
    vulkan.slow_dispatches(std::move(times));
    return predicted;
  }

  SlowDevice vulkan;
  VulkanApp app;
  Device device;
  const FetchedModel& model = fetched_model("blazeface_front");
  Model loaded = Model::load(model.model());
  std::string input = loaded.inputs()[0].name, output = loaded.outputs()[0].name;
  Tensor picture = model.input();
};

TEST_F(SlowDevices, NoSubmitIsLongAndAnotherUserWaitsNoLonger) {
  const double predicted = slow_down();
  ASSERT_GT(predicted, 2.0 * kMaxSubmitMs) << "a run is too short for this test";
  Session whole(device, loaded, {.max_submit_ms = 0});
  const Tensor want = whole.run({{input, picture}}).at(output);
  ASSERT_GT(vulkan.largest_wait_milliseconds(), 1.5 * kMaxSubmitMs) << "undivided, others wait";

  Session session(device, loaded, {.max_submit_ms = kMaxSubmitMs});
  vulkan.forget_submits();
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(same_bits(session.run({{input, picture}}).at(output), want));
  const std::vector<double> submits = vulkan.submitted_milliseconds();
  EXPECT_GE(submits.size(), 12u);
  EXPECT_LE(std::ranges::max(submits), 1.5 * kMaxSubmitMs);
  EXPECT_LE(vulkan.largest_wait_milliseconds(), 1.5 * kMaxSubmitMs);
}

TEST_F(SlowDevices, AProducerThatDropsFramesIsNotBlocked) {
  slow_down();
  Session session(device, loaded, {.max_submit_ms = kMaxSubmitMs, .in_flight = 2});
  session.run({{input, picture}});
  const InputValues in{input, {picture.data(), picture.byte_size()}};
  const uint32_t waits = vulkan.blocking_waits();
  std::vector<double> taken;
  std::vector<vellum::Run> runs;
  size_t dropped = 0;
  for (int frame = 0; frame < 300; ++frame) {
    const Clock::time_point before = Clock::now();
    vellum::Run run = session.try_submit({&in, 1}, {});
    taken.push_back(std::chrono::duration<double, std::milli>(Clock::now() - before).count());
    if (run.valid())
      runs.push_back(std::move(run));
    else
      ++dropped;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  EXPECT_EQ(vulkan.blocking_waits(), waits);
  EXPECT_GE(runs.size(), 2u);
  EXPECT_GT(dropped, runs.size());
  // Half of the calls, since others use the machine's cores as well.
  std::ranges::nth_element(taken, taken.begin() + 150);
  EXPECT_LT(taken[150], 1.0);
}

TEST_F(SlowDevices, CancellingReturnsWhilePipelinesAreMade) {
  constexpr milliseconds kPipeline(150);
  vulkan.slow_pipelines(kPipeline);
  Clock::duration quickest = std::chrono::hours(1);
  for (int i = 0; i < 3; ++i) {
    const uint32_t before = vulkan.pipelines_begun();
    SessionCreation creation = Session::create_async(device, loaded);
    while (vulkan.pipelines_begun() == before && !creation.done()) std::this_thread::yield();
    ASSERT_FALSE(creation.done());
    const uint32_t begun = vulkan.pipelines_begun();
    const Clock::time_point start = Clock::now();
    creation.cancel();
    quickest = std::min(quickest, Clock::now() - start);
    EXPECT_VELLUM_ERROR(creation.get(), ErrorCode::cancelled, "cancelled");
    // Each thread may be at one, and may just have begun another.
    EXPECT_LE(vulkan.pipelines_begun(), begun + 2 * std::max(1u, std::thread::hardware_concurrency()));
  }
  EXPECT_LT(quickest, milliseconds(100));
}

}  // namespace
}  // namespace vellum::test

// A session beside other work: runs that never make their caller wait, that are divided,
// cancelled and labelled, and sessions that are made on a thread of their own.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

#include "public_interface.hpp"
#include "small_model.hpp"
#include "support/environment.hpp"
#include "support/errors.hpp"
#include "support/fetched_model.hpp"
#include "support/tensors.hpp"
#include "vulkan/interposer.hpp"
#include "vulkan_app.hpp"

namespace vellum::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
constexpr auto kLong = std::chrono::minutes(5);

// On the device of an application, whose calls of Vulkan through Vellum are counted, and whose queue the
// application can hold.
class Citizen : public testing::Test {
 protected:
  Citizen() : app(vulkan.get_instance_proc_addr(), with_timeline_semaphores()), device(adopt()) {}

  Device adopt() {
    DeviceOptions options = adopt_options();
    options.debug_labels = true;
    return Device::adopt(app.device(), options);
  }

  Interposer vulkan;
  VulkanApp app;
  Device device;
  Tensor x = random_tensor({1, 3, 9, 11}, 1);
};

// As long as it is closed, the device does nothing that is submitted after it: a run that waits for a
// semaphore of the application's.
class Gate {
 public:
  Gate(VulkanApp& app, const Device& device)
      : app_(app), semaphore_(app.make_timeline()), session_(device, load(small_model())) {
    const Tensor x = random_tensor({1, 3, 9, 11}, 1);
    const InputValues in{"x", {x.data(), x.byte_size()}};
    const SemaphoreValue wait{*semaphore_, 1};
    run_ = session_.submit({&in, 1}, {}, {.wait = {&wait, 1}});
  }
  ~Gate() { open(); }
  void open() {
    if (!std::exchange(is_open_, true))
      app_.handle().signalSemaphore(vk::SemaphoreSignalInfo(*semaphore_, 1));
  }

 private:
  VulkanApp& app_;
  vk::raii::Semaphore semaphore_;
  Session session_;
  vellum::Run run_;
  bool is_open_ = false;
};

TEST_F(Citizen, DroppedFramesWaitForNothing) {
  Session session(device, load(small_model()), {.in_flight = 2});
  const Tensor want = session.run({{"x", x}}).at("y");
  const InputValues in{"x", {x.data(), x.byte_size()}};
  Gate gate(app, device);
  const vellum::Run first = session.try_submit({{"x", x}}), second = session.try_submit({&in, 1}, {});
  ASSERT_TRUE(first.valid() && second.valid());
  const uint32_t waits = vulkan.waits(), submits = vulkan.submits(), objects = vulkan.objects_made();
  Clock::duration quickest = kLong;
  for (int frame = 0; frame < 100; ++frame) {
    const Clock::time_point before = Clock::now();
    EXPECT_FALSE(session.try_submit({&in, 1}, {}).valid());
    quickest = std::min(quickest, Clock::now() - before);
  }
  EXPECT_EQ(vulkan.waits(), waits);
  EXPECT_EQ(vulkan.submits(), submits);
  EXPECT_EQ(vulkan.objects_made(), objects);
  EXPECT_LT(quickest, milliseconds(1));
  gate.open();
  second.wait();
  EXPECT_TRUE(same_bits(first.output("y"), want));
  EXPECT_TRUE(session.try_submit({&in, 1}, {}).valid());
}

TEST_F(Citizen, RunsThatTheDeviceHasDoneMakeRoom) {
  Session session(device, load(small_model()));
  const Tensor want = session.run({{"x", x}}).at("y");
  const vellum::Run first = session.try_submit({{"x", x}});
  vellum::Run second;
  while (!(second = session.try_submit({{"x", x}})).valid()) std::this_thread::yield();
  EXPECT_TRUE(same_bits(first.output("y"), want));
  EXPECT_TRUE(same_bits(second.output("y"), want));
}

TEST_F(Citizen, RunsThatCannotBeginAreRefused) {
  Session session(device, load(small_model({-1, 3, -1, -1})));
  EXPECT_VELLUM_ERROR(session.try_submit({{"x", x}}), ErrorCode::invalid_argument, "prepare()");
  session.prepare({{"x", x.shape()}});
  EXPECT_TRUE(session.try_submit({{"x", x}}).valid());
  EXPECT_VELLUM_ERROR(session.try_submit({{"x", random_tensor({1, 3, 8, 8}, 1)}}),
                      ErrorCode::invalid_argument, "prepare()");
  EXPECT_VELLUM_ERROR(session.try_submit({}, {}), ErrorCode::invalid_argument, "'x'");
}

TEST_F(Citizen, WaitsEndAtTheirLimit) {
  Session session(device, load(small_model()));
  const Tensor want = session.run({{"x", x}}).at("y");
  Gate gate(app, device);
  const vellum::Run run = session.submit({{"x", x}});
  const Clock::time_point before = Clock::now();
  EXPECT_FALSE(run.wait_for(milliseconds(20)));
  EXPECT_GE(Clock::now() - before, milliseconds(20));
  EXPECT_FALSE(run.wait_for(milliseconds(0)));
  EXPECT_FALSE(run.wait_for(milliseconds(-5)));
  gate.open();
  EXPECT_TRUE(run.wait_for(std::chrono::nanoseconds::max()));
  EXPECT_TRUE(run.done());
  EXPECT_TRUE(run.wait_for(milliseconds(0)));
  EXPECT_TRUE(same_bits(run.output("y"), want));
}

TEST_F(Citizen, ACancelledRunLeavesItsOutputsAlone) {
  Session session(device, load(small_model()));
  const Tensor want = session.run({{"x", x}}).at("y");
  Tensor y(DType::f32, want.shape());
  std::ranges::fill(y.mutable_as<float>(), 7.0f);
  const InputValues in{"x", {x.data(), x.byte_size()}};
  const OutputValues out{"y", {y.mutable_data(), y.byte_size()}};
  Gate gate(app, device);
  const vellum::Run run = session.submit({&in, 1}, {&out, 1});
  run.cancel();
  EXPECT_FALSE(run.done()) << "the device has it";
  gate.open();
  EXPECT_VELLUM_ERROR(run.wait(), ErrorCode::cancelled, "cancelled");
  EXPECT_VELLUM_ERROR(run.wait(), ErrorCode::cancelled, "cancelled");
  EXPECT_TRUE(std::ranges::all_of(y.as<float>(), [](float value) { return value == 7.0f; }));
  const vellum::Run next = session.submit({&in, 1}, {&out, 1});
  next.wait();
  next.cancel();  // too late to matter
  next.wait();
  EXPECT_TRUE(same_bits(y, want));
  EXPECT_VELLUM_ERROR(vellum::Run().cancel(), ErrorCode::invalid_argument, "no run");
}

TEST_F(Citizen, ARunIsCancelledWhileAnotherThreadWaitsForIt) {
  Session session(device, load(small_model()), {.in_flight = 2});
  Gate gate(app, device);
  const vellum::Run run = session.submit({{"x", x}}), other = session.submit({{"x", x}});
  std::thread waits([&] { EXPECT_VELLUM_ERROR(run.wait(), ErrorCode::cancelled, "cancelled"); });
  run.cancel();
  gate.open();
  waits.join();
  EXPECT_EQ(other.output("y").elements(), 40);
}

TEST_F(Citizen, NothingOfNaNStaysForTheNextRun) {
  Tensor nan(DType::f32, x.shape());
  std::ranges::fill(nan.mutable_as<float>(), std::numeric_limits<float>::quiet_NaN());
  for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::buffer}) {
    Session session(device, load(small_model()), {.storage = storage});
    const Tensor want = session.run({{"x", x}}).at("y");
    session.run({{"x", nan}});
    EXPECT_TRUE(same_bits(session.run({{"x", x}}).at("y"), want));
  }
}

// Blazeface is predicted to take some milliseconds on a CPU.
class LongRuns : public Citizen {
 protected:
  // Submits of a run that the device has at the same time. On lavapipe none is above half a millisecond, so
  // that two always fit; on SwiftShader some are longer.
  static uint32_t least_at_once() { return on_swiftshader() ? 1 : 2; }

  const FetchedModel& model = fetched_model("blazeface_front");
  Model loaded = Model::load(model.model());
  std::string input = loaded.inputs()[0].name, output = loaded.outputs()[0].name;
  Tensor picture = model.input();
};

TEST_F(LongRuns, AreDividedAndHandedOverBitByBit) {
  Session whole(device, loaded, {.max_submit_ms = 0});
  const Tensor want = whole.run({{input, picture}}).at(output);
  const size_t submits_before = vulkan.submitted_dispatches().size();
  Session session(device, loaded, {.max_submit_ms = 1});
  EXPECT_TRUE(same_bits(session.run({{input, picture}}).at(output), want));
  std::vector<uint32_t> submitted = vulkan.submitted_dispatches();
  // The last ones: pipelines that are compiled early are submitted, too.
  ASSERT_GE(submitted.size(), submits_before + 4);
  uint32_t dispatches = 0, submits = 0;
  while (dispatches < session.dispatch_count()) dispatches += submitted.at(submitted.size() - ++submits);
  EXPECT_EQ(dispatches, session.dispatch_count());
  EXPECT_GE(submits, 4u);

  Gate gate(app, device);
  const uint32_t before = vulkan.submits();
  const vellum::Run run = session.submit({{input, picture}});
  EXPECT_FALSE(run.done());
  // The times that the first run measured divide this run into more submits on SwiftShader.
  const uint32_t handed_over = vulkan.submits();
  EXPECT_GE(handed_over, before + least_at_once());
  gate.open();
  EXPECT_TRUE(same_bits(run.output(output), want));
  EXPECT_GT(vulkan.submits(), handed_over);
  EXPECT_GE(vulkan.submits(), before + submits);
}

TEST_F(LongRuns, EndWhereTheyAreCancelled) {
  Session session(device, loaded, {.max_submit_ms = 1});
  const Tensor want = session.run({{input, picture}}).at(output);
  {
    Gate gate(app, device);
    const uint32_t before = vulkan.submits();
    const vellum::Run run = session.submit({{input, picture}});
    const uint32_t handed_over = vulkan.submits();
    EXPECT_GE(handed_over, before + least_at_once());
    run.cancel();
    gate.open();
    EXPECT_TRUE(run.wait_for(kLong));
    EXPECT_VELLUM_ERROR(run.wait(), ErrorCode::cancelled, "cancelled");
    EXPECT_EQ(vulkan.submits(), handed_over) << "the device got no more";
  }
  EXPECT_TRUE(same_bits(session.run({{input, picture}}).at(output), want));
}

TEST_F(LongRuns, WithSemaphoresAreHandedOverAtOnce) {
  Session session(device, loaded, {.max_submit_ms = 1});
  const Tensor want = session.run({{input, picture}}).at(output);
  const vk::raii::Semaphore end = app.make_timeline();
  const SemaphoreValue signal{*end, 1};
  const InputValues in{input, {picture.data(), picture.byte_size()}};
  const vellum::Run run = session.submit({&in, 1}, {}, {.signal = {&signal, 1}});
  run.cancel();
  const vk::SemaphoreWaitInfo wait({}, *end, signal.value.value());
  EXPECT_EQ(app.handle().waitSemaphores(wait, UINT64_MAX), vk::Result::eSuccess) << "nobody called wait()";
}

TEST_F(LongRuns, AreMadeOnAnotherThread) {
  const Tensor want = Session(device, loaded).run({{input, picture}}).at(output);
  SessionCreation creation = Session::create_async(device, loaded);
  ASSERT_TRUE(creation.valid());
  EXPECT_TRUE(creation.wait_for(kLong));
  EXPECT_TRUE(creation.done());
  EXPECT_GT(creation.progress().total, 0u);
  EXPECT_EQ(creation.progress().ready, creation.progress().total);
  Session session = creation.get();
  EXPECT_FALSE(creation.valid());
  EXPECT_TRUE(same_bits(session.run({{input, picture}}).at(output), want));
  EXPECT_VELLUM_ERROR(creation.get(), ErrorCode::invalid_argument, "taken already");
  EXPECT_VELLUM_ERROR(SessionCreation().cancel(), ErrorCode::invalid_argument, "no session");
  EXPECT_VELLUM_ERROR(Session::create_async(device, loaded, {.in_flight = 0}).get(),
                      ErrorCode::invalid_argument, "in flight");
}

TEST_F(LongRuns, AreCancelledWhileTheirPipelinesAreMade) {
  const uint64_t bytes = vulkan.allocated_bytes();
  const uint32_t allocations = vulkan.allocations();
  Clock::duration quickest = Clock::duration::max();  // a busy machine may delay one
  for (const bool destroyed_at_once : {false, true}) {
    SessionCreation creation = Session::create_async(device, loaded);
    while (creation.progress().ready < 1 + 2u * destroyed_at_once && !creation.done())
      std::this_thread::yield();
    const CreationProgress at = creation.progress();
    ASSERT_LT(at.ready, at.total);
    const uint32_t made = vulkan.pipelines_made();
    const Clock::time_point before = Clock::now();
    creation.cancel();
    quickest = std::min(quickest, Clock::now() - before);
    if (!destroyed_at_once) {
      EXPECT_VELLUM_ERROR(creation.get(), ErrorCode::cancelled, "cancelled");
      // Each thread may be at one, and may just have begun another.
      EXPECT_LE(vulkan.pipelines_made(), made + 2 * std::max(1u, std::thread::hardware_concurrency()));
    }
  }
  EXPECT_LT(quickest, milliseconds(100));
  EXPECT_EQ(vulkan.allocated_bytes(), bytes);
  EXPECT_EQ(vulkan.allocations(), allocations);
  Session session(device, loaded);  // the rest of the pipelines
  session.run({{input, picture}});
}

TEST_F(Citizen, DebuggersSeeLayersAndTensors) {
  Session session(device, load(small_model()));
  const std::vector<std::string> labels = vulkan.labels(), names = vulkan.object_names();
  const auto has = [](const std::vector<std::string>& all, std::string_view part) {
    return std::ranges::any_of(all, [&](const std::string& one) { return one.find(part) != one.npos; });
  };
  EXPECT_EQ(labels.size(), session.dispatch_count());
  EXPECT_TRUE(has(labels, "conv1 (Conv)"));
  EXPECT_TRUE(has(labels, "conv2 (Conv)"));
  EXPECT_TRUE(has(names, "conv")) << "pipelines are named after their shaders";
  for (const char* tensor : {"x", "y", "conv1/weights"})
    EXPECT_TRUE(has(names, tensor)) << testing::PrintToString(names);

  Session unlabelled(Device::adopt(app.device(), adopt_options()), load(small_model()));
  EXPECT_EQ(vulkan.labels().size(), labels.size());
  EXPECT_EQ(vulkan.object_names().size(), names.size());
}

}  // namespace
}  // namespace vellum::test

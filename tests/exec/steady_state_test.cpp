// After the first runs nothing is made again: neither Vulkan objects nor commands.
#include <gtest/gtest.h>

#include "exec/executor.hpp"
#include "exec/interposed_context.hpp"
#include "exec/runs_in_flight.hpp"
#include "exec/weight_store.hpp"
#include "import/import.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "support/errors.hpp"
#include "support/fetched_model.hpp"
#include "support/gpu_test.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

std::shared_ptr<const CompiledModel> compiled(const std::shared_ptr<gpu::Context>& context,
                                              const FetchedModel& model) {
  return compile_program(context, lower(optimise(import_model(model.model()), {}), context->caps(), {}));
}

TEST(SteadyState, RunsMakeNoVulkanObjectsAndRecordNothing) {
  Interposer vulkan;
  const auto context = interposed_context(vulkan);
  const FetchedModel& model = fetched_model("blazeface_front");
  for (const uint32_t tasks_per_submit : {0u, 7u}) {
    Executor executor(context, compiled(context, model), {.tasks_per_submit = tasks_per_submit});
    executor.set_input(0, model.input());
    executor.run();
    const uint32_t before = vulkan.objects_made();
    EXPECT_GT(before, 10u) << "the count counts";
    for (int i = 0; i < 3; ++i) {
      executor.set_input(0, model.input());
      executor.run();
      EXPECT_EQ(executor.output(0).type(), executor.program().outputs[0].type);
    }
    EXPECT_EQ(vulkan.objects_made(), before);
  }
}

// Two executors of blazeface, and what submitting a run to them takes.
class RunsOnTwoExecutors : public testing::Test {
 protected:
  void open() {
    context = interposed_context(vulkan);
    const auto weights = std::make_shared<WeightStore>(context);
    const std::shared_ptr<const CompiledModel> shared = compiled(context, model);
    while (executors.size() < 2)
      executors.push_back(std::make_unique<Executor>(context, shared, ExecutorOptions{}, weights));
    runs.use(runs.lock(), executors);
  }

  RunInFlight& begin() {
    RunsInFlight::Lock lock = runs.lock();
    RunInFlight* run = nullptr;
    while (!(run = runs.try_begin(lock))) runs.make_room(lock);
    lock.unlock();
    run->executor().set_input(0, model.input());
    run->keep_outputs();
    return *run;
  }
  RunInFlight& submit() {
    RunInFlight& run = begin();
    runs.start(run);
    return run;
  }

  const FetchedModel& model = fetched_model("blazeface_front");
  Interposer vulkan;
  std::shared_ptr<gpu::Context> context;
  std::vector<std::unique_ptr<Executor>> executors;
  RunsInFlight runs;
};

TEST_F(RunsOnTwoExecutors, MakeNoVulkanObjectsAndRecordNothing) {
  open();
  executors[0]->set_input(0, model.input());
  executors[0]->run();
  const HostTensor want = executors[0]->output(0);
  const uint32_t before = vulkan.objects_made();
  for (int i = 0; i < 3; ++i) {
    RunInFlight &first = submit(), &second = submit();
    EXPECT_TRUE(same_bits(runs.outputs(first).at(0).second, want));
    EXPECT_TRUE(same_bits(runs.outputs(second).at(0).second, want));
    runs.release(first);
    runs.release(second);
  }
  EXPECT_EQ(vulkan.objects_made(), before);
}

TEST_F(RunsOnTwoExecutors, ThatCannotBeSubmittedAreNone) {
  open();
  RunInFlight& first = submit();
  vulkan.fail_submits_after(0);
  RunInFlight& second = begin();
  EXPECT_VELLUM_ERROR(runs.start(second), ErrorCode::out_of_memory, "submitting");
  vulkan.fail_submits_after(1000);
  RunInFlight& third = submit();
  EXPECT_TRUE(same_bits(runs.outputs(third).at(0).second, runs.outputs(first).at(0).second));
  runs.release(first);
  runs.release(third);
}

TEST_F(RunsOnTwoExecutors, TellTheirWaitersThatTheDeviceIsLost) {
  open();
  RunInFlight &first = submit(), &second = submit();
  context->wait_idle();
  vulkan.lose_device();
  for (int i = 0; i < 2; ++i) {
    EXPECT_VELLUM_ERROR(runs.wait(second), ErrorCode::device_lost, "waiting");
    EXPECT_VELLUM_ERROR(runs.wait(first), ErrorCode::device_lost, "waiting");
  }
  EXPECT_TRUE(runs.done(first));
  runs.release(first);
  runs.release(second);
  RunInFlight& third = begin();
  EXPECT_VELLUM_ERROR(runs.start(third), ErrorCode::device_lost, "waiting");
  vulkan.find_device();
}

}  // namespace
}  // namespace vellum::test

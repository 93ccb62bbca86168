// After the first runs nothing is made again: neither Vulkan objects nor commands.
#include <gtest/gtest.h>

#include "exec/executor.hpp"
#include "exec/interposed_context.hpp"
#include "exec/request_queue.hpp"
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
    Executor executor(context, compiled(context, model), {.submits = {.tasks = tasks_per_submit}});
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

// Two executors of blazeface, and the queue of their requests.
class RequestsOnTwoExecutors : public testing::Test {
 protected:
  void open() {
    context = interposed_context(vulkan);
    const auto weights = std::make_shared<WeightStore>(context);
    const std::shared_ptr<const CompiledModel> shared = compiled(context, model);
    while (executors.size() < 2)
      executors.push_back(std::make_unique<Executor>(context, shared, ExecutorOptions{}, weights));
    queue.set_executors(queue.lock(), executors);
  }

  Request& begin() {
    RequestQueue::Lock lock = queue.lock();
    Request* request = nullptr;
    while (!(request = queue.try_begin(lock))) queue.retire_oldest(lock);
    lock.unlock();
    request->set_input(0, model.input());
    request->keep_outputs();
    return *request;
  }
  Request& submit() {
    Request& request = begin();
    queue.submit(request);
    return request;
  }

  const FetchedModel& model = fetched_model("blazeface_front");
  Interposer vulkan;
  std::shared_ptr<gpu::Context> context;
  std::vector<std::unique_ptr<Executor>> executors;
  RequestQueue queue;
};

TEST_F(RequestsOnTwoExecutors, MakeNoVulkanObjectsAndRecordNothing) {
  open();
  executors[0]->set_input(0, model.input());
  executors[0]->run();
  const HostTensor want = executors[0]->output(0);
  const uint32_t before = vulkan.objects_made();
  for (int i = 0; i < 3; ++i) {
    Request &first = submit(), &second = submit();
    EXPECT_TRUE(same_bits(queue.outputs(first).at(0).second, want));
    EXPECT_TRUE(same_bits(queue.outputs(second).at(0).second, want));
    queue.release(first);
    queue.release(second);
  }
  EXPECT_EQ(vulkan.objects_made(), before);
}

TEST_F(RequestsOnTwoExecutors, ThatCannotBeSubmittedAreCancelled) {
  open();
  Request& first = submit();
  vulkan.fail_submits_after(0);
  Request& second = begin();
  EXPECT_VELLUM_ERROR(queue.submit(second), ErrorCode::out_of_memory, "submitting");
  vulkan.fail_submits_after(1000);
  Request& third = submit();
  EXPECT_TRUE(same_bits(queue.outputs(third).at(0).second, queue.outputs(first).at(0).second));
  queue.release(first);
  queue.release(third);
}

TEST_F(RequestsOnTwoExecutors, ReportThatTheDeviceIsLost) {
  open();
  Request &first = submit(), &second = submit();
  context->wait_idle();
  vulkan.lose_device();
  for (int i = 0; i < 2; ++i) {
    EXPECT_VELLUM_ERROR(queue.wait(second), ErrorCode::device_lost, "waiting");
    EXPECT_VELLUM_ERROR(queue.wait(first), ErrorCode::device_lost, "waiting");
  }
  EXPECT_TRUE(queue.done(first));
  queue.release(first);
  queue.release(second);
  Request& third = begin();
  EXPECT_VELLUM_ERROR(queue.submit(third), ErrorCode::device_lost, "waiting");
  vulkan.find_device();
}

TEST_F(RequestsOnTwoExecutors, KeepExecutorAndInputsWhereTheyAreReusable) {
  open();
  Request& reusable = *queue.try_begin_reusable(queue.lock());
  EXPECT_FALSE(reusable.has_input(0));
  reusable.set_input(0, model.input());
  EXPECT_TRUE(reusable.has_input(0));
  EXPECT_FALSE(reusable.succeeded());
  RequestQueue::Lock lock = queue.lock();
  queue.drain(lock);  // does not wait for requests that nobody submitted
  lock.unlock();
  for (int i = 0; i < 2; ++i) {
    queue.submit(reusable);
    queue.wait(reusable);
    EXPECT_TRUE(reusable.succeeded());
  }
  Request& other = submit();
  EXPECT_NE(&other.executor(), &reusable.executor());
  EXPECT_EQ(queue.try_begin(queue.lock()), nullptr) << "both executors are in use";
  EXPECT_TRUE(same_bits(queue.outputs(other).at(0).second, reusable.executor().output(0)));
  EXPECT_VELLUM_ERROR(queue.set_executors(queue.lock(), executors), ErrorCode::internal, "uses one");
  vulkan.fail_submits_after(0);
  EXPECT_VELLUM_ERROR(queue.submit(reusable), ErrorCode::out_of_memory, "submitting");
  EXPECT_FALSE(reusable.succeeded());
  vulkan.fail_submits_after(1000);
  queue.submit(reusable);
  queue.wait(reusable);
  EXPECT_TRUE(reusable.succeeded());
  queue.release(other);
  queue.release(reusable);
  queue.set_executors(queue.lock(), executors);
}

}  // namespace
}  // namespace vellum::test

// After the first runs nothing is made again: neither Vulkan objects nor commands.
#include <gtest/gtest.h>

#include "exec/executor.hpp"
#include "import/import.hpp"
#include "kernels/lowering.hpp"
#include "passes/passes.hpp"
#include "support/fetched_model.hpp"
#include "support/gpu_test.hpp"
#include "vulkan/interposer.hpp"

namespace vellum::test {
namespace {

TEST(SteadyState, RunsMakeNoVulkanObjectsAndRecordNothing) {
  Interposer vulkan;
  gpu::ContextOptions options = test_context_options();
  options.get_instance_proc_addr = vulkan.get_instance_proc_addr();
  const auto context = gpu::Context::create(options);
  const FetchedModel& model = fetched_model("blazeface_front");
  for (const uint32_t tasks_per_submit : {0u, 7u}) {
    Executor executor(context, lower(optimise(import_model(model.model()), {}), context->caps(), {}),
                      {.tasks_per_submit = tasks_per_submit});
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

}  // namespace
}  // namespace vellum::test

// Runs that are divided by predicted time: what the device gets at a time, and what it computes.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "exec/executor.hpp"
#include "exec/interposed_context.hpp"
#include "import/import.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "plan/dispatch_model.hpp"
#include "support/fetched_model.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

TEST(DividedRuns, HaveNoSubmitAboveTheirLimit) {
  Interposer vulkan;
  const auto context = interposed_context(vulkan);
  const FetchedModel& model = fetched_model("blazeface_front");
  const std::shared_ptr<const CompiledModel> compiled =
      compile_program(context, lower(optimise(import_model(model.model()), {}), context->caps(), {}));
  std::vector<double> milliseconds;
  for (const double time : predicted_milliseconds(compiled->program, compiled->barriers, context->caps()))
    if (time > 0) milliseconds.push_back(time);
  Executor whole(context, compiled);
  whole.set_input(0, model.input());
  whole.run();
  const double total = std::accumulate(milliseconds.begin(), milliseconds.end(), 0.0);
  for (const double parts : {2.0, 4.0, 8.0}) {
    const double limit = std::max(total / parts, std::ranges::max(milliseconds));
    Executor executor(context, compiled, {.submits = {.milliseconds = limit}});
    ASSERT_EQ(milliseconds.size(), executor.dispatch_count());
    executor.set_input(0, model.input());
    const size_t before = vulkan.submitted_dispatches().size();
    executor.run();
    const std::vector<uint32_t> submitted = vulkan.submitted_dispatches();
    EXPECT_GT(submitted.size(), before + 1);
    size_t next = 0;
    for (size_t i = before; i < submitted.size(); ++i) {
      double sum = 0;
      for (uint32_t dispatch = 0; dispatch < submitted[i]; ++dispatch) sum += milliseconds.at(next++);
      EXPECT_LE(sum, 1.5 * limit);
    }
    EXPECT_EQ(next, milliseconds.size());
    for (size_t i = 0; i < executor.program().outputs.size(); ++i)
      EXPECT_TRUE(same_bits(executor.output(i), whole.output(i)));
  }
}

}  // namespace
}  // namespace vellum::test

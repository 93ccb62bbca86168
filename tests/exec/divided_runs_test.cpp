// Runs that are divided by predicted time: what the device gets at a time, and what it computes.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "caps/driver_quirks.hpp"
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

struct DividedRun {
  std::vector<HostTensor> outputs;
  size_t submits = 0, dispatches = 0;
};

DividedRun run_once(Executor& executor, const Interposer& vulkan) {
  const size_t before = vulkan.submitted_dispatches().size();
  executor.run();
  DividedRun run;
  const std::vector<uint32_t> submitted = vulkan.submitted_dispatches();
  run.submits = submitted.size() - before;
  run.dispatches =
      std::accumulate(submitted.begin() + static_cast<ptrdiff_t>(before), submitted.end(), size_t{0});
  for (size_t i = 0; i < executor.program().outputs.size(); ++i) run.outputs.push_back(executor.output(i));
  return run;
}

void expect_same_outputs(const DividedRun& a, const DividedRun& b) {
  ASSERT_EQ(a.outputs.size(), b.outputs.size());
  for (size_t i = 0; i < a.outputs.size(); ++i) EXPECT_TRUE(same_bits(a.outputs[i], b.outputs[i])) << i;
}

class LongDispatches : public testing::TestWithParam<StorageChoice> {};

// Each dispatch takes many times the limit.
TEST_P(LongDispatches, AreDividedAndGiveTheSameBits) {
  Interposer vulkan;
  const auto context = interposed_context(vulkan);
  const FetchedModel& model = fetched_model("blazeface_front");
  const Graph graph = optimise(import_model(model.model()), {});
  const auto compiled = compile_program(context, lower(graph, context->caps(), {.storage = GetParam()}));
  Executor whole(context, compiled);
  whole.set_input(0, model.input());
  const DividedRun undivided = run_once(whole, vulkan);
  Executor executor(context, compiled, {.submits = {.milliseconds = 1e-3}});
  executor.set_input(0, model.input());
  for (int run = 0; run < 3; ++run) {
    const DividedRun divided = run_once(executor, vulkan);
    EXPECT_GT(divided.submits, 3 * whole.dispatch_count()) << run;
    EXPECT_GT(divided.dispatches, 3 * undivided.dispatches) << run;
    expect_same_outputs(divided, undivided);
  }
}

INSTANTIATE_TEST_SUITE_P(Storages, LongDispatches,
                         testing::Values(StorageChoice::buffer, StorageChoice::image2d));

// What fits by the predictions is divided once it was measured; a fast device keeps its submit.
TEST(DividedRuns, FollowTheTimesThatWereMeasured) {
  Interposer vulkan;
  const auto context = interposed_context(vulkan);
  if (!gpu::timestamps_supported(*context)) GTEST_SKIP() << "no timestamps";
  if (queries_race_with_submits(context->caps())) GTEST_SKIP() << "no timestamps while others run";
  const FetchedModel& model = fetched_model("blazeface_front");
  const auto compiled =
      compile_program(context, lower(optimise(import_model(model.model()), {}), context->caps(), {}));
  constexpr double kLimit = 1e5;
  for (const uint64_t factor : {1, 1000 * 1000}) {
    vulkan.multiply_timestamps(factor);
    Executor executor(context, compiled, {.submits = {.milliseconds = kLimit}});
    executor.set_input(0, model.input());
    const DividedRun first = run_once(executor, vulkan);
    EXPECT_EQ(first.submits, 1u);
    for (int run = 0; run < 3; ++run) {
      const DividedRun next = run_once(executor, vulkan);
      if (factor == 1)
        EXPECT_EQ(next.submits, 1u);
      else
        EXPECT_GT(next.submits, 10u);
      expect_same_outputs(next, first);
    }
  }
}

}  // namespace
}  // namespace vellum::test

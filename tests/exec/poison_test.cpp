// Memory that holds NaN before the first write of each tensor.
#include "exec/poison.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "exec/executor.hpp"
#include "import/import.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "support/gpu_test.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

// Pools whose results take the same memory in turn: a, b, a, ...
Program pools(const DeviceCaps& caps, const LoweringOptions& options) {
  OnnxModel model;
  const auto window =
      attributes({{"kernel_shape", std::vector<int64_t>{3, 3}}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  model.input("x", {1, 8, 40, 40});
  std::string last = "x";
  for (const char* name : {"a", "b", "c", "d", "y"}) {
    model.node(last == "b" ? "AveragePool" : "MaxPool", {last}, {name}, window, name);
    last = name;
  }
  const std::string bytes = model.output("y").bytes();
  return lower(optimise(import_model(std::as_bytes(std::span(bytes))), {}), caps, options);
}

std::shared_ptr<gpu::Context> context_with(bool poison) {
  gpu::ContextOptions options = test_context_options();
  options.poison_memory = poison;
  return gpu::Context::create(options);
}

// Returns the number of NaN in the results of the second of two runs. In the pool `unfinished` half of the
// workgroups are missing.
int64_t not_numbers(const std::shared_ptr<gpu::Context>& context, const LoweringOptions& options,
                    const std::string& unfinished) {
  Program program = pools(context->caps(), options);
  bool found = unfinished.empty();
  for (Task& task : program.tasks)
    if (task.dispatch && task.dispatch->name == unfinished) {
      found = true;
      uint32_t& workgroups = *std::ranges::max_element(task.dispatch->workgroup_count);
      EXPECT_GT(workgroups, 1u);
      workgroups /= 2;
    }
  EXPECT_TRUE(found) << unfinished;
  Executor executor(context, compile_program(context, std::move(program)));
  for (int run = 0; run < 2; ++run) {
    executor.set_input(0, random_tensor({1, 8, 40, 40}, 1));
    executor.run();
  }
  return std::ranges::count_if(executor.output(0).to_floats(), [](float value) { return std::isnan(value); });
}

TEST(Poison, ShowsThatAKernelDoesNotWriteWhatIsReadLater) {
  const auto plain = context_with(false), poisoned = context_with(true);
  for (const LoweringOptions& options :
       {LoweringOptions{.storage = StorageChoice::buffer}, LoweringOptions{.storage = StorageChoice::image2d},
        LoweringOptions{.precision = Precision::fp16, .storage = StorageChoice::buffer},
        LoweringOptions{.precision = Precision::fp16, .storage = StorageChoice::image3d}}) {
    EXPECT_EQ(not_numbers(poisoned, options, ""), 0);
    for (const char* pool : {"c", "y"}) {  // an intermediate tensor, and the output
      EXPECT_EQ(not_numbers(plain, options, pool), 0) << "the values of another tensor";
      EXPECT_GT(not_numbers(poisoned, options, pool), 0) << pool;
    }
  }
}

}  // namespace
}  // namespace vellum::test

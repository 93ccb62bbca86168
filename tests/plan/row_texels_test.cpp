// Conversions between the linear layout and rows of texels.
#include "plan/row_texels.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "plan/arrange.hpp"
#include "plan/memory_plan.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

constexpr RowTexelLimits kLimits{
    .storage_images = 4, .sampled_images = 16, .reads_storage_images = true, .push_constant_bytes = 128};

// Twelve tokens whose two heads change places between two products, in images.
Program program_of(int64_t channels, Precision precision = Precision::fp32) {
  OnnxModel m(17);
  const auto shape = [](std::vector<int64_t> sizes) {
    return HostTensor::i64({static_cast<int64_t>(sizes.size())}, sizes);
  };
  m.input("x", {12, channels}).initializer("w", random_tensor({channels, channels}, 1));
  m.initializer("heads", shape({12, 2, channels / 2})).initializer("rows", shape({12, channels}));
  m.node("MatMul", {"x", "w"}, {"a"}).node("Reshape", {"a", "heads"}, {"h"});
  m.node("Transpose", {"h"}, {"t"}, attributes({{"perm", Attributes::Ints{1, 0, 2}}}));
  m.node("Reshape", {"t", "rows"}, {"r"}).node("MatMul", {"r", "w"}, {"y"}).output("y");
  return lower(optimise(m.graph(), {}, std::vector<std::string>{"merge_moves"}), {},
               {.precision = precision, .storage = StorageChoice::image2d});
}

size_t conversions(const Program& program) {
  size_t count = 0;
  for (const Task& task : program.tasks) count += task.dispatch && task.dispatch->op == "Convert" ? 1 : 0;
  return count;
}

uint64_t planned(Program& program) { return plan_memory(program, {}, tight_rules(16)).planned_bytes; }

TEST(RowTexels, MovesBetweenProductsNeedNoConversion) {
  for (const Precision precision : {Precision::fp32, Precision::fp16}) {
    Program program = program_of(16, precision);
    const size_t before = conversions(program);
    const uint64_t bytes = planned(program);
    EXPECT_EQ(access_row_texels(program, kLimits, planned), 2u);
    EXPECT_EQ(conversions(program), before - 2) << "those of the graph's input and output stay";
    EXPECT_LE(planned(program), bytes);
    for (const Task& task : program.tasks) {
      if (task.dispatch->shader != "strided_copy") continue;
      for (const Binding& binding : task.dispatch->bindings)
        EXPECT_EQ(program.tensors[binding.tensor].desc.storage, Storage::image2d) << binding.name;
    }
  }
}

TEST(RowTexels, RowsOfPartsOfTexelsAreConverted) {
  Program program = program_of(18);
  EXPECT_EQ(access_row_texels(program, kLimits, planned), 0u);
}

TEST(RowTexels, LimitsOfTheDeviceAreKept) {
  for (const auto& [limits, removed] :
       {std::pair{RowTexelLimits{}, size_t{0}},
        {RowTexelLimits{.storage_images = 1,
        .sampled_images = 0,
        .reads_storage_images = true,
        .push_constant_bytes = 128},
         1},
        {RowTexelLimits{.storage_images = 1, .sampled_images = 1, .push_constant_bytes = 128}, 2},
        {RowTexelLimits{.storage_images = 4, .sampled_images = 4, .push_constant_bytes = 16}, 2}}) {
    Program program = program_of(16);
    const auto push_constants = [&] {
      size_t bytes = 0;
      for (const Task& task : program.tasks) bytes += task.dispatch->push_constants.bytes().size();
      return bytes;
    };
    const size_t before = push_constants();
    EXPECT_EQ(access_row_texels(program, limits, planned), removed);
    EXPECT_TRUE(limits.push_constant_bytes != 16 || push_constants() < before) << "macros take their place";
  }
}

// The rows of one part begin after those of another, which is copied there by a kernel of its own.
TEST(RowTexels, PartsOfTheTensorBeginAtTheirTexel) {
  OnnxModel m(17);
  m.input("x", {8, 16}).input("z", {4, 16}).initializer("w", random_tensor({16, 16}, 1));
  m.node("MatMul", {"x", "w"}, {"a"}).node("MatMul", {"z", "w"}, {"b"});
  m.node("Concat", {"a", "b"}, {"c"}, attributes({{"axis", int64_t{0}}})).node("MatMul", {"c", "w"}, {"y"});
  Program program = lower(optimise(m.output("y").graph(), {}), {}, {.storage = StorageChoice::image2d});
  arrange(program, {.row_texels = kLimits}, 16, tight_rules(16));
  EXPECT_LE(conversions(program), 3u) << to_text(program);
}

TEST(RowTexels, MemoryDoesNotGrow) {
  Program program = program_of(16);
  const size_t tasks = program.tasks.size();
  // More bytes, the fewer tasks there are.
  const auto bytes = [](Program& trial) { return std::numeric_limits<uint32_t>::max() - trial.tasks.size(); };
  EXPECT_EQ(access_row_texels(program, kLimits, bytes), 0u);
  EXPECT_EQ(program.tasks.size(), tasks);
}

}  // namespace
}  // namespace vellum::test

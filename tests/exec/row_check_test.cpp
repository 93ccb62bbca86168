// Kernels that access linear tensors in rows of texels are checked as they are.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "checked_network.hpp"
#include "exec/kernel_verdicts.hpp"
#include "kernels/framework/kernel_id.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "plan/row_texels.hpp"
#include "selfcheck/operator_cases.hpp"
#include "selfcheck/row_cases.hpp"
#include "support/temp_folder.hpp"
#include "vellum/pack.hpp"

namespace vellum::test {
namespace {

// Tokens whose heads change places and are squared between two products.
OnnxModel tokens() {
  const auto sizes = [](std::vector<int64_t> numbers) {
    return HostTensor::i64({static_cast<int64_t>(numbers.size())}, numbers);
  };
  OnnxModel model;
  model.input("x", {12, 24}).initializer("w", random_tensor({24, 24}, 1));
  model.initializer("heads", sizes({12, 2, 12})).initializer("rows", sizes({12, 24}));
  model.node("MatMul", {"x", "w"}, {"a"}, {}, "first").node("Reshape", {"a", "heads"}, {"h"}, {}, "split");
  model.node("Transpose", {"h"}, {"t"}, attributes({{"perm", std::vector<int64_t>{1, 0, 2}}}), "swap");
  model.node("Mul", {"t", "t"}, {"s"}, {}, "square").node("Reshape", {"s", "rows"}, {"r"}, {}, "join");
  model.node("MatMul", {"r", "w"}, {"y"}, {}, "second").output("y");
  return model;
}

// The shader and tensor of each access of rows.
using Accesses = std::set<std::pair<std::string, std::string>>;

void add_accesses(const Program& program, Accesses& accesses) {
  constexpr std::string_view kStorage = "STORAGE_";
  for (const Task& task : program.tasks) {
    if (!task.dispatch) continue;
    for (const auto& [macro, value] : task.dispatch->defines)
      if (macro.starts_with(kStorage) && value.starts_with(kRowsOfTexels))
        accesses.emplace(task.dispatch->shader, macro.substr(kStorage.size()));
  }
}

TEST(RowCheck, EveryAccessIsInASmallOperator) {
  // Not checked in buffers, either (FirstUseCheck.KnowsASmallOperatorForTheKernelsOfNetworks).
  const std::set<std::string_view> without{"attention_merge", "matmul_pack", "rotate_channels",
                                           "softmax_linear", "softmax_statistics"};
  Accesses seen;
  for (const SmallOperator& small : small_operators())
    for (const bool inputs_too : {true, false}) {
      const auto graph = between_products(optimise(small.graph, {}), small.inputs, inputs_too);
      if (!graph) continue;
      const DeviceCaps& caps = test_context()->caps();
      Program program =
          lower(*graph, caps, {.storage = StorageChoice::image2d, .inputs_to_channels4 = !inputs_too});
      access_all_rows(program, caps);
      add_accesses(program, seen);
    }
  // Concatenations of linear tensors read as many buffers as a stage may have beside the result.
  const auto is_bound = [](std::string_view shader, std::string_view tensor) {
    return shader != "concat_linear" || !tensor.starts_with("x") ||
           tensor.substr(1) < std::to_string(test_context()->caps().max_storage_buffers_per_stage - 1);
  };
  for (const auto& [shader, tensor] : row_texel_accesses())
    EXPECT_TRUE(!is_bound(shader, tensor) || seen.contains({std::string(shader), std::string(tensor)}) ||
                without.contains(shader))
        << shader << " " << tensor;
}

class RowCheckOfTokens : public testing::Test {
 protected:
  RowCheckOfTokens() { tokens().save(folder / "tokens.onnx"); }

  Result run_tokens(const Device& device, const char* file) {
    return run(device, Model::load(folder / file), options);
  }
  KernelVerdicts verdicts(const Device& device) {
    return read_verdicts(folder / "cache", impl(device)->context->caps(), {});
  }
  static bool has_rows(const std::set<std::string, std::less<>>& kernels) {
    return std::ranges::any_of(
        kernels, [](const std::string& kernel) { return kernel.find(kRowsOfTexels) != kernel.npos; });
  }

  TempFolder folder;
  Interposer vulkan;
  const SessionOptions options{.storage = StorageChoice::image2d};
};

TEST_F(RowCheckOfTokens, OnARightDeviceTheyAreUsed) {
  const Device device = open(vulkan, {.cache = folder / "cache"});
  EXPECT_EQ(run_tokens(device, "tokens.onnx").warnings, "");
  EXPECT_TRUE(has_rows(verdicts(device).right));
  EXPECT_TRUE(verdicts(device).unchecked.empty());
}

// The kernels on rows are wrong, and those on buffers, which are right, take their place.
TEST_F(RowCheckOfTokens, WhereOneIsWrongBuffersAreUsed) {
  const HostTensor want = run_tokens(open(vulkan, {.self_check = SelfCheck::off}), "tokens.onnx").output;
  vulkan.miscompile("y_rows");
  EXPECT_FALSE(
      close(run_tokens(open(vulkan, {.self_check = SelfCheck::off}), "tokens.onnx").output, want, 1e-3))
      << "nothing is broken";
  const Device device = open(vulkan, {.cache = folder / "cache"});
  const Result result = run_tokens(device, "tokens.onnx");
  EXPECT_TRUE(close(result.output, want, 1e-4));
  EXPECT_EQ(result.warnings.find("runs on the host"), std::string::npos) << result.warnings;
  EXPECT_FALSE(verdicts(device).wrong.empty());
}

// A bundle has the shaders of the program with buffers, too.
TEST_F(RowCheckOfTokens, BundlesReplaceThemToo) {
  const HostTensor want = run_tokens(open(vulkan, {.self_check = SelfCheck::off}), "tokens.onnx").output;
  pack(folder / "tokens.onnx", folder / "tokens.vellum", Caps::of(open(vulkan, {})), options);
  vulkan.miscompile("y_rows");
  const Device device = open(vulkan, {.cache = folder / "cache"});
  impl(device)->compiles_shaders = false;
  const Result result = run_tokens(device, "tokens.vellum");
  EXPECT_TRUE(close(result.output, want, 1e-4));
  EXPECT_EQ(result.warnings.find("runs on the host"), std::string::npos) << result.warnings;
  EXPECT_EQ(impl(device)->context->pipelines().shader_counts().compiled, 0u);
}

}  // namespace
}  // namespace vellum::test

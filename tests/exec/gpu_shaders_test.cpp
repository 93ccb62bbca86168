// The shaders that GPUs get compile, also those that no device here uses: small operators are lowered for the
// devices of the scoreboard, in each storage and precision and with each of the kernels to choose from.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compile/scoreboard_devices.hpp"
#include "exec/pipeline_keys.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "selfcheck/operator_cases.hpp"
#include "support/environment.hpp"
#include "vellum/error.hpp"
#include "vulkan/glslang_compiler.hpp"
#include "vulkan/shader_compiler.hpp"

namespace vellum::test {
namespace {

// A desktop and a phone; with VELLUM_TEST_FULL all.
std::vector<std::pair<std::string, DeviceCaps>> devices() {
  const std::set<std::string_view> on_each_commit{"navi31-matrices", "a660"};
  std::vector<std::pair<std::string, DeviceCaps>> list = scoreboard_devices();
  if (!in_full())
    std::erase_if(list, [&](const auto& device) { return !on_each_commit.contains(device.first); });
  for (auto& [name, caps] : list)
    if (!gpu::knows_khr_cooperative_matrix())
      for (CooperativeMatrix& matrix : caps.cooperative_matrices) matrix.extension = MatrixExtension::nv;
  return list;
}

class GpuShaders : public testing::Test {
 protected:
  void compile(const Program& program) {
    for (const gpu::PipelineKey& key : pipeline_keys(program)) {
      const gpu::ShaderRequest request = gpu::shader_request(key);
      if (!known_.insert(gpu::shader_digest(request)).second) continue;
      try {
        compiler_.spirv(request);
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
      }
    }
  }

  // Compiles an operator's kernels: the one that is chosen, and the others that may be.
  void compile(const Graph& graph, const DeviceCaps& caps, LoweringOptions options) {
    std::vector<Choice> choices;
    options.choices = &choices;
    try {
      compile(lower(graph, caps, options));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
      return;
    }
    options.choices = nullptr;
    if (!in_full()) return;
    for (const Choice& choice : choices)
      for (const KernelName& candidate : choice.candidates) {
        TuningTable table;
        table.operators[choice.signature] = {{choice.candidates.front().text(), 2.0},
                                             {candidate.text(), 1.0}};
        options.tuning = &table;
        compile(lower(graph, caps, options));
      }
  }

  size_t compiled() const { return known_.size(); }

 private:
  gpu::ShaderCompiler compiler_{{}, {}};
  std::set<platform::Sha256Digest> known_;
};

TEST_F(GpuShaders, OfSmallOperatorsCompile) {
  for (const SmallOperator& small : small_operators()) {
    const Graph graph = optimise(small.graph, {});
    for (const auto& [name, caps] : devices()) {
      SCOPED_TRACE(small.name + " on " + name);
      for (const StorageChoice storage : {StorageChoice::buffer, StorageChoice::image2d})
        for (const Precision precision : {Precision::fp32, Precision::fp16})
          if (precision == Precision::fp32 || in_full())
            compile(graph, caps,
                    {.precision = precision, .storage = storage, .winograd = Winograd::automatic});
    }
  }
  EXPECT_GT(compiled(), 300u);
}

}  // namespace
}  // namespace vellum::test

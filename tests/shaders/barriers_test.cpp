// Apple's GPUs lose barriers of workgroups with at most 32 invocations (docs/drivers.md, row 46).
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "caps/vendors.hpp"
#include "cost/device_traits.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "selfcheck/operator_cases.hpp"
#include "shaders/sources.hpp"
#include "vulkan/glslang_compiler.hpp"

namespace vellum::test {
namespace {

uint64_t invocations(const Dispatch& dispatch) {
  const auto& size = dispatch.workgroup_size;
  return uint64_t{size[0]} * size[1] * size[2];
}

bool has_barriers(const Dispatch& dispatch) {
  std::string preamble;
  for (const auto& [macro, value] : dispatch.defines) preamble += "#define " + macro + " " + value + "\n";
  constexpr const char* kSizes[] = {"WORKGROUP_X", "WORKGROUP_Y", "WORKGROUP_Z"};
  for (size_t i = 0; i < 3; ++i)
    preamble += std::string("#define ") + kSizes[i] + " " + std::to_string(dispatch.workgroup_size[i]) + "\n";
  const std::string name = dispatch.shader + ".comp";
  const std::vector<uint32_t> words =
      gpu::compile_glsl(name, *find_shader_source(name), preamble, find_shader_source);
  constexpr size_t kHeader = 5;
  constexpr uint32_t kOpControlBarrier = 224, kOpcode = 0xffff;
  for (size_t i = kHeader; i < words.size(); i += words[i] >> 16)
    if ((words[i] & kOpcode) == kOpControlBarrier) return true;
  return false;
}

class SmallWorkgroups {
 public:
  explicit SmallWorkgroups(DeviceCaps caps) : caps_(std::move(caps)) {}

  // Adds those of every candidate that have barriers.
  void add(const Graph& graph) {
    std::vector<Choice> choices;
    LoweringOptions options{.storage = StorageChoice::image2d, .choices = &choices};
    add(lower(graph, caps_, options));
    options.choices = nullptr;
    for (const Choice& choice : choices)
      for (const KernelName& candidate : choice.candidates) {
        TuningTable table;
        table.operators[choice.signature] = {{choice.candidates.front().text(), 2.0}};
        table.operators[choice.signature][candidate.text()] = 1.0;
        options.tuning = &table;
        add(lower(graph, caps_, options));
      }
  }

  std::set<std::string> shaders;

 private:
  void add(const Program& program) {
    constexpr uint64_t kMost = 32;
    for (const Task& task : program.tasks)
      if (task.dispatch && invocations(*task.dispatch) <= kMost &&
          seen_.insert(task.dispatch->shader + task.dispatch->candidate).second &&
          has_barriers(*task.dispatch))
        shaders.insert(task.dispatch->shader);
  }

  DeviceCaps caps_;
  std::set<std::string> seen_;
};

DeviceCaps integrated_gpu(bool portability) {
  DeviceCaps caps;
  caps.type = DeviceType::integrated_gpu;
  caps.vendor_id = 0x106B;  // Apple
  caps.max_workgroup_invocations = 1024;
  caps.max_storage_buffers_per_stage = 31;
  caps.portability_driver = portability;
  set_default_traits(caps);
  return caps;
}

// With a layer that a workgroup of 32 could walk along.
std::vector<SmallOperator> operators() {
  std::vector<SmallOperator> list = small_operators();
  using selfcheck::computed, selfcheck::weights;
  list.push_back(small_operator("GRU", "GRU", {computed({5, 1, 7}), weights({1, 24, 7}), weights({1, 24, 8})},
                                {{"hidden_size", int64_t{8}}}));
  return list;
}

TEST(Barriers, AreInLargeWorkgroupsOnPortabilityDrivers) {
  const gpu::GlslangProcess glslang;
  SmallWorkgroups apple(integrated_gpu(true)), others(integrated_gpu(false));
  for (const SmallOperator& small : operators()) {
    SCOPED_TRACE(small.name);
    const Graph graph = optimise(small.graph, {});
    apple.add(graph);
    others.add(graph);
  }
  EXPECT_EQ(apple.shaders, std::set<std::string>());
  EXPECT_TRUE(others.shaders.contains("recurrence")) << "nothing is tested";
}

}  // namespace
}  // namespace vellum::test

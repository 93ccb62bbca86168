// Kernels that are as quick are chosen so that a program has fewer pipelines.
#include "kernels/framework/share_pipelines.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "caps/vendors.hpp"
#include "compile/compile.hpp"
#include "kernels/framework/lowering.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

using Lowerings = std::vector<NodeLowering>;

NodeLowering lowering(double us, std::set<size_t> pipelines) { return {{}, us, std::move(pipelines)}; }

TEST(SharePipelines, TakesWhatAnotherNodeNeeds) {
  const std::vector<Lowerings> nodes{{lowering(10, {0})},
                                     {lowering(10, {1}), lowering(10.4, {0}), lowering(10.1, {2})}};
  EXPECT_EQ(share_pipelines(nodes, 0.5), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(share_pipelines(nodes, 0.3), (std::vector<size_t>{0, 0})) << "no more time than that";
}

TEST(SharePipelines, LeavesAPipelineThatSomeNodeCannotLeave) {
  const std::vector<Lowerings> nodes{
      {lowering(10, {0})}, {lowering(10, {1}), lowering(10, {0})}, {lowering(10, {1})}};
  EXPECT_EQ(share_pipelines(nodes, 100), (std::vector<size_t>{0, 0, 0}));
}

TEST(SharePipelines, TheCheapestFirst) {
  const std::vector<Lowerings> nodes{{lowering(10, {0})},
                                     {lowering(10, {1}), lowering(10.4, {0})},
                                     {lowering(10, {2}), lowering(10.1, {0})}};
  EXPECT_EQ(share_pipelines(nodes, 0.4), (std::vector<size_t>{0, 0, 1}));
  EXPECT_EQ(share_pipelines(nodes, 0.5), (std::vector<size_t>{0, 1, 1}));
}

// Three nodes, none of which can take the pipeline of another, but all of them a fourth one.
TEST(SharePipelines, TakesInAPipelineThatServesSeveral) {
  const std::vector<Lowerings> nodes{{lowering(10, {0}), lowering(10.1, {3})},
                                     {lowering(10, {1}), lowering(10.1, {3})},
                                     {lowering(10, {2}), lowering(10.1, {3})}};
  EXPECT_EQ(share_pipelines(nodes, 1), (std::vector<size_t>{1, 1, 1}));
  EXPECT_EQ(share_pipelines(nodes, 0.15), (std::vector<size_t>{0, 0, 0})) << "one for another";
}

TEST(SharePipelines, NodesOfSeveralPipelines) {
  const std::vector<Lowerings> nodes{{lowering(10, {0, 1})}, {lowering(10, {0, 2}), lowering(10.1, {0, 1})}};
  EXPECT_EQ(share_pipelines(nodes, 1), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(share_pipelines({}, 1), std::vector<size_t>{});
}

DeviceCaps radeon() {
  DeviceCaps caps;
  caps.type = DeviceType::discrete_gpu;
  caps.vendor_id = kAmd;
  caps.name = "NAVI31";
  caps.subgroup_size = 64;
  caps.full_subgroups = true;
  caps.max_workgroup_invocations = 1024;
  caps.max_workgroup_size = {1024, 1024, 64};
  caps.max_shared_memory_bytes = 64 << 10;
  caps.max_storage_buffers_per_stage = 8;
  return caps;
}

// Layers of a residual network: 1x1 convolutions of more and more channels and fewer and fewer pixels.
Graph chain() {
  OnnxModel model;
  model.input("x0", {1, 64, 56, 56});
  int64_t channels = 64;
  for (int i = 0; i < 8; ++i) {
    const std::string at = std::to_string(i), next = std::to_string(i + 1);
    const bool is_last = i % 2 == 1;
    const int64_t filters = is_last ? channels / 2 : 4 * channels;
    model.initializer("w" + at, random_tensor({filters, channels, 1, 1}, 1))
        .node("Conv", {"x" + at, "w" + at}, {is_last ? "c" + at : "x" + next}, {}, "conv" + at);
    if (is_last)
      model.node(
          "MaxPool", {"c" + at}, {"x" + next},
          attributes({{"kernel_shape", std::vector<int64_t>{2, 2}}, {"strides", std::vector<int64_t>{2, 2}}}),
          "pool" + at);
    channels = filters;
  }
  model.output("x8");
  return model.graph();
}

struct Kernels {
  std::set<std::tuple<std::string, decltype(Dispatch::defines), decltype(Dispatch::workgroup_size)>>
      pipelines;
  std::vector<KernelName> chosen;
};

Kernels kernels_of(const DeviceCaps& caps, const TuningTable* tuning = nullptr) {
  std::vector<Choice> choices;
  const Program program = lower(optimise(chain(), {}), caps, {.tuning = tuning, .choices = &choices});
  Kernels kernels;
  for (const Task& task : program.tasks)
    kernels.pipelines.insert({task.dispatch->shader, task.dispatch->defines, task.dispatch->workgroup_size});
  for (const Choice& choice : choices) kernels.chosen.push_back(choice.candidates[choice.taken]);
  return kernels;
}

// The kernels that layers take by themselves: by a table that has measured only the first candidates.
Kernels kernels_by_layer(const DeviceCaps& caps) {
  std::vector<Choice> choices;
  lower(optimise(chain(), {}), caps, {.choices = &choices});
  TuningTable table;
  for (const Choice& choice : choices)
    table.operators[choice.signature] = {{choice.candidates.front().text(), 1}};
  return kernels_of(caps, &table);
}

TEST(SharePipelines, OfAProgram) {
  const Kernels shared = kernels_of(radeon()), by_layer = kernels_by_layer(radeon());
  EXPECT_LT(shared.pipelines.size(), by_layer.pipelines.size());
  EXPECT_EQ(shared.chosen.size(), by_layer.chosen.size()) << "each choice is recorded once";
  EXPECT_NE(shared.chosen, by_layer.chosen);
}

TEST(SharePipelines, CpusTakeTheBest) {
  DeviceCaps cpu = radeon();
  cpu.type = DeviceType::cpu;
  EXPECT_EQ(kernels_of(cpu).chosen, kernels_by_layer(cpu).chosen);
}

}  // namespace
}  // namespace vellum::test

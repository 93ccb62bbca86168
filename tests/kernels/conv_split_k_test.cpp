// Convolutions of few pixels and many channels, whose sums several invocations of a workgroup share.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "caps/vendors.hpp"
#include "graph/operators/conv/conv.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace conv_split_k_test {

OperatorCase conv(Shape x, int64_t filters, int64_t kernel, int64_t stride = 1) {
  OperatorCase test;
  test.type = "Conv";
  const Shape w{filters, x[1], kernel, kernel};
  const float range = 2.0f / static_cast<float>(x[1]);
  test.inputs = {random_tensor(std::move(x), 1), random_tensor(w, 2, -range, range),
                 random_tensor({filters}, 3)};
  test.constants = {1, 2};
  test.attributes.set("pads", Attributes::Ints(4, kernel / 2));
  test.attributes.set("strides", Attributes::Ints(2, stride));
  test.activation = {.kind = ActivationKind::relu};
  test.sweep.linear_inputs = false;
  return test;
}

bool splits_sums(const KernelName& name) { return name.parameters.find("split-K") != std::string::npos; }

Choice choice_on(const DeviceCaps& caps, const OperatorCase& test) {
  std::vector<Choice> choices;
  lower(single_node_graph(test), caps, {.choices = &choices});
  return choices.at(0);
}

TEST(ConvSplitK, OddSlicesStridesAndImages) {
  const DeviceCaps gpu = caps_as_gpu();
  for (const OperatorCase& test : {conv({2, 70, 3, 5}, 9, 3, 2), conv({1, 66, 4, 1}, 6, 3)}) {
    const Choice choice = choice_on(gpu, test);
    EXPECT_TRUE(splits_sums(choice.candidates.at(choice.taken))) << choice.candidates.at(choice.taken).text();
    check_operator(test, gpu);
  }
}

// The first dispatch of a convolution: its sums are reduced in the same one.
Dispatch dispatch_on(const DeviceCaps& caps, const OperatorCase& test) {
  const Program program = lower(single_node_graph(test), caps, {.storage = StorageChoice::buffer});
  const auto is_conv = [](const Task& task) {
    return task.dispatch && task.dispatch->shader.starts_with("conv");
  };
  EXPECT_EQ(std::ranges::count_if(program.tasks, is_conv), 1);
  return *std::ranges::find_if(program.tasks, is_conv)->dispatch;
}

int64_t number(const Dispatch& dispatch, const std::string& define) {
  for (const auto& [name, value] : dispatch.defines)
    if (name == define) return std::stoll(value);
  return 0;
}

// A part of the sums is a row of a workgroup: whole subgroups that load uniform weights, or, where the
// vendor's compiler does not gain by these or there are few pixels, a row of fewer invocations.
TEST(ConvSplitK, RowsOfWholeSubgroupsAndShortOnes) {
  DeviceCaps uniform = caps_as_gpu(), each = uniform;
  uniform.vendor_id = kAmd;
  each.vendor_id = kQualcomm;
  std::set<int64_t> parts, rows;
  for (const DeviceCaps& gpu : {uniform, each})
    for (const OperatorCase& test : {conv({1, 266, 7, 9}, 37, 1), conv({2, 270, 5, 5}, 6, 1),
                                     conv({1, 1030, 1, 1}, 22, 1), conv({1, 42, 7, 8}, 10, 3)}) {
      const Dispatch dispatch = dispatch_on(gpu, test);
      const bool is_uniform = number(dispatch, "UNIFORM_SLICES") != 0;
      EXPECT_EQ(dispatch.workgroup_size[1], number(dispatch, "PARTS"));
      EXPECT_EQ(dispatch.workgroup_size[0] * (is_uniform ? 1 : dispatch.workgroup_size[1]), 64u);
      EXPECT_EQ(dispatch.subgroup_size, is_uniform ? gpu.subgroup_size : 0);
      parts.insert(dispatch.workgroup_size[1]);
      rows.insert(dispatch.workgroup_size[0]);
      check_operator(test, gpu);
    }
  EXPECT_TRUE(parts.contains(4) && parts.contains(16)) << *parts.begin();
  const bool fill_rows = uniform.subgroup_size >= 8 && 64 % uniform.subgroup_size == 0;
  EXPECT_EQ(rows.contains(64), uniform.full_subgroups && fill_rows);
  EXPECT_TRUE(rows.contains(16) || rows.contains(4));
}

TEST(ConvSplitK, WithResidual) {
  OperatorCase test = conv({1, 65, 3, 6}, 10, 3);
  auto op = std::make_shared<Conv>();
  op->window.pads = {1, 1, 1, 1};
  test.op = op;
  test.inputs.push_back(random_tensor({1, 7, 3, 6}, 4));  // of fewer channels
  check_operator(test, caps_as_gpu());
}

// Columns of a row are loaded once where a network has much of the window.
TEST(ConvSplitK, EveryCandidateIsRight) {
  const OperatorCase test = conv({1, 200, 7, 7}, 203, 3);
  const auto ran = check_candidates(test, {.only = "direct", .caps = caps_as_gpu()});
  const auto splits = [](const std::string& name) { return name.find("split-K") != std::string::npos; };
  EXPECT_GE(std::ranges::count_if(ran, splits), 1);
  EXPECT_TRUE(ran.front().starts_with("direct rows ") && splits(ran.front())) << ran.front();
}

TEST(ConvSplitK, OnlyOfWhatIsTooSmallForAGpu) {
  constexpr uint32_t kUnknownVendor = 1;
  DeviceCaps gpu = caps_as_gpu(kUnknownVendor);
  gpu.name = "a GPU of unknown rates";
  gpu.subgroup_size = 32;  // how many lanes it takes to fill a GPU is predicted from it
  const auto split = [](const DeviceCaps& caps, const OperatorCase& test) {
    return std::ranges::count_if(choice_on(caps, test).candidates, splits_sums) > 0;
  };
  EXPECT_TRUE(split(gpu, conv({1, 512, 7, 7}, 512, 3)));
  // Where whole sums fill the GPU, split ones may be there as equally quick, but not first.
  EXPECT_FALSE(splits_sums(choice_on(gpu, conv({1, 64, 224, 224}, 64, 3)).candidates.front()));
  EXPECT_FALSE(split(gpu, conv({1, 4, 7, 7}, 512, 3))) << "nothing to share";
  DeviceCaps cpu = gpu;
  cpu.type = DeviceType::cpu;
  EXPECT_FALSE(split(cpu, conv({1, 512, 7, 7}, 512, 3)));
}

}  // namespace conv_split_k_test
}  // namespace vellum::test

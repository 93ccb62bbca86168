// Subgroup operations: lanes broadcast weights, and join partial results.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "shaders/sources.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"
#include "vulkan/glslang_compiler.hpp"

namespace vellum::test {
namespace subgroup_test {

OperatorCase pointwise(Shape x, int64_t filters) {
  OperatorCase test;
  test.type = "Conv";
  const Shape weights{filters, x[1], 1, 1};
  test.inputs = {random_tensor(std::move(x), 1), random_tensor(weights, 2, -0.3f, 0.3f),
                 random_tensor({filters}, 3)};
  test.constants = {1, 2};
  test.activation = {ActivationKind::relu};
  return test;
}

OperatorCase windowed(Shape x, int64_t filters, int64_t kernel) {
  OperatorCase test = pointwise(std::move(x), filters);
  test.inputs[1] = random_tensor({filters, test.inputs[0]->shape()[1], kernel, kernel}, 2, -0.3f, 0.3f);
  test.attributes.set("pads", Attributes::Ints(4, kernel / 2));
  return test;
}

bool by_subgroups(const std::string& candidate) { return candidate.ends_with(" subgroup broadcast"); }

// The candidates for an operator on a device with `caps`.
std::vector<std::string> candidates_on(const DeviceCaps& caps, const OperatorCase& test) {
  std::vector<Choice> choices;
  const LoweringOptions options{.inputs_to_channels4 = true, .choices = &choices};
  lower(single_node_graph(test), caps, options);
  return choices.empty() ? std::vector<std::string>() : candidate_names(choices[0]);
}

DeviceCaps caps_with_subgroups(uint32_t size) {
  DeviceCaps caps;
  caps.subgroup_size = size;
  caps.subgroup_broadcast = caps.full_subgroups = true;
  return caps;
}

size_t count_by_subgroups(const DeviceCaps& caps, const OperatorCase& test) {
  const std::vector<std::string> candidates = candidates_on(caps, test);
  EXPECT_FALSE(by_subgroups(candidates.front())) << "nothing is known of that device";
  return static_cast<size_t>(std::ranges::count_if(candidates, by_subgroups));
}

// Enough rows for several subgroups, also where these are larger than on drivers for CPUs.
int64_t rows_for_subgroups(int64_t rows) {
  constexpr int64_t kUsual = 8;  // of drivers for CPUs
  return rows * std::max<int64_t>(1, test_context()->caps().subgroup_size / kUsual);
}

// No kernel broadcasts in subgroups that are larger than 64, or on a device that cannot (worst_device/).
void expect_broadcasts(const std::vector<std::string>& candidates, int64_t least) {
  constexpr uint32_t kLargest = 64;
  const DeviceCaps& caps = test_context()->caps();
  if (caps.subgroup_size > kLargest || !caps.subgroup_broadcast) least = 0;
  EXPECT_GE(std::ranges::count_if(candidates, by_subgroups), least);
}

// Pixels, channels and subgroups that are no multiples of each other.
TEST(Subgroups, PointwiseConvolutionsAreRight) {
  if (!test_context()->caps().full_subgroups) GTEST_SKIP() << "no full subgroups";
  for (const OperatorCase& test :
       {pointwise({2, 37, rows_for_subgroups(7), 13}, 26), pointwise({1, 8, rows_for_subgroups(16), 32}, 64)})
    expect_broadcasts(check_candidates(test), 2);
}

TEST(Subgroups, PointwiseConvolutionsOfHalvesInImagesAreRight) {
  if (!test_context()->caps().full_subgroups) GTEST_SKIP() << "no full subgroups";
  check_candidates(pointwise({1, 21, 9, 11}, 18),
                   {.precision = Precision::fp16, .storage = StorageChoice::image2d, .only = "pointwise 4"});
}

// Rows in the padding, which the lanes of a subgroup need not have in common, and lanes behind the last
// pixel.
TEST(Subgroups, WiderWindowsAreRight) {
  if (!test_context()->caps().full_subgroups) GTEST_SKIP() << "no full subgroups";
  for (const int64_t stride : {1, 2}) {
    OperatorCase test = windowed({2, 21, rows_for_subgroups(7 * stride), 13}, 18, 3);
    test.attributes.set("strides", Attributes::Ints(2, stride));
    for (const StorageChoice storage : {StorageChoice::buffer, StorageChoice::image2d})
      expect_broadcasts(check_candidates(test, {.storage = storage, .only = "direct"}), 1);
  }
  check_candidates(windowed({1, 6, 9, 5}, 7, 5), {.precision = Precision::fp16, .only = "direct"});
}

TEST(Subgroups, MatrixProductsAreRight) {
  if (!test_context()->caps().full_subgroups) GTEST_SKIP() << "no full subgroups";
  OperatorCase test;
  test.type = "Gemm";
  test.inputs = {random_tensor({rows_for_subgroups(70), 45}, 1), random_tensor({45, 33}, 2, -0.3f, 0.3f),
                 random_tensor({33}, 3)};
  test.constants = {1, 2};
  expect_broadcasts(check_candidates(test), 2);
}

// Products of rows in linear tensors: a batch against one matrix of constants.
TEST(Subgroups, LinearMatrixProductsAreRight) {
  if (!test_context()->caps().full_subgroups) GTEST_SKIP() << "no full subgroups";
  for (const auto& [k, n] : {std::pair<int64_t, int64_t>{44, 36}, {20, 72}}) {
    OperatorCase test{
        .type = "MatMul",
        .inputs = {random_tensor({3, rows_for_subgroups(23), k}, 1), random_tensor({k, n}, 2, -0.3f, 0.3f)},
        .constants = {1}};
    test.sweep.channels4_inputs = false;
    expect_broadcasts(check_candidates(test), 2);
    check_candidates(test, {.precision = Precision::fp16, .only = "product 4"});
  }
}

OperatorCase reduction(const char* type, Shape x, Attributes::Ints axes) {
  OperatorCase test{.type = type, .inputs = {random_tensor(std::move(x), 1, 0.5f, 1.5f)}, .opset = 13};
  test.attributes.set("axes", std::move(axes));
  test.sweep.fp32_tolerance = 2e-5;
  return test;
}

OperatorCase softmax(Shape x, int64_t axis, bool channels4) {
  OperatorCase test{
      .type = "Softmax", .inputs = {random_tensor(std::move(x), 1, -20.0f, 20.0f)}, .opset = 13};
  test.attributes.set("axis", axis);
  test.sweep.channels4_inputs = channels4;
  return test;
}

OperatorCase normalization(const char* type, Shape x, const Shape& factors) {
  OperatorCase test{
      .type = type,
      .inputs = {random_tensor(std::move(x), 1), random_tensor(factors, 2), random_tensor(factors, 3)},
      .constants = {1, 2},
      .opset = 17};
  test.sweep.channels4_inputs = factors[0] < 64;
  return test;
}

// Loops of fewer iterations than a subgroup has lanes are not shared by subgroups.
constexpr uint32_t kShortestLoop = 65;

// Whoever runs a loop comes to the same.
void check_loops(const OperatorCase& test, const CandidateOptions& how = {}) {
  CandidateOptions options = how;
  options.caps = test_context()->caps();
  options.caps->type = DeviceType::discrete_gpu;
  options.caps->max_loop_iterations = kNoLoopLimit;
  const std::vector<std::string> ran = check_candidates(test, options);
  std::vector<const char*> loops = {"invocation", "workgroup"};
  if (options.caps->subgroup_size < kShortestLoop)
    loops.insert(loops.end(), {"subgroup", "workgroup of subgroups"});
  for (const char* loop : loops) EXPECT_EQ(std::ranges::count(ran, loop), 1) << loop;
}

class SubgroupArithmetic : public testing::Test {
 protected:
  void SetUp() override {
    const DeviceCaps& caps = test_context()->caps();
    if (!caps.full_subgroups || !caps.subgroup_arithmetic) GTEST_SKIP() << "no arithmetic of full subgroups";
  }
};

TEST_F(SubgroupArithmetic, ReductionsAreRight) {
  for (const char* type : {"ReduceMean", "ReduceMax", "ReduceMin", "ReduceLogSumExp"}) {
    check_loops(reduction(type, {2, 5, 9, 11}, {2, 3}));
    check_loops(reduction(type, {1, 263, 2, 3}, {1}));
  }
  check_loops(reduction("ReduceProd", {3, 6, 67, 1}, {2}));
  check_loops(reduction("ReduceMean", {1, 6, 13, 7}, {2, 3}),
              {.precision = Precision::fp16, .storage = StorageChoice::image2d});
  OperatorCase linear = reduction("ReduceMax", {3, 67, 5}, {1});
  linear.sweep.channels4_inputs = false;
  check_loops(linear);
}

TEST_F(SubgroupArithmetic, SoftmaxIsRight) {
  check_loops(softmax({2, 259, 3, 1}, 1, true));
  check_loops(softmax({2, 6, 5, 70}, 3, true));
  check_loops(softmax({3, 5, 260}, 2, false));
  check_loops(softmax({3, 5, 261}, 2, false));
  check_loops(softmax({3, 66, 8}, 1, false));
  check_loops(softmax({3, 66, 7}, 1, false));
}

TEST_F(SubgroupArithmetic, NormalizationIsRight) {
  check_loops(normalization("LayerNormalization", {3, 7, 260}, {260}));
  check_loops(normalization("LayerNormalization", {3, 7, 261}, {261}));
  check_loops(normalization("InstanceNormalization", {2, 5, 9, 8}, {5}));
}

// subgroupMax() may lose them.
TEST_F(SubgroupArithmetic, NansOfAnyLaneAreTheLargestAndTheSmallest) {
  for (const char* type : {"ReduceMax", "ReduceMin"})
    for (const size_t at : {0u, 7u, 50u}) {
      OperatorCase test = reduction(type, {1, 4, 67, 1}, {2});
      test.inputs[0]->mutable_as<float>()[at] = std::numeric_limits<float>::quiet_NaN();
      check_loops(test);
    }
}

DeviceCaps gpu_with_arithmetic() {
  DeviceCaps caps = caps_with_subgroups(32);
  caps.subgroup_arithmetic = true;
  caps.type = DeviceType::discrete_gpu;
  return caps;
}

TEST(Subgroups, PutResultsTogetherUnmeasuredOnGpus) {
  const DeviceCaps gpu = gpu_with_arithmetic();
  const auto first = [](const DeviceCaps& caps, const OperatorCase& test) {
    return candidates_on(caps, test).front();
  };
  const OperatorCase rows = softmax({12, 197, 196}, 2, false),
                     means = reduction("ReduceMean", {1, 64, 28, 28}, {2, 3});
  EXPECT_EQ(first(gpu, rows), "subgroup");
  EXPECT_EQ(first(gpu, softmax({12, 197, 4096}, 2, false)), "workgroup of subgroups");
  EXPECT_EQ(first(gpu, means), "workgroup of subgroups");
  DeviceCaps without = gpu;
  without.subgroup_arithmetic = false;
  for (const OperatorCase& test : {rows, means})
    EXPECT_EQ(candidates_on(without, test), (std::vector<std::string>{"workgroup", "invocation"}));
  DeviceCaps cpu = gpu;
  cpu.type = DeviceType::cpu;
  EXPECT_TRUE(candidates_on(cpu, rows).empty()) << "where it never was quicker";
}

TEST(Subgroups, OnlyWhereTheyAreFullAndOfAKnownSize) {
  const OperatorCase test = pointwise({1, 32, 32, 32}, 32);
  EXPECT_GT(count_by_subgroups(caps_with_subgroups(32), test), 0u);
  EXPECT_EQ(count_by_subgroups(DeviceCaps{}, test), 0u);
  EXPECT_EQ(count_by_subgroups(caps_with_subgroups(0), test), 0u);
  EXPECT_EQ(count_by_subgroups(caps_with_subgroups(24), test), 0u);
  DeviceCaps caps = caps_with_subgroups(32);
  caps.full_subgroups = false;
  EXPECT_EQ(count_by_subgroups(caps, test), 0u);
  caps = caps_with_subgroups(32);
  caps.subgroup_broadcast = false;
  EXPECT_EQ(count_by_subgroups(caps, test), 0u);
  EXPECT_EQ(count_by_subgroups(caps_with_subgroups(32), pointwise({1, 32, 1, 7}, 32)), 0u)
      << "most of a subgroup would have nothing to do";
}

TEST(Subgroups, AreTakenUnmeasuredWhereTheyWereFoundToBeQuicker) {
  const OperatorCase test = pointwise({1, 32, 32, 32}, 32);
  DeviceCaps lavapipe = caps_with_subgroups(8);
  lavapipe.type = DeviceType::cpu;
  lavapipe.vendor_id = 0x10005;
  lavapipe.driver_version = 22u << 22 | 3u << 12;
  EXPECT_FALSE(by_subgroups(candidates_on(lavapipe, test).front()));
  lavapipe.driver_version = 25u << 22;
  EXPECT_TRUE(by_subgroups(candidates_on(lavapipe, test).front()));
  lavapipe.full_subgroups = false;
  EXPECT_FALSE(by_subgroups(candidates_on(lavapipe, test).front()));
}

// Devices of all sizes are not at hand.
TEST(Subgroups, ShadersForSubgroupsOfEverySizeCompile) {
  const gpu::GlslangProcess glslang;
  for (const char* size : {"4", "8", "16", "32", "64"})
    for (const char* slices : {"1", "2", "4"}) {
      std::string preamble = "#define SUBGROUP " + std::string(size) + "\n#define TILE_S " + slices + "\n";
      for (const char* define :
           {"TILE_P 4", "KERNEL_X 0", "STRIDE_X 0", "ACTIVATION none", "STORAGE_x BUFFER", "ELEMENT_x F32",
            "BINDING_x 0", "STORAGE_w BUFFER", "ELEMENT_w F32", "BINDING_w 1", "STORAGE_y BUFFER",
            "ELEMENT_y F32", "BINDING_y 2", "WORKGROUP_X 64", "WORKGROUP_Y 1", "WORKGROUP_Z 1"})
        preamble += "#define " + std::string(define) + "\n";
      for (const char* shader : {"conv_pointwise.comp", "conv.comp"})
        EXPECT_FALSE(gpu::compile_glsl(shader, std::string(find_shader_source(shader).value()), preamble,
                                       find_shader_source)
                         .empty());
    }
}

}  // namespace subgroup_test
}  // namespace vellum::test

// Products of halves: no sum of them overflows, small weights are not lost, and the mode is refused where it
// cannot be.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <string>

#include "exec/executor.hpp"
#include "kernels/conv/product_run.hpp"
#include "support/environment.hpp"
#include "support/errors.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace halves_test {

constexpr float kLargestHalf = 65504.0f;

HostTensor filled(Shape shape, float value) {
  HostTensor tensor(DType::f32, std::move(shape));
  for (float& element : tensor.mutable_as<float>()) element = value;
  return tensor;
}

HostTensor scaled(HostTensor tensor, float factor) {
  for (float& element : tensor.mutable_as<float>()) element *= factor;
  return tensor;
}

OperatorCase conv(HostTensor x, HostTensor w, int64_t pad = 0, int64_t group = 1) {
  OperatorCase test;
  test.type = "Conv";
  const int64_t filters = w.shape()[0];
  test.inputs = {std::move(x), std::move(w), filled({filters}, 0.0f)};
  test.constants = {1, 2};
  test.attributes.set("pads", Attributes::Ints(4, pad));
  test.attributes.set("group", group);
  test.sweep.linear_inputs = false;
  return test;
}

HostTensor magnitudes(HostTensor tensor) {
  for (float& element : tensor.mutable_as<float>()) element = std::abs(element);
  return tensor;
}

class Halves : public testing::Test {
 protected:
  void SetUp() override {
    if (!test_context()->caps().fp16_arithmetic) GTEST_SKIP() << "no arithmetic of halves";
  }

  // Each error is small beside the sum of the magnitudes of what was added up; seventeen roundings by 2^-11
  // are the worst. In one storage, which is another one in a test's next check; in all with VELLUM_TEST_FULL.
  void check_sums(const OperatorCase& test, const DeviceCaps& caps = test_context()->caps());

 private:
  size_t checks_ = 0;
};

std::vector<float> run(const OperatorCase& test, StorageChoice storage,
                       const DeviceCaps& caps = test_context()->caps()) {
  const Graph graph = single_node_graph(test, true);
  Executor executor(test_context(), compile_program(test_context(), lower(graph, caps,
                                                                          {.precision = Precision::fp16,
                                                                           .storage = storage,
                                                                           .arithmetic = Arithmetic::fp16})));
  for (size_t i = 0, input = 0; i < test.inputs.size(); ++i)
    if (!test.constants.contains(i)) executor.set_input(input++, rounded_to_half(*test.inputs[i]));
  executor.run();
  return executor.output(0).to_floats();
}

void Halves::check_sums(const OperatorCase& test, const DeviceCaps& caps) {
  const HostTensor x = rounded_to_half(*test.inputs[0]), w = rounded_to_half(*test.inputs[1]);
  OperatorCase bounds = test;
  bounds.inputs[0] = magnitudes(x);
  bounds.inputs[1] = magnitudes(w);
  const HostTensor inputs[] = {x}, bound_inputs[] = {*bounds.inputs[0]};
  const std::vector<float> want = evaluate(single_node_graph(test, true), inputs)[0].to_floats();
  const std::vector<float> bound = evaluate(single_node_graph(bounds), bound_inputs)[0].to_floats();
  const StorageChoice storages[] = {StorageChoice::image2d, StorageChoice::image3d, StorageChoice::buffer};
  const size_t number =
      std::hash<std::string>()(testing::UnitTest::GetInstance()->current_test_info()->name()) + checks_++;
  for (size_t k = 0; k < std::size(storages); ++k) {
    if (!in_full() && k != number % std::size(storages)) continue;
    const std::vector<float> got = run(test, storages[k], caps);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_LE(std::abs(got[i] - want[i]), 0x1p-10f * bound[i] + 0x1p-24f)
          << i << ": got " << got[i] << ", want " << want[i];
  }
}

// Every product, and the sum of any two, is beyond the largest half; what is stored is not.
TEST_F(Halves, SumsBeyondTheLargestHalfOnTheWay) {
  HostTensor w(DType::f32, {4, 36, 1, 1});
  for (size_t i = 0; i < 4 * 36; ++i) w.mutable_as<float>()[i] = i % 36 < 18 ? 3.0f : -3.0f;
  HostTensor x = filled({1, 36, 3, 5}, kLargestHalf);
  for (size_t i = 0; i < 15; ++i) x.mutable_as<float>()[i] = 55000.0f;
  check_sums(conv(x, w));
  check_sums(conv(x, w), caps_as_gpu());
}

// Fused bounds see the sum, not what a half would have made of it.
TEST_F(Halves, ActivationsSeeSumsBeyondTheLargestHalf) {
  OperatorCase test = conv(filled({1, 40, 3, 5}, kLargestHalf), filled({4, 40, 1, 1}, 100.0f));
  test.activation = {.kind = ActivationKind::clip, .alpha = 0.0f, .beta = 6.0f};
  check_operator(test);
  test = conv(filled({1, 40, 3, 5}, -kLargestHalf), filled({4, 40, 1, 1}, kLargestHalf));
  test.activation = {.kind = ActivationKind::sigmoid};
  check_operator(test);
}

// As with arithmetic of fp32: infinite, not a wrong number.
TEST_F(Halves, ResultsBeyondTheLargestHalfAreInfinite) {
  for (const float sign : {1.0f, -1.0f})
    for (const int64_t side : {1, 3})
      for (const float value :
           run(conv(filled({1, 24, 3, 5}, sign * kLargestHalf), filled({5, 24, side, side}, 1.0f), side / 2),
               StorageChoice::buffer))
        ASSERT_EQ(value, sign * std::numeric_limits<float>::infinity());
}

TEST_F(Halves, WeightsFarFromOne) {
  for (const float magnitude : {1e-5f, 1e-3f, 1e3f, 2e4f}) {
    SCOPED_TRACE(magnitude);
    const float others = std::clamp(1.0f / magnitude, 1e-2f, 4096.0f);
    check_sums(conv(random_tensor({1, 24, 5, 6}, 1, -others, others),
                    scaled(random_tensor({9, 24, 1, 1}, 2), magnitude)));
  }
}

// Each output channel has a scale of its own, and a channel of zeros has any.
TEST_F(Halves, ChannelsOfDifferentMagnitudes) {
  HostTensor w = random_tensor({9, 24, 3, 3}, 2);
  for (size_t i = 0; i < 9 * 24 * 9; ++i) {
    const int m = static_cast<int>(i / (24 * 9));
    w.mutable_as<float>()[i] *= m == 4 ? 0.0f : std::ldexp(1.0f, 2 * m - 12);
  }
  check_sums(conv(random_tensor({1, 24, 5, 6}, 1), w, 1));
}

TEST_F(Halves, WindowsGroupsAndRowsOfTaps) {
  check_sums(conv(random_tensor({2, 36, 9, 11}, 1), random_tensor({20, 36, 5, 3}, 2), 2));
  check_sums(conv(random_tensor({1, 24, 9, 11}, 1), random_tensor({12, 12, 3, 3}, 2), 1, 2));
  const OperatorCase large = conv(random_tensor({1, 64, 32, 33}, 1), random_tensor({64, 64, 3, 3}, 2), 1);
  check_sums(large);  // columns of a row are loaded once
}

// Runs in which every value is the largest half, whatever the scores, which are far beyond it: of equal keys,
// and of keys that weigh the more the later they come.
TEST_F(Halves, AttentionToTheLargestHalves) {
  OperatorCase test{.type = "Attention", .inputs = {}};
  test.opset = 23;
  test.sweep.channels4_inputs = false;
  HostTensor growing(DType::f32, {1, 2, 37, 8});
  for (size_t i = 0; i < 2 * 37 * 8; ++i)
    growing.mutable_as<float>()[i] = static_cast<float>(i / 8 % 37) / 64.0f;
  HostTensor v = filled({1, 2, 37, 12}, kLargestHalf);
  for (const bool grows : {false, true}) {
    const HostTensor k = grows ? growing : filled({1, 2, 37, 8}, kLargestHalf);
    test.inputs = {filled({1, 2, 19, 8}, grows ? 1.0f : kLargestHalf), k, v};
    check_operator(test);
    for (const float value : run(test, StorageChoice::buffer)) ASSERT_TRUE(std::isfinite(value));
  }
  for (size_t i = 0; i < 2 * 37 * 12; i += 2) v.mutable_as<float>()[i] = -kLargestHalf;
  test.inputs[2] = v;
  check_operator(test);
  check_operator(test, caps_as_gpu());
  // As many keys as are split.
  test.inputs[1] = filled({1, 2, 148, 8}, kLargestHalf);
  test.inputs[2] = filled({1, 2, 148, 12}, kLargestHalf);
  check_operator(test, caps_as_gpu());
}

OperatorCase depthwise(HostTensor x, int64_t kernel, float magnitude, int64_t stride = 1) {
  const int64_t channels = x.shape()[1];
  OperatorCase test = conv(std::move(x), scaled(random_tensor({channels, 1, kernel, kernel}, 2), magnitude),
                           kernel / 2, channels);
  test.attributes.set("strides", Attributes::Ints(2, stride));
  return test;
}

// Each row of taps is a run.
TEST_F(Halves, DepthwiseWindows) {
  check_sums(depthwise(random_tensor({2, 10, 7, 9}, 1), 3, 1.0f));
  check_sums(depthwise(random_tensor({1, 10, 7, 9}, 1), 5, 2e-5f, 2));
  check_sums(depthwise(random_tensor({1, 6, 8, 9}, 1), 4, 1e3f, 3));
  const OperatorCase test = depthwise(random_tensor({1, 4, 5, 5}, 1), 3, 1.0f);
  const Program program = lower(single_node_graph(test), test_context()->caps(),
                                {.precision = Precision::fp16, .arithmetic = Arithmetic::fp16});
  const auto& defines = program.tasks.at(1).dispatch->defines;
  EXPECT_TRUE(std::any_of(defines.begin(), defines.end(),
                          [](const auto& define) { return define.first == "HALF_PRODUCTS"; }));
}

// The products of each row of taps are beyond the largest half, and cancel; an activation sees the rest.
TEST_F(Halves, DepthwiseSumsBeyondTheLargestHalf) {
  HostTensor w(DType::f32, {6, 1, 3, 3});
  for (size_t i = 0; i < 6 * 9; ++i) w.mutable_as<float>()[i] = i % 9 < 5 ? 3.0f : -3.5f;
  check_sums(conv(filled({1, 6, 5, 6}, kLargestHalf), w, 0, 6));
  OperatorCase test = conv(filled({1, 6, 5, 6}, -kLargestHalf), filled({6, 1, 3, 3}, 100.0f), 1, 6);
  test.activation = {.kind = ActivationKind::clip, .alpha = -3.0f, .beta = 6.0f};
  check_operator(test);
}

// Several invocations share a sum, whose parts are whole runs of products of halves.
TEST_F(Halves, SplitSums) {
  const DeviceCaps gpu = caps_as_gpu();
  const OperatorCase test = conv(filled({1, 2044, 1, 1}, 1000.0f), random_tensor({12, 2044, 1, 1}, 2));
  const Program program =
      lower(single_node_graph(test), gpu, {.precision = Precision::fp16, .arithmetic = Arithmetic::fp16});
  const auto& defines = program.tasks.at(1).dispatch->defines;
  EXPECT_TRUE(std::ranges::any_of(defines, [](const auto& define) { return define.first == "PARTS"; }));
  check_sums(test, gpu);
}

// Measurements decide between the two.
TEST_F(Halves, WhereTheyWereMeasuredToBeFaster) {
  OperatorCase test = conv(random_tensor({1, 24, 5, 6}, 1), random_tensor({9, 24, 1, 1}, 2));
  std::vector<Choice> choices;
  lower(single_node_graph(test), test_context()->caps(),
        {.precision = Precision::fp16, .arithmetic = Arithmetic::automatic, .choices = &choices});
  ASSERT_EQ(choices.size(), 2u);
  EXPECT_EQ(candidate_names(choices[1]), (std::vector<std::string>{"fp32 products", "fp16 products"}));
  EXPECT_EQ(choices[1].taken, 0u);
  TuningTable table;
  table.operators[choices[1].signature] = {{"fp32 products", 2.0}, {"fp16 products", 1.0}};
  const Program program =
      lower(single_node_graph(test), test_context()->caps(),
            {.precision = Precision::fp16, .arithmetic = Arithmetic::automatic, .tuning = &table});
  const auto& defines = program.tasks.at(1).dispatch->defines;
  EXPECT_EQ(std::count_if(defines.begin(), defines.end(),
                          [](const auto& define) { return define.first == "HALF_PRODUCTS"; }),
            1);
}

TEST(HalvesScale, RunsStayBelowOneAndScalesAreHalves) {
  for (const double magnitude : {0.0, 1e-30, 1e-7, 0.4, 0.875, 1.0, 17.0, 1e5, 1e8}) {
    const RunScale scale = run_scale(magnitude);
    EXPECT_EQ(static_cast<double>(scale.first()) * static_cast<double>(scale.second()),
              std::ldexp(1.0, scale.exponent));
    EXPECT_LE(std::ldexp(magnitude, -scale.exponent), 0.875) << magnitude;
    for (const float factor : {scale.first(), scale.second()})
      EXPECT_EQ(half_to_float(float_to_half(factor)), factor);
  }
  EXPECT_GT(std::ldexp(1e-7, -run_scale(1e-7).exponent), 0.4) << "small weights use what room there is";
}

TEST(HalvesMode, IsRefusedWhereItCannotBe) {
  const Graph graph = single_node_graph(conv(random_tensor({1, 4, 3, 3}, 1), random_tensor({4, 4, 1, 1}, 2)));
  DeviceCaps caps;
  caps.fp16_arithmetic = false;
  caps.name = "Plain";
  EXPECT_VELLUM_ERROR(lower(graph, caps, {.precision = Precision::fp16, .arithmetic = Arithmetic::fp16}),
                      ErrorCode::unsupported, "'Plain' has none");
  caps.fp16_arithmetic = true;
  EXPECT_VELLUM_ERROR(lower(graph, caps, {.precision = Precision::fp32, .arithmetic = Arithmetic::fp16}),
                      ErrorCode::invalid_argument, "precision fp16");
}

// Where nothing was measured, and on devices without, automatic is fp32.
TEST(HalvesMode, AutomaticIsFp32WithoutTheFeature) {
  const Graph graph = single_node_graph(conv(random_tensor({1, 4, 3, 3}, 1), random_tensor({4, 4, 1, 1}, 2)));
  DeviceCaps caps;
  caps.fp16_arithmetic = false;
  std::vector<Choice> choices;
  lower(graph, caps,
        {.precision = Precision::fp16, .arithmetic = Arithmetic::automatic, .choices = &choices});
  EXPECT_EQ(choices.size(), 1u);
}

}  // namespace halves_test
}  // namespace vellum::test

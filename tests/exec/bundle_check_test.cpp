// Where no shader can be compiled, as in Vellum::runtime, kernels are checked with the shaders of a bundle.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "checked_network.hpp"
#include "exec/kernel_verdicts.hpp"
#include "support/temp_folder.hpp"
#include "vellum/pack.hpp"
#include "vulkan/pipeline.hpp"

namespace vellum::test {
namespace {

class BundleCheck : public testing::Test {
 protected:
  BundleCheck() {
    network().save(folder / "model.onnx");
    pack(folder / "model.onnx", folder / "model.vellum", Caps::of(open(vulkan, {})));
    expected = run(open(vulkan, {.self_check = SelfCheck::off})).output;
  }

  // A device of Vellum::runtime.
  Device device(SelfCheck self_check) {
    Device opened = open(vulkan, {.self_check = self_check, .cache = folder / "cache"});
    impl(opened)->compiles_shaders = false;
    return opened;
  }
  Model bundle() const { return Model::load(folder / "model.vellum"); }
  uint64_t compiled(const Device& device) const {
    return impl(device)->context->pipelines().shader_counts().compiled;
  }

  // All but the 1x1 convolution, and what reads its result from the host.
  static void expect_others_on_device(const Result& result) {
    EXPECT_NE(result.warnings.find("'conv1x1' runs on the host"), std::string::npos) << result.warnings;
    for (const char* node : {"conv3x3", "pool"})
      EXPECT_EQ(result.warnings.find(std::string("'") + node + "' runs on the host"), std::string::npos)
          << result.warnings;
  }

  TempFolder folder;
  Interposer vulkan;
  HostTensor expected;
};

TEST_F(BundleCheck, EveryKernelOfTheNetworkIsChecked) {
  const Device checking = device(SelfCheck::on);
  const Result result = run(checking, bundle());
  EXPECT_EQ(result.warnings, "");
  EXPECT_TRUE(same_bits(result.output, expected));
  EXPECT_EQ(compiled(checking), 0u);
  const KernelVerdicts verdicts = read_verdicts(folder / "cache", impl(checking)->context->caps(), {});
  EXPECT_GE(verdicts.right.size(), 4u);
  EXPECT_TRUE(verdicts.unchecked.empty()) << *verdicts.unchecked.begin();
  EXPECT_TRUE(verdicts.wrong.empty());
}

TEST_F(BundleCheck, OneThatIsWrongIsNotUsed) {
  vulkan.miscompile("ConvPointwiseParameters");
  EXPECT_FALSE(close(run(device(SelfCheck::off), bundle()).output, expected, 1e-3)) << "nothing is broken";
  for (const char* use : {"first", "second"}) {
    const Device checking = device(SelfCheck::on);
    const Result result = run(checking, bundle());
    EXPECT_TRUE(close(result.output, expected, 1e-4)) << use;
    EXPECT_NE(result.warnings.find("(shader 'conv_pointwise') computes wrong results"), std::string::npos)
        << use << ": " << result.warnings;
    expect_others_on_device(result);
    EXPECT_EQ(compiled(checking), 0u) << use;
  }
}

TEST_F(BundleCheck, WhereNothingIsRightTheHostComputesAll) {
  const Device checking = device(SelfCheck::on);
  vulkan.skip_dispatches();
  const Result result = run(checking, bundle());
  EXPECT_TRUE(close(result.output, expected, 1e-4));
  for (const char* node : {"conv3x3", "pool", "conv1x1", "softmax"})
    EXPECT_NE(result.warnings.find(std::string("'") + node + "' runs on the host"), std::string::npos)
        << node << ": " << result.warnings;
}

// A bundle for lesser caps has other kernels than the device would choose.
TEST_F(BundleCheck, KernelsForOtherCapsAreCheckedAsTheyAre) {
  pack(folder / "model.onnx", folder / "phones.vellum", Caps::android_baseline_2022());
  const Model phones = Model::load(folder / "phones.vellum");
  vulkan.miscompile("ConvPointwiseParameters");
  EXPECT_FALSE(close(run(device(SelfCheck::off), phones).output, expected, 1e-3)) << "nothing is broken";
  const Device checking = device(SelfCheck::on);
  const Result result = run(checking, phones);
  EXPECT_TRUE(close(result.output, expected, 1e-4));
  EXPECT_NE(result.warnings.find("conv_pointwise"), std::string::npos) << result.warnings;
  EXPECT_EQ(result.warnings.find("Android Baseline"), std::string::npos) << result.warnings;
  expect_others_on_device(result);
  EXPECT_EQ(compiled(checking), 0u);
}

}  // namespace
}  // namespace vellum::test

// Kernels are checked at their first use: a driver that computes one of them wrongly gives right results.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "api/impl.hpp"
#include "caps/vendors.hpp"
#include "checked_network.hpp"
#include "exec/kernel_verdicts.hpp"
#include "interposed_context.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "selfcheck/operator_cases.hpp"
#include "support/onnx_builder.hpp"
#include "support/temp_folder.hpp"
#include "support/tensors.hpp"
#include "vellum/tune.hpp"

namespace vellum::test {
namespace {

const HostTensor& expected() {
  static const HostTensor result = [] {
    const Interposer vulkan;
    return run(open(vulkan, {.self_check = SelfCheck::off})).output;
  }();
  return result;
}

TEST(FirstUseCheck, ARightDriverGivesNoWarning) {
  const HostTensor& want = expected();
  const Interposer vulkan;
  const Result result = run(open(vulkan, {}));
  EXPECT_EQ(result.warnings, "");
  EXPECT_TRUE(same_bits(result.output, want));
}

class BrokenKernel : public testing::TestWithParam<const char*> {};

// Each kernel with products, in every storage: other kernels, or the host, compute the right result.
TEST_P(BrokenKernel, IsFoundAndNotUsed) {
  const HostTensor& want = expected();
  Interposer vulkan;
  vulkan.miscompile(GetParam());
  for (const StorageChoice storage : {StorageChoice::buffer, StorageChoice::image2d}) {
    const SessionOptions options{.storage = storage};
    EXPECT_FALSE(close(run(open(vulkan, {.self_check = SelfCheck::off}), options).output, want, 1e-3))
        << "nothing is broken";
    EXPECT_GT(vulkan.miscompiled(), 0u);
    const Device device = open(vulkan, {});
    const Result result = run(device, options);
    EXPECT_TRUE(close(result.output, want, 1e-4));
    EXPECT_NE(result.warnings.find("computes wrong results and is not used: an error of "), std::string::npos)
        << result.warnings;
    EXPECT_NE(result.warnings.find(device.info().driver), std::string::npos) << result.warnings;
  }
}

INSTANTIATE_TEST_SUITE_P(Shaders, BrokenKernel,
                         testing::Values("ConvPointwiseParameters", "ConvWindowParameters"));

TEST(FirstUseCheck, OneWrongKernelLeavesTheOthersOnTheDevice) {
  Interposer vulkan;
  vulkan.miscompile("ConvPointwiseParameters");
  const Result result = run(open(vulkan, {}));
  EXPECT_NE(result.warnings.find("conv_pointwise"), std::string::npos) << result.warnings;
  EXPECT_EQ(result.warnings.find("'conv3x3' runs on the host"), std::string::npos) << result.warnings;
  EXPECT_EQ(result.warnings.find("'softmax' runs on the host"), std::string::npos) << result.warnings;
}

// All else that such a session runs is conversions, which are right.
TEST(FirstUseCheck, AWrongKernelSaysNothingAboutTheConversionsBesideIt) {
  OnnxModel convolution;
  convolution.input("x", {1, 8, 9, 7})
      .initializer("w", random_tensor({8, 8, 3, 3}, 1))
      .node("Conv", {"x", "w"}, {"y"}, {}, "conv3x3")
      .output("y");
  const std::string bytes = convolution.bytes();
  const Model model = Model::load(std::as_bytes(std::span(bytes)));
  const std::map<std::string, Tensor> inputs{{"x", random_tensor({1, 8, 9, 7}, 2)}};
  Interposer vulkan;
  const Tensor want = Session(open(vulkan, {.self_check = SelfCheck::off}), model).run(inputs).at("y");
  vulkan.miscompile("ConvWindowParameters");
  for (const StorageChoice storage : {StorageChoice::buffer, StorageChoice::image2d}) {
    Session session(open(vulkan, {}), model, {.storage = storage});
    EXPECT_TRUE(close(session.run(inputs).at("y"), want, 1e-3));
    EXPECT_FALSE(session.warnings().empty());
  }
}

TEST(FirstUseCheck, WhereNothingIsRightTheHostComputesAll) {
  const HostTensor& want = expected();
  Interposer vulkan;
  const Device device = open(vulkan, {});
  vulkan.skip_dispatches();
  const Result result = run(device);
  EXPECT_TRUE(close(result.output, want, 1e-4));
  for (const char* node : {"conv3x3", "pool", "conv1x1", "softmax"})
    EXPECT_NE(result.warnings.find(std::string("'") + node + "' runs on the host"), std::string::npos)
        << node << ": " << result.warnings;
}

// The driver's early compilation of pipelines included.
uint64_t dispatches(const Interposer& vulkan) {
  uint64_t sum = 0;
  for (const uint32_t of_submit : vulkan.submitted_dispatches()) sum += of_submit;
  return sum;
}

// With each candidate of each choice.
std::vector<Program> programs_of(const SmallOperator& small, const DeviceCaps& caps, StorageChoice storage,
                                 bool inputs_to_channels4) {
  const Graph graph = optimise(small.graph, {});
  std::vector<Choice> choices;
  LoweringOptions options{.storage = storage,
                          .inputs_to_channels4 = inputs_to_channels4,
                          .winograd = Winograd::automatic,
                          .choices = &choices};
  std::vector<Program> programs;
  programs.push_back(lower(graph, caps, options));
  options.choices = nullptr;
  for (const Choice& choice : choices)
    for (const KernelName& candidate : choice.candidates) {
      TuningTable table;
      table.operators[choice.signature] = {{choice.candidates.front().text(), 2.0}, {candidate.text(), 1.0}};
      options.tuning = &table;
      programs.push_back(lower(graph, caps, options));
    }
  return programs;
}

// A wrong kernel that nothing checks goes unseen: each has a small operator, or a reason not to.
TEST(FirstUseCheck, KnowsASmallOperatorForTheKernelsOfNetworks) {
  const std::set<std::string> without{
      // Checked by themselves (exec/cooperative_check.hpp), or with products of computed weights.
      "attention_matrices", "attention_pack", "conv_bytes_cooperative", "conv_cooperative",
      "matmul_cooperative", "pack_weights",
      // Shaders of integers and bytes, and of applications' frames, pictures and images.
      "contract_tile", "frame", "picture", "pick_channels", "quantize", "round_float", "step_end",
      "store_image", "strided_words",
      // Rare in networks for pictures.
      "max_pool_indices", "one_hot", "reverse_sequence", "roi_align", "scatter", "where",
      // Networks of volumes, and with rotary positions, have these.
      "stack_frames", "rotate_channels",
      // Chosen by size.
      "attention_merge", "contract", "copy_linear", "matmul_any", "matmul_pack", "matmul_packed",
      "norm_linear", "norm_statistics", "softmax_statistics",
      // For tensors so large that their loops are split, and for halves.
      "arg_parts", "norm_factors", "norm_parts", "softmax_linear", "softmax_parts"};
  DeviceCaps gpu = test_context()->caps();
  gpu.type = DeviceType::discrete_gpu;
  DeviceCaps nvidia = gpu;
  nvidia.vendor_id = kNvidia;
  std::set<std::string> shaders;
  for (const SmallOperator& small : small_operators())
    for (const DeviceCaps& caps : {test_context()->caps(), gpu, nvidia})
      for (const StorageChoice storage : {StorageChoice::buffer, StorageChoice::image2d})
        for (const bool channels4 : {true, false})
          for (const Program& program : programs_of(small, caps, storage, channels4))
            for (const Task& task : program.tasks)
              if (task.dispatch) shaders.insert(task.dispatch->shader);
  size_t kernels = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(VELLUM_TEST_SHADERS)) {
    if (entry.path().extension() != ".comp") continue;
    ++kernels;
    const std::string shader = entry.path().stem().string();
    EXPECT_TRUE(shaders.contains(shader) || without.contains(shader)) << shader << " is not checked";
  }
  EXPECT_GT(kernels, 50u);
}

// Forms of shaders that other forms say nothing about.
TEST(FirstUseCheck, ChecksIntegersGatesAndChannelsThatCameLast) {
  struct Form {
    const char* name;
    OnnxModel model;
    std::map<std::string, Tensor> inputs;
  };
  const auto model_of = [](const char* type, const TensorType& input, const Attributes& given = {}) {
    OnnxModel model;
    model.input("x", input.shape, input.dtype).node(type, {"x"}, {"y"}, given, "node").output("y");
    return model;
  };
  const std::vector<int64_t> numbers{3, 0, -2, 1, 5, 3};
  const HostTensor integers = HostTensor::i64({2, 3}, numbers);
  std::vector<Form> forms;
  OnnxModel equal;
  equal.input("x", {2, 3}, DType::i64).initializer("c", HostTensor::i64({1}, std::vector<int64_t>{3}));
  equal.node("Equal", {"x", "c"}, {"y"}, {}, "node").output("y");
  forms.push_back({"Equal", std::move(equal), {{"x", integers}}});
  forms.push_back(
      {"Cast", model_of("Cast", integers.type(), attributes({{"to", int64_t{1}}})), {{"x", integers}}});
  const HostTensor picture = random_tensor({1, 5, 6, 7}, 1);
  forms.push_back(
      {"Transpose",
       model_of("Transpose", picture.type(), attributes({{"perm", std::vector<int64_t>{0, 3, 1, 2}}})),
       {{"x", picture}}});
  OnnxModel gate;
  gate.input("x", {1, 12, 5, 5})
      .initializer("w1", random_tensor({4, 12, 1, 1}, 2))
      .initializer("w2", random_tensor({12, 4, 1, 1}, 3))
      .node("GlobalAveragePool", {"x"}, {"m"})
      .node("Conv", {"m", "w1"}, {"a"})
      .node("Relu", {"a"}, {"b"})
      .node("Conv", {"b", "w2"}, {"c"})
      .node("Sigmoid", {"c"}, {"s"})
      .node("Mul", {"x", "s"}, {"y"})
      .output("y");
  forms.push_back({"SqueezeExcite", std::move(gate), {{"x", random_tensor({1, 12, 5, 5}, 4)}}});
  for (Form& form : forms) {
    const Interposer vulkan;
    const TempFolder folder;
    const Device device = open(vulkan, {.cache = folder.path()});
    const std::string bytes = form.model.bytes();
    Session(device, Model::load(std::as_bytes(std::span(bytes)))).run(form.inputs);
    const KernelVerdicts verdicts = read_verdicts(folder.path(), impl(device)->context->caps(), {});
    EXPECT_FALSE(verdicts.right.empty()) << form.name;
    EXPECT_TRUE(verdicts.unchecked.empty()) << form.name << ": " << *verdicts.unchecked.begin();
    EXPECT_TRUE(verdicts.wrong.empty()) << form.name;
  }
}

TEST(FirstUseCheck, TheCacheFolderRemembersUntilTheDriverChanges) {
  const TempFolder folder;
  const HostTensor& want = expected();
  Interposer vulkan;
  const auto dispatches_of_use = [&](const DeviceUse& use) {
    const uint64_t before = dispatches(vulkan);
    EXPECT_TRUE(close(run(open(vulkan, use)).output, want, 1e-4));
    return dispatches(vulkan) - before;
  };
  const uint64_t unchecked = dispatches_of_use({.self_check = SelfCheck::off});
  EXPECT_GT(dispatches_of_use({.cache = folder.path()}), unchecked);
  EXPECT_EQ(dispatches_of_use({.cache = folder.path()}), unchecked);
  EXPECT_GT(dispatches_of_use({.cache = folder.path(), .newer_driver = 1}), unchecked);
  EXPECT_EQ(dispatches_of_use({.cache = folder.path(), .newer_driver = 1}), unchecked);
  EXPECT_GT(dispatches_of_use({}), unchecked) << "nothing is remembered without a folder";
}

TEST(FirstUseCheck, WhatIsWrongIsRemembered) {
  const TempFolder folder;
  const HostTensor& want = expected();
  Interposer vulkan;
  vulkan.miscompile("ConvPointwiseParameters");
  const Result first = run(open(vulkan, {.cache = folder.path()}));
  const uint64_t of_first = dispatches(vulkan);
  const Result second = run(open(vulkan, {.cache = folder.path()}));
  EXPECT_LT(dispatches(vulkan) - of_first, of_first) << "checked again";
  EXPECT_EQ(second.warnings, first.warnings);
  EXPECT_TRUE(close(second.output, want, 1e-4));
}

TEST(FirstUseCheck, OneDeviceChecksOnceForAllItsSessions) {
  Interposer vulkan;
  const Device device = open(vulkan, {});
  run(device);
  const uint64_t of_first = dispatches(vulkan);
  run(device);
  EXPECT_LT(dispatches(vulkan) - of_first, of_first);
}

// Other candidates are compared with the first, which may itself be wrong.
TEST(FirstUseCheck, TuningLeavesWrongKernelsOut) {
  OnnxModel convolution;
  convolution.input("x", {1, 8, 14, 14})
      .initializer("w", random_tensor({8, 8, 3, 3}, 1))
      .node("Conv", {"x", "w"}, {"y"}, attributes({{"pads", std::vector<int64_t>{1, 1, 1, 1}}}), "conv3x3")
      .output("y");
  const std::string bytes = convolution.bytes();
  const Model model = Model::load(std::as_bytes(std::span(bytes)));
  const std::map<std::string, Tensor> inputs{{"x", random_tensor({1, 8, 14, 14}, 2)}};
  const SessionOptions options{.storage = StorageChoice::buffer};
  Interposer vulkan;
  const Tensor want =
      Session(open(vulkan, {.self_check = SelfCheck::off}), model, options).run(inputs).at("y");
  vulkan.miscompile("ConvWindowParameters");
  const Device device = open(vulkan, {});
  const TuneReport report = tune(device, model, options, {.storages = false});
  std::string warnings;
  for (const std::string& warning : report.warnings) warnings += warning + "\n";
  EXPECT_NE(warnings.find("' has a kernel that the device computes wrongly"), std::string::npos) << warnings;
  EXPECT_EQ(warnings.find("gives other results"), std::string::npos) << warnings;
  ASSERT_EQ(report.operators.size(), 1u);
  EXPECT_TRUE(report.operators[0].tuned.starts_with("winograd")) << report.operators[0].tuned;
  EXPECT_TRUE(report.operators[0].measured);
  EXPECT_TRUE(close(Session(device, model, options).run(inputs).at("y"), want, 1e-3));
}

TEST(FirstUseCheck, ByDefaultGpusAreCheckedAndCpusAreNot) {
  Interposer vulkan;
  vulkan.miscompile("ConvPointwiseParameters");
  EXPECT_EQ(run(open(vulkan, {.self_check = SelfCheck::automatic})).warnings, "");
  const DeviceUse gpu{.self_check = SelfCheck::automatic, .type = DeviceType::discrete_gpu};
  EXPECT_NE(run(open(vulkan, gpu)).warnings.find("conv_pointwise"), std::string::npos);
}

TEST(FirstUseCheck, ADamagedFileIsMadeAnew) {
  const TempFolder folder;
  DeviceCaps caps = test_context()->caps();
  const KernelVerdicts verdicts{{"right"},
                                {"unchecked"},
                                {{"wrong", {.why = "an error of 1", .fused = FusedKernelId::mean}},
                                 {"another", {.why = "NaN", .unfolded = "another unfolded"}}}};
  write_verdicts(folder.path(), caps, verdicts);
  EXPECT_EQ(read_verdicts(folder.path(), caps, {}), verdicts);
  const std::string text = to_json(verdicts, caps);
  for (size_t length = 0; length + 1 < text.size(); ++length)
    EXPECT_FALSE(verdicts_from_json(std::string_view(text).substr(0, length), caps)) << length;
  ++caps.driver_version;
  EXPECT_FALSE(verdicts_from_json(text, caps)) << "of another driver";
  EXPECT_EQ(read_verdicts(folder.path(), caps, {}), KernelVerdicts{});
}

}  // namespace
}  // namespace vellum::test

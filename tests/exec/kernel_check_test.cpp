// The check of a device's kernels: right devices pass, and wrong ones are found.
#include "vellum/kernel_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "api/impl.hpp"
#include "import/import.hpp"
#include "interposed_context.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "selfcheck/check_kernels.hpp"
#include "selfcheck/size_cases.hpp"
#include "selfcheck/small_run.hpp"
#include "support/environment.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

std::string describe(const KernelCheck& check) {
  return check.operation + " by '" + check.kernel + "', storage " +
         std::to_string(static_cast<int>(check.storage)) + ", precision " +
         std::to_string(static_cast<int>(check.precision)) + ": error " + std::to_string(check.error) + " " +
         check.failure;
}

// Kernels of the operators of each size are of this size, and right.
TEST(KernelCheck, LargeOperatorsAreRight) {
  const DeviceCaps& caps = test_context()->caps();
  for (const SizeClass size : kSizeClasses) {
    size_t large_ones = 0;
    for (const SmallOperator& large : sized_operators(size, caps)) {
      SCOPED_TRACE(large.name);
      const Graph graph = optimise(large.graph, {});
      const std::vector<HostTensor> want = evaluate(graph, large.inputs);
      for (const bool channels4 : {false, true}) {
        const StorageChoice storage =
            size == SizeClass::large_image ? StorageChoice::image2d : StorageChoice::buffer;
        const Program program = lower(graph, caps, {.storage = storage, .inputs_to_channels4 = channels4});
        for (const Task& task : program.tasks)
          large_ones += task.dispatch && has_size(program, *task.dispatch, size, caps);
        EXPECT_LE(error_on_device(test_context(), program, large, want, 1), error_bound(Precision::fp32));
      }
    }
    EXPECT_GT(large_ones, 0u) << name(size);
  }
}

// The sweeps of tests/kernels check far more; with VELLUM_TEST_FULL this is what a user's check does.
TEST(KernelCheck, TheKernelsOfThisDeviceAreRight) {
  const bool full = in_full();
  std::set<std::string> operations, kernels;
  for (const KernelCheck& check : check_kernels(test_context(), {.only = full ? "" : "Conv 3x3"})) {
    EXPECT_TRUE(check.passed()) << describe(check);
    operations.insert(check.operation);
    kernels.insert(check.kernel);
  }
  EXPECT_GE(operations.size(), full ? 36u : 4u);
  EXPECT_GE(kernels.size(), 3u) << "one algorithm alone";
}

TEST(KernelCheck, ADriverThatComputesNothingIsFound) {
  Interposer vulkan;
  const auto context = interposed_context(vulkan);
  vulkan.skip_dispatches();
  size_t checked = 0;
  for (const char* operation : {"Conv 1x1", "Softmax", "Resize, linear"})
    for (const KernelCheck& check : check_kernels(context, {.only = operation})) {
      ++checked;
      EXPECT_FALSE(check.passed()) << describe(check);
    }
  EXPECT_GE(checked, 18u);
}

// Memory that the driver allocates again may hold right results of an earlier run.
TEST(KernelCheck, WhatMemoryHeldBeforeIsNoResult) {
  Interposer vulkan;
  const auto context = interposed_context(vulkan);
  vulkan.skip_dispatches();
  OnnxModel model;
  const std::string bytes = model.input("x", {1, 8, 12, 12}).node("Relu", {"x"}, {"y"}).output("y").bytes();
  const SmallOperator relu{"Relu",
                           optimise(import_model(std::as_bytes(std::span(bytes))), {}),
                           {random_tensor({1, 8, 12, 12}, 1)},
                           {}};
  const std::vector<HostTensor> want = evaluate(relu.graph, relu.inputs);
  for (const StorageChoice storage : {StorageChoice::buffer, StorageChoice::image2d}) {
    const double error =
        error_on_device(context, lower(relu.graph, context->caps(), {.storage = storage}), relu, want, 1);
    EXPECT_TRUE(std::isnan(error)) << error;
  }
}

TEST(KernelCheck, OtherErrorsAreTheOperators) {
  Interposer vulkan;
  const auto context = interposed_context(vulkan);
  vulkan.fail_allocations_after(0);
  for (const KernelCheck& check : check_kernels(context, {.only = "Add"})) {
    EXPECT_FALSE(check.passed());
    EXPECT_NE(check.failure.find("OutOfDeviceMemory"), std::string::npos) << check.failure;
  }
  vulkan.fail_allocations_after(UINT32_MAX);
}

TEST(KernelCheck, TellsHowFarItIsAndMayBeStopped) {
  size_t calls = 0;
  const auto stop = [&](size_t done, size_t total) {
    EXPECT_EQ(done, calls);
    EXPECT_GT(total, 1u);
    return ++calls < 2;
  };
  EXPECT_VELLUM_ERROR(check_kernels(test_context(), {.only = "Resize", .progress = stop}),
                      ErrorCode::cancelled);
  EXPECT_EQ(calls, 2u);
  EXPECT_VELLUM_ERROR(check_kernels(test_context(), {.only = "Frobnicate"}), ErrorCode::not_found,
                      "Frobnicate");
}

// A device whose kernels are not checked at their first use, which would replace those that are wrong.
Device device_of(std::shared_ptr<gpu::Context> context) {
  auto impl = std::make_shared<Device::Impl>();
  impl->context = std::move(context);
  impl->self_check = SelfCheck::off;
  return Handles::device(std::move(impl));
}

// A network with a layer of 1,030 channels, one that the host computes alone, and one without a kernel.
Model network() {
  OnnxModel model;
  model.input("x", {1, 1030, 5, 7})
      .initializer("w", random_tensor({9, 1030, 1, 1}, 1))
      .initializer("k", HostTensor::i64({1}, std::vector<int64_t>{3}))
      .node("Conv", {"x", "w"}, {"a"}, {}, "conv")
      .node("Softmax", {"a"}, {"b"}, attributes({{"axis", int64_t{1}}}), "softmax")
      .node("TopK", {"b", "k"}, {"y", "i"}, attributes({{"axis", int64_t{1}}}), "topk")
      .output("y")
      .output("i");
  const std::string bytes = model.bytes();
  return Model::load(std::as_bytes(std::span(bytes)));
}

TEST(LayerCheck, ThoseOfThisDeviceAreRight) {
  const Device device = device_of(test_context());
  for (const Precision precision : {Precision::fp32, Precision::fp16}) {
    const std::vector<KernelCheck> checks = check_layers(device, network(), {.precision = precision});
    ASSERT_EQ(checks.size(), 3u);
    for (const KernelCheck& check : checks) EXPECT_TRUE(check.passed()) << describe(check);
    EXPECT_EQ(checks[0].operation, "Conv 'conv'");
    EXPECT_NE(checks[0].kernel.find("conv"), std::string::npos);
  }
}

TEST(LayerCheck, ADriverThatComputesNothingIsFound) {
  Interposer vulkan;
  const Device device = device_of(interposed_context(vulkan));
  vulkan.skip_dispatches();
  size_t wrong = 0;
  for (const KernelCheck& check : check_layers(device, network())) wrong += !check.passed();
  EXPECT_EQ(wrong, 3u);
}

TEST(LayerCheck, ChecksThoseThatAreNamedAndMayBeStopped) {
  const Device device = device_of(test_context());
  EXPECT_EQ(check_layers(device, network(), {}, {.only = "soft"}).size(), 1u);
  EXPECT_VELLUM_ERROR(check_layers(device, network(), {}, {.only = "Frobnicate"}), ErrorCode::not_found,
                      "Frobnicate");
  const auto stop = [](size_t done, size_t) { return done < 1; };
  EXPECT_VELLUM_ERROR(check_layers(device, network(), {}, {.progress = stop}), ErrorCode::cancelled);
}

}  // namespace
}  // namespace vellum::test

// Halves on devices that round otherwise than the host.
#include "selfcheck/halves_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "api/impl.hpp"
#include "exec/executor.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "selfcheck/small_operator.hpp"
#include "support/environment.hpp"
#include "support/gpu_test.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "vellum/pack.hpp"
#include "vellum/vellum.hpp"
#include "vulkan/pipeline.hpp"

namespace vellum::test {
namespace {

std::shared_ptr<gpu::Context> context_with(const char* allowances) {
  const EnvironmentVariable environment("VELLUM_TEST_WORST_DEVICE", allowances);
  return gpu::Context::create(test_context_options());
}

TEST(HalvesCheck, PassesOnADeviceThatIsRight) {
  const auto context = context_with("");
  EXPECT_EQ(converts_halves_correctly(context, context->caps()), true);
}

TEST(HalvesCheck, FindsADeviceThatCutsBitsOff) {
  const auto context = context_with("truncating_halves");
  EXPECT_EQ(converts_halves_correctly(context, context->caps()), !context->caps().packs_halves)
      << "halves are made of integers";
}

// Random bits: every exponent, NaN and infinities among them.
TEST(HalvesCheck, HalvesOfIntegersAreThoseOfTheHost) {
  HostTensor x(DType::f32, {1, 4, 128, 128});
  uint32_t state = 1;
  const std::span<float> elements = x.mutable_as<float>();
  for (size_t i = 0; i < elements.size(); ++i) {
    float& value = elements[i];
    if (i % 2 == 1) {  // pairs of the same, so that a pool of pairs changes nothing
      value = elements[i - 1];
      continue;
    }
    state = state * 1664525u + 1013904223u;
    const uint32_t bits = state ^ state >> 16;
    std::memcpy(&value, &bits, sizeof value);
    if (state & 0x800)  // near halves, in half of the elements
      value = std::ldexp(static_cast<float>(bits >> 8), static_cast<int>(bits % 44) - 50);
    if (value < -1e8f) value = -value;  // lowest numbers of masks stay finite
  }
  const std::vector<int64_t> pair{1, 2};
  const SmallOperator small =
      small_operator("halves", "MaxPool", {{x, false}}, {{"kernel_shape", pair}, {"strides", pair}});
  const Graph graph = optimise(small.graph, {});
  const HostTensor pooled = evaluate(graph, small.inputs)[0];
  const std::vector<float> want = cast(pooled, DType::f16).to_floats();
  for (const char* allowances : {"", "truncating_halves", "all"})
    for (const StorageChoice storage : {StorageChoice::buffer, StorageChoice::image2d}) {
      const auto context = context_with(allowances);
      DeviceCaps caps = context->caps();
      caps.packs_halves = false;
      if (storage == StorageChoice::image2d && !caps.rgba16f_images) continue;
      Executor executor(
          context,
          compile_program(context, lower(graph, caps, {.precision = Precision::fp16, .storage = storage})));
      executor.set_input(0, x);
      executor.run();
      const std::vector<float> got = executor.output(0).to_floats(), given = pooled.to_floats();
      for (size_t i = 0; i < want.size(); ++i)
        ASSERT_TRUE(got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i])))
            << given[i] << ": " << got[i] << ", expected " << want[i] << ", " << allowances;
    }
}

// A bundle for the device of the tests, made once.
const std::string& bundle_of(const std::string& model, const SessionOptions& options) {
  static const std::string bundle = [&] {
    auto impl = std::make_shared<Device::Impl>();
    impl->context = context_with("");
    std::string bytes;
    pack(
        std::as_bytes(std::span(model)),
        [&](std::span<const std::byte> piece) {
          bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
        },
        Caps::of(Handles::device(std::move(impl))), options);
    return bytes;
  }();
  return bundle;
}

// Whether the session is one of Vellum::runtime, which compiles no shaders.
enum class From { model, bundle };

HostTensor run_in_halves(const char* allowances, SelfCheck self_check, From from = From::model) {
  OnnxModel model;
  model.input("x", {1, 8, 20, 20})
      .initializer("w", random_tensor({8, 8, 3, 3}, 1))
      .node("Conv", {"x", "w"}, {"y"}, attributes({{"pads", std::vector<int64_t>{1, 1, 1, 1}}}), "conv")
      .output("y");
  auto impl = std::make_shared<Device::Impl>();
  impl->self_check = self_check;
  impl->context = context_with(allowances);
  const Device device = Handles::device(impl);
  const SessionOptions options{.precision = Precision::fp16};
  std::string bytes = model.bytes();
  if (from == From::bundle) bytes = bundle_of(bytes, options);
  impl->compiles_shaders = from == From::model;
  Session session(device, Model::load(std::as_bytes(std::span(bytes))), options);
  if (from == From::bundle) {
    EXPECT_EQ(impl->context->pipelines().shader_counts().compiled, 0u);
  }
  const HostTensor x = random_tensor({1, 8, 20, 20}, 2);
  Tensor input(DType::f32, x.shape());
  std::memcpy(input.mutable_data(), x.data(), input.byte_size());
  session.set_input("x", input);
  session.run();
  const Tensor y = session.output("y");
  HostTensor result(DType::f32, {1, 8, 20, 20});
  std::memcpy(result.mutable_as<float>().data(), y.data(), result.byte_size());
  return result;
}

TEST(HalvesCheck, SessionsOfSuchADeviceRound) {
  const HostTensor want = run_in_halves("", SelfCheck::off);
  for (const From from : {From::model, From::bundle}) {
    EXPECT_TRUE(same_bits(run_in_halves("truncating_halves", SelfCheck::on, from), want));
    if (test_context()->caps().packs_halves) {
      EXPECT_FALSE(same_bits(run_in_halves("truncating_halves", SelfCheck::off, from), want))
          << "nothing is wrong";
    }
  }
}

}  // namespace
}  // namespace vellum::test

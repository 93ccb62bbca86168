// Each emulation of worst_device.hpp changes the results of a shader that relies on what is not promised.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "support/environment.hpp"
#include "support/gpu_test.hpp"
#include "vulkan/buffer.hpp"
#include "vulkan/kernel_run.hpp"
#include "vulkan/transfer.hpp"

namespace vellum::test {
namespace {

constexpr const char* kSource = R"(#version 450
#ifdef INF_NAN_PRESERVE
#extension GL_EXT_spirv_intrinsics : require
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4466], 4461, 32);
#endif
layout(local_size_x = WORKGROUP_X, local_size_y = WORKGROUP_Y, local_size_z = WORKGROUP_Z) in;
#ifdef TEXELS
layout(set = 0, binding = 0, rgba32f) uniform readonly imageBuffer texels;
#define COUNT 4 * imageSize(texels)
#else
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
#define COUNT x.length()
#endif
layout(set = 0, binding = 1) buffer Y { float y[]; };
float unassigned;
shared float kept[WORKGROUP_X];
void main() {
  int i = int(gl_GlobalInvocationID.x);
  if (i >= COUNT) return;
  y[i] = EXPRESSION;
}
)";

// Returns the expression of each x[i], as a device with these allowances computes it; "" for none.
std::vector<float> compute(const char* allowances, const std::string& expression, const std::vector<float>& x,
                           const std::string& macro = "") {
  const EnvironmentVariable environment("VELLUM_TEST_WORST_DEVICE", allowances);
  const auto context = gpu::Context::create(test_context_options());
  gpu::PipelineKey key;
  key.shader = "expression";
  key.source = kSource;
  key.defines = {{"EXPRESSION", expression}};
  if (!macro.empty()) key.defines.emplace_back(macro, "1");
  key.bindings = {
      macro == "TEXELS" ? gpu::BindingType::texel_buffer_rgba32f : gpu::BindingType::storage_buffer,
      gpu::BindingType::storage_buffer};
  const auto bytes = std::as_bytes(std::span(x));
  const auto device_buffer = [&] {
    return gpu::make_buffer(context, bytes.size(), gpu::MemoryKind::device, gpu::MemoryCategory::other);
  };
  const gpu::Buffer from = device_buffer(), to = device_buffer();
  gpu::Uploader uploader(context);
  uploader.upload(from, 0, bytes);
  uploader.finish();
  const gpu::BoundResource resources[] = {from, to};
  run(context, context->pipelines().get(key), resources, {},
      {static_cast<uint32_t>((x.size() + 63) / 64), 1, 1});
  return as<float>(gpu::download(context, to));
}

std::vector<float> whole_numbers(int count) {
  std::vector<float> values;
  for (int i = 1; i <= count; ++i) values.push_back(static_cast<float>(i));
  return values;
}

int64_t not_numbers(const std::vector<float>& values) {
  return std::ranges::count_if(values, [](float value) { return std::isnan(value); });
}

size_t differences(const std::vector<float>& a, const std::vector<float>& b) {
  size_t count = 0;
  for (size_t i = 0; i < a.size(); ++i) count += a[i] != b[i];
  return count;
}

TEST(WorstDevice, DividesByAReciprocal) {
  const std::vector<float> x = whole_numbers(1000);
  for (const float one : compute("", "floor(x[i] / x[i])", x)) ASSERT_EQ(one, 1.0f);
  const std::vector<float> quotients = compute("division", "floor(x[i] / x[i])", x);
  EXPECT_GT(std::ranges::count(quotients, 0.0f), 100);
  const std::vector<float> thirds = compute("division", "x[i] / 3.0", x);
  for (size_t i = 0; i < x.size(); ++i)  // within 2.5 units in the last place
    ASSERT_NEAR(thirds[i], x[i] / 3.0f, std::ldexp(2.5f, std::ilogb(x[i] / 3.0f) - 23)) << x[i];
}

TEST(WorstDevice, HasInexactFunctions) {
  const std::vector<float> x = whole_numbers(100);
  for (const char* function : {"exp(x[i] / 10.0)", "log(x[i] + 1.0)", "sqrt(x[i])", "pow(x[i], 1.5)"})
    EXPECT_GT(differences(compute("functions", function, x), compute("", function, x)), 90u) << function;
}

TEST(WorstDevice, TruncatesHalves) {
  const std::vector<float> x{1.0f + 0x1p-11f + 0x1p-13f, -(1.0f + 3 * 0x1p-12f)};
  const std::string half = "unpackHalf2x16(packHalf2x16(vec2(x[i]))).y";
  EXPECT_EQ(compute("", half, x), (std::vector{1.0f + 0x1p-10f, -(1.0f + 0x1p-10f)}));
  EXPECT_EQ(compute("truncating_halves", half, x), (std::vector{1.0f, -1.0f}));
}

TEST(WorstDevice, KnowsNoSpecialValuesWhereNoneAreDeclared) {
  const std::vector<float> x{std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                             1.0f};
  const std::string test = "float(isnan(x[i])) + 2.0 * float(isinf(x[i]))";
  const std::vector<float> found{1.0f, 2.0f, 0.0f};
  EXPECT_EQ(compute("", test, x), found);
  EXPECT_EQ(compute("no_special_values", test, x), (std::vector{0.0f, 0.0f, 0.0f}));
  EXPECT_EQ(compute("no_special_values", test, x, "INF_NAN_PRESERVE"), found);
}

TEST(WorstDevice, HasVariablesOfArbitraryValues) {
  EXPECT_NE(compute("uninitialised_variables", "x[i] + unassigned", {1.0f, 2.0f}), (std::vector{1.0f, 2.0f}));
}

// A workgroup that reads what the workgroup before it writes.
TEST(WorstDevice, RunsWorkgroupsInAnotherOrder) {
  const std::vector<float> x = whole_numbers(64 * 40);
  for (const std::string order : {"reversed_workgroups", "mixed_workgroups"}) {
    EXPECT_EQ(compute(order.c_str(), "x[gl_WorkGroupID.x * 64 + gl_LocalInvocationIndex]", x), x) << order;
    // What is not written yet is NaN.
    const std::string allowances = order + ",uninitialised_memory";
    const std::vector<float> sums =
        compute(allowances.c_str(), "x[i] + (i < 64 ? 0.0 : 1e-30 * y[i - 64])", x);
    EXPECT_GT(not_numbers(sums), 0) << order;
  }
}

// An invocation that reads without a barrier what the first of its workgroup writes.
TEST(WorstDevice, RunsInvocationsFromTheLastToTheFirst) {
  const std::vector<float> x(64, 2.0f);
  const char* const no_barrier = "(kept[gl_LocalInvocationIndex] = x[i], kept[0])";
  const char* const barrier = "(kept[gl_LocalInvocationIndex] = x[i], barrier(), kept[0])";
  EXPECT_EQ(compute("", no_barrier, x), x);
  EXPECT_NE(compute("reversed_invocations", no_barrier, x), x);
  EXPECT_EQ(compute("reversed_invocations", barrier, x), x);
  const std::vector<float> numbers = whole_numbers(100);
  EXPECT_EQ(compute("reversed_invocations", "x[gl_WorkGroupID.x * 64 + gl_LocalInvocationIndex]", numbers),
            numbers);
}

TEST(WorstDevice, ReadsArbitraryValuesBeyondTheEnd) {
  const std::vector<float> x = whole_numbers(64);
  const char* const beyond = "x[i] + x[i + 64]";
  EXPECT_EQ(not_numbers(compute("", beyond, x)), 0);
  EXPECT_EQ(not_numbers(compute("out_of_bounds", beyond, x)), 64);
  EXPECT_EQ(compute("out_of_bounds", "x[i]", x), x);
  const char* const texels = "imageLoad(texels, i / 4)[i % 4] + imageLoad(texels, i / 4 + 16)[i % 4]";
  EXPECT_EQ(not_numbers(compute("", texels, x, "TEXELS")), 0);
  EXPECT_EQ(not_numbers(compute("out_of_bounds", texels, x, "TEXELS")), 64);
  EXPECT_EQ(compute("out_of_bounds", "imageLoad(texels, i / 4)[i % 4]", x, "TEXELS"), x);
}

TEST(WorstDevice, HasMemoryOfArbitraryValues) {
  const EnvironmentVariable environment("VELLUM_TEST_WORST_DEVICE", "uninitialised_memory");
  const auto context = gpu::Context::create(test_context_options());
  const gpu::Buffer buffer =
      gpu::make_buffer(context, 256, gpu::MemoryKind::device, gpu::MemoryCategory::other);
  for (const std::byte byte : gpu::download(context, buffer)) ASSERT_EQ(byte, std::byte{0xff});
}

}  // namespace
}  // namespace vellum::test

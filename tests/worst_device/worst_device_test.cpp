// Each emulation of worst_device.hpp changes the results of a shader that relies on what is not promised.
#include "worst_device/worst_device.hpp"

#include <gtest/gtest-spi.h>
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
#include "worst_device/findings.hpp"

namespace vellum::test {
namespace {

constexpr const char* kSource = R"(#version 450
#ifdef INF_NAN_PRESERVE
#extension GL_EXT_spirv_intrinsics : require
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4466], 4461, 32);
#endif
#ifdef SUBGROUP
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#endif
#ifdef DIVIDE
#extension GL_GOOGLE_include_directive : require
#include "divide.glsl"
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

constexpr uint32_t kWorkgroup = 64;  // the default

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
  if (macro == "SUBGROUPS") {
    key.workgroup_size[0] = 2 * std::max(kWorkgroup, context->caps().subgroup_size);
    key.subgroup_size = context->caps().subgroup_size;
  }
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
      {static_cast<uint32_t>((x.size() + key.workgroup_size[0] - 1) / key.workgroup_size[0]), 1, 1});
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

// Totals of each count: whole numbers, those whose means are ties of sixteenths, and numbers of all bits.
std::vector<std::pair<float, float>> totals_and_counts() {
  std::vector<std::pair<float, float>> pairs;
  uint32_t bits = 1;
  for (const float count : {2.0f, 3.0f, 7.0f, 49.0f, 64.0f, 1023.0f, 4096.0f, 65535.0f, 524287.0f})
    for (int i = 1; i <= 500; ++i) {
      bits = 1664525 * bits + 1013904223;
      pairs.emplace_back(static_cast<float>(i), count);
      pairs.emplace_back((static_cast<float>(i) + 0.5f) * 0.0625f * count, count);
      pairs.emplace_back(std::bit_cast<float>(0x30000000u + (bits >> 3)), count);
    }
  return pairs;
}

TEST(WorstDevice, MeansAreTheNearestFloatsDespiteIt) {
  std::vector<float> x, expected;
  for (const auto& [total, count] : totals_and_counts()) {
    x.insert(x.end(), {total, count});
    expected.insert(expected.end(), {total / count, -total / count});
  }
  const std::string mean = "mean_of((i & 1) == 0 ? x[i] : -x[i - 1], x[i | 1])";
  EXPECT_EQ(differences(compute("division", mean, x, "DIVIDE"), expected), 0u);
  EXPECT_GT(differences(compute("division", "((i & 1) == 0 ? x[i] : -x[i - 1]) / x[i | 1]", x), expected),
            x.size() / 10);
}

TEST(WorstDevice, InversesOfPowersOfTwoAreExactDespiteIt) {
  const std::vector<float> x{0.25f, 0.5f, 1.0f, 2.0f, 1024.0f, 0.0f, INFINITY};
  const std::vector<float> inverses{4.0f, 2.0f, 1.0f, 0.5f, 1.0f / 1024, INFINITY, 0.0f};
  EXPECT_EQ(compute("division", "nearest_quotient(vec4(1), vec4(x[i])).x", x, "DIVIDE"), inverses);
}

TEST(WorstDevice, RootsOfSquaresAreExactDespiteIt) {
  std::vector<float> squares, roots = whole_numbers(4096);
  for (float& root : roots) squares.push_back(root * root);
  const char* allowances = "division,functions";
  EXPECT_EQ(differences(compute(allowances, "nearest_root(vec4(x[i])).x", squares, "DIVIDE"), roots), 0u);
  EXPECT_GT(differences(compute(allowances, "sqrt(x[i])", squares), roots), roots.size() / 2);
  const std::vector<float> special{0.0f, INFINITY};
  EXPECT_EQ(compute(allowances, "nearest_root(vec4(x[i])).x", special, "DIVIDE"), special);
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

TEST(WorstDevice, HasSharedMemoryOfArbitraryValues) {
  const std::vector<float> x(70, 1.0f);
  EXPECT_EQ(not_numbers(compute("uninitialised_shared", "kept[gl_LocalInvocationIndex]", x)), 70);
  EXPECT_EQ(compute("uninitialised_shared",
                    "(kept[gl_LocalInvocationIndex] = x[i], kept[gl_LocalInvocationIndex])", x),
            x);
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

// Returns what the shader finds out about itself, without failing the test.
std::string findings(const char* allowances, const std::string& expression, const std::vector<float>& x) {
  compute(allowances, expression, x);
  std::string all;
  for (const std::string& finding : take_findings()) all += finding + "\n";
  return all;
}

// In whatever order the invocations run.
TEST(WorstDevice, FindsConflictingAccessesOfSharedMemory) {
  const std::vector<float> x(192, 2.0f);
  const char* const conflicting[] = {
      "(kept[gl_LocalInvocationIndex] = x[i], kept[0])",                // written, then read
      "(kept[gl_LocalInvocationIndex] = x[i], kept[WORKGROUP_X - 1])",  // read, then written
      "kept[0] = x[i]",                                                 // written twice
      "(kept[gl_LocalInvocationIndex] = x[i], barrier(), y[i] = kept[0], kept[gl_LocalInvocationIndex] = "
      "1.0)",
  };
  for (const std::string order : {"shared_races", "shared_races,reversed_invocations"})
    for (const char* expression : conflicting)
      EXPECT_NE(findings(order.c_str(), expression, x).find("without a barrier between them"),
                std::string::npos)
          << expression;
  const char* const right[] = {
      "(kept[gl_LocalInvocationIndex] = x[i], kept[gl_LocalInvocationIndex])",
      "(kept[gl_LocalInvocationIndex] = x[i], barrier(), kept[0] + kept[WORKGROUP_X - 1])",
      "(kept[gl_LocalInvocationIndex] = x[i], barrier(), y[i] = kept[0], barrier(), "
      "kept[gl_LocalInvocationIndex] = 1.0)",
  };
  for (const char* expression : right) EXPECT_EQ(findings("shared_races", expression, x), "") << expression;
  EXPECT_EQ(findings("", conflicting[0], x), "");
}

TEST(WorstDevice, AFindingFailsTheTest) {
  EXPECT_NONFATAL_FAILURE(compute("shared_races", "kept[0] = x[i]", {1.0f, 2.0f});
                          fail_on_findings(), "without a barrier between them");
}

TEST(WorstDevice, FindsOverflowOfSignedIntegers) {
  const std::vector<float> x = whole_numbers(100);
  const std::string most = std::to_string(std::numeric_limits<int>::max());
  for (const std::string& expression : std::vector<std::string>{
           "float(int(x[i]) * 100000000)", "float(int(x[i]) + " + most + ")",
           "float(-int(x[i]) - " + most + " - 1)", "float((ivec2(1, int(x[i])) * 100000000).y)"})
    EXPECT_NE(findings("signed_overflow", expression, x).find("overflows"), std::string::npos) << expression;
  for (const std::string& expression : std::vector<std::string>{
           "float(int(x[i]) * -10000000)", "float(int(x[i]) - " + most + ")",
           "float(uint(x[i]) * 100000000u)", "float((ivec2(1, int(x[i])) + 100000000).y)"})
    EXPECT_EQ(findings("signed_overflow", expression, x), "") << expression;
}

TEST(WorstDevice, HasSubgroupsOfOtherSizes) {
  if (on_swiftshader()) GTEST_SKIP() << "its subgroups cannot be required, so that no kernel uses them";
  const std::vector<float> x = whole_numbers(256);
  for (const size_t size : {16, 32, 64, 128}) {
    const size_t workgroup = 2 * std::max<size_t>(kWorkgroup, size);
    if (workgroup > test_context()->caps().max_workgroup_invocations) continue;
    const std::string name = "subgroups_" + std::to_string(size);
    const auto results = [&](const char* expression) {
      return compute(name.c_str(), expression, x, "SUBGROUPS");
    };
    const std::vector<float> sums = results("subgroupAdd(x[i])"),
                             most = results("subgroupMax(vec2(0.0, -x[i])).y"),
                             bits = results("float(subgroupOr(uint(x[i])))"),
                             third = results("subgroupBroadcast(x[i], 3)"),
                             lanes = results("float(gl_SubgroupInvocationID + 1000 * gl_SubgroupID)"),
                             products =
                                 results("subgroupMul(vec4(gl_SubgroupInvocationID == 0 ? x[i] : 1.0)).z");
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t first = i / size * size;
      float sum = 0;
      uint32_t all = 0;
      for (size_t lane = 0; lane < size; ++lane) {
        sum += x[first + lane];
        all |= static_cast<uint32_t>(x[first + lane]);
      }
      ASSERT_EQ(sums[i], sum) << name << ", " << i;
      ASSERT_EQ(most[i], -x[first]) << name << ", " << i;
      ASSERT_EQ(bits[i], static_cast<float>(all)) << name << ", " << i;
      ASSERT_EQ(third[i], x[first + 3]) << name << ", " << i;
      ASSERT_EQ(products[i], x[first]) << name << ", " << i;
      ASSERT_EQ(lanes[i], static_cast<float>(i % size + 1000 * (i % workgroup / size))) << name << ", " << i;
    }
  }
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

// The second buffer for the host is not in the memory of the device, and both have the right values.
TEST(WorstDevice, MapsLittleOfItsMemory) {
  const std::vector<float> x = whole_numbers(12 << 10);
  EXPECT_EQ(compute("bar_heap", "x[i]", x), x);
  const EnvironmentVariable environment("VELLUM_TEST_WORST_DEVICE", "bar_heap");
  const auto context = gpu::Context::create(test_context_options());
  const auto upload_buffer = [&] {
    return gpu::make_buffer(context, 48 << 10, gpu::MemoryKind::upload, gpu::MemoryCategory::other);
  };
  const uint32_t device_types = ~gpu::host_visible_memory_types(*context);
  std::vector<gpu::Buffer> buffers;
  for (int i = 0; i < 3; ++i) buffers.push_back(upload_buffer());
  EXPECT_NE(buffers[0].arena()->memory_type(), buffers[1].arena()->memory_type());
  EXPECT_EQ(buffers[1].arena()->memory_type(), buffers[2].arena()->memory_type());
  const gpu::Buffer own = gpu::make_buffer(context, 256, gpu::MemoryKind::device, gpu::MemoryCategory::other);
  EXPECT_EQ(own.data(), nullptr);
  EXPECT_NE(device_types >> own.arena()->memory_type() & 1, 0u);
  buffers.erase(buffers.begin());
  EXPECT_NE(upload_buffer().arena()->memory_type(), buffers[0].arena()->memory_type())
      << "there is room again";
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

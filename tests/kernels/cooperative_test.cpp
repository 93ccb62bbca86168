// Convolutions and matrix products by cooperative matrices.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "exec/cooperative_check.hpp"
#include "graph/operators/conv/conv.hpp"
#include "kernels/conv/cooperative_tile.hpp"
#include "kernels/conv_case.hpp"
#include "shaders/sources.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"
#include "vulkan/glslang_compiler.hpp"

namespace vellum::test {
namespace cooperative_test {

constexpr const char* kShader = "conv_cooperative";

// A product of two computed matrices; `batch` before either.
OperatorCase product(Shape batch, int64_t m, int64_t k, int64_t n) {
  OperatorCase test;
  test.type = "MatMul";
  Shape a = batch, b = std::move(batch);
  a.insert(a.end(), {m, k});
  b.insert(b.end(), {k, n});
  const float range = 2.0f / static_cast<float>(k);
  test.inputs = {random_tensor(std::move(a), 1), random_tensor(std::move(b), 2, -range, range)};
  return test;
}

OperatorCase transposed_product(int64_t m, int64_t k, int64_t n, bool a, bool b) {
  OperatorCase test = gemm(m, k, n);
  test.constants = {};
  const float range = 2.0f / static_cast<float>(k);
  if (a) test.inputs[0] = random_tensor({k, m}, 1);
  if (b) test.inputs[1] = random_tensor({n, k}, 2, -range, range);
  test.attributes.set("transA", int64_t{a});
  test.attributes.set("transB", int64_t{b});
  test.attributes.set("alpha", 0.5f);
  test.activation = {ActivationKind::relu};
  return test;
}

// --- On a device that has them ---

// CPUs, which are not given these kernels, are good enough to check them.
DeviceCaps taken_for_a_gpu(DeviceCaps caps) {
  caps.type = DeviceType::discrete_gpu;
  return caps;
}

void check_all(const OperatorCase& test, StorageChoice storage = StorageChoice::buffer) {
  const auto ran = check_candidates(test, {.precision = Precision::fp16,
                                           .storage = storage,
                                           .only = "cooperative ",
                                           .caps = taken_for_a_gpu(test_context()->caps())});
  EXPECT_FALSE(ran.empty());
}

class OnCooperativeMatrices : public testing::Test {
 protected:
  void SetUp() override {
    const DeviceCaps& caps = test_context()->caps();
    if (half_products(caps).empty())
      GTEST_SKIP() << caps.name << ", cooperative matrices: " << cooperative_summary(caps);
  }
};

// Pixels and channels that are no multiples of any tile.
TEST_F(OnCooperativeMatrices, PointwiseConvolutionsAreRight) {
  for (const StorageChoice storage : {StorageChoice::buffer, StorageChoice::image2d, StorageChoice::image3d})
    check_all(conv({2, 37, 7, 13}, {50, 37, 1, 1}), storage);
  check_all(conv({1, 64, 16, 16}, {128, 64, 1, 1}));
}

TEST_F(OnCooperativeMatrices, WindowsAreRight) {
  check_all(conv({1, 35, 11, 14}, {21, 35, 3, 3}, window(1, 1, 1)));
  check_all(conv({2, 40, 11, 14}, {33, 40, 3, 3}, window(2, 1, 1)));
  check_all(conv({1, 33, 13, 10}, {24, 33, 3, 3}, window(1, 2, 2)));
  check_all(conv({1, 36, 9, 9}, {16, 36, 1, 1}, window(2, 1, 1)), StorageChoice::image2d);
}

TEST_F(OnCooperativeMatrices, MatrixProductsAreRight) {
  check_all(gemm(70, 45, 33));
  check_all(gemm(128, 160, 96));
  check_all(gemm(1, 64, 40));
}

// Rows, columns and sums of every remainder by the matrices and by four.
TEST_F(OnCooperativeMatrices, ProductsOfComputedMatricesAreRight) {
  check_all(product({}, 70, 45, 33));
  check_all(product({3}, 37, 64, 52));
  check_all(product({2, 2}, 40, 36, 39));
  OperatorCase broadcast = product({3}, 33, 40, 24);
  broadcast.inputs[1] = random_tensor({2, 1, 40, 24}, 2, -0.05f, 0.05f);
  check_all(broadcast);
  for (const bool a : {false, true})
    for (const bool b : {false, true}) {
      check_all(transposed_product(76, 100, 52, a, b));
      check_all(transposed_product(39, 50, 45, a, b));
    }
}

// The largest half, and products of it that add up in fp32 without rounding.
TEST_F(OnCooperativeMatrices, SumsOfComputedMatricesDoNotOverflow) {
  OperatorCase test = product({}, 16, 256, 16);
  for (float& value : test.inputs[0]->mutable_as<float>()) value = 65504.0f;
  auto factors = test.inputs[1]->mutable_as<float>();
  for (size_t k = 0; k < 256; ++k)
    for (size_t n = 0; n < 16; ++n) factors[k * 16 + n] = k < 128 ? 1024.0f : k < 255 ? -1024.0f : -1023.0f;
  check_all(test);
}

TEST_F(OnCooperativeMatrices, ResidualsAndScalesAreRight) {
  const OperatorCase test = conv({2, 37, 6, 7}, {22, 37, 1, 1});
  check_all(with_residual(test, {2, 22, 6, 7}));
  check_all(with_scale(test, {2, 37, 1, 1}));
}

// Sums of halves that go far beyond what a half holds: they are in fp32.
TEST_F(OnCooperativeMatrices, SumsDoNotOverflow) {
  OperatorCase test = gemm(16, 256, 16);
  for (float& value : test.inputs[0]->mutable_as<float>()) value = 60.0f;
  auto weights = test.inputs[1]->mutable_as<float>();
  for (size_t k = 0; k < 256; ++k)
    for (size_t n = 0; n < 16; ++n) weights[k * 16 + n] = k < 128 ? 60.0f : -60.0f;
  check_all(test);
}

TEST_F(OnCooperativeMatrices, TheCheckOfTheDevicePasses) {
  gpu::ContextOptions options = test_context_options();
  options.adjust_caps = taken_for_a_gpu;
  EXPECT_TRUE(cooperative_products_are_right(gpu::Context::create(options), MatrixFactors::halves));
}

// A device that claims what it cannot do.
TEST(CooperativeMatrices, TheCheckOfTheDeviceFailsWithAWarning) {
  if (gpu::knows_khr_cooperative_matrix()) GTEST_SKIP() << "a driver may not survive what it does not know";
  gpu::ContextOptions options = test_context_options();
  options.adjust_caps = [](const DeviceCaps& caps) {
    DeviceCaps claims = caps;
    CooperativeMatrix bytes{.m = 8, .n = 8, .k = 16};
    bytes.a = bytes.b = MatrixElement::s8;
    bytes.c = bytes.result = MatrixElement::s32;
    claims.cooperative_matrices = {{.m = 8, .n = 8, .k = 8}, bytes};
    claims.full_subgroups = true;
    claims.type = DeviceType::discrete_gpu;
    return claims;
  };
  const std::shared_ptr<gpu::Context> context = gpu::Context::create(options);
  if (!context->device_caps().full_subgroups) GTEST_SKIP() << "no full subgroups";
  CooperativeCheck check;
  EXPECT_FALSE(check.passes(context, MatrixFactors::halves));
  EXPECT_FALSE(check.passes(context, MatrixFactors::halves));
  EXPECT_FALSE(check.passes(context, MatrixFactors::bytes));
  EXPECT_EQ(logged_messages_containing("products of cooperative matrices fail"), 1u);
  EXPECT_EQ(logged_messages_containing("products of cooperative matrices of bytes fail"), 1u);
}

// --- Which way is taken, without a device ---

DeviceCaps gpu_with(std::vector<CooperativeMatrix> matrices) {
  DeviceCaps caps;
  caps.type = DeviceType::discrete_gpu;
  caps.subgroup_size = 32;
  caps.fp16_arithmetic = caps.subgroup_broadcast = caps.full_subgroups = true;
  caps.max_workgroup_invocations = 1024;
  caps.max_workgroup_size = {1024, 1024, 64};
  caps.max_shared_memory_bytes = 49152;
  caps.cooperative_matrices = std::move(matrices);
  return caps;
}

const CooperativeMatrix k16{.m = 16, .n = 16, .k = 16};

Dispatch lowered(const DeviceCaps& caps, const OperatorCase& test, Precision precision = Precision::fp16) {
  const Program program =
      lower(single_node_graph(test), caps, {.precision = precision, .inputs_to_channels4 = true});
  for (const Task& task : program.tasks)
    if (task.dispatch && task.dispatch->op == test.type) return *task.dispatch;
  ADD_FAILURE() << "no dispatch of " << test.type;
  return {};
}

TEST(CooperativeMatrices, AreTakenOnGpusThatHaveThem) {
  const DeviceCaps caps = gpu_with({k16});
  const Dispatch product = lowered(caps, gemm(512, 512, 512));
  EXPECT_EQ(product.shader, kShader);
  EXPECT_EQ(product.subgroup_size, 32u);
  EXPECT_EQ(product.workgroup_size, (std::array<uint32_t, 3>{256, 1, 1}));
  EXPECT_EQ(lowered(caps, conv({1, 64, 56, 56}, {64, 64, 1, 1})).shader, kShader);
  EXPECT_EQ(lowered(caps, conv({1, 64, 28, 28}, {64, 64, 3, 3}, window(2, 1, 1))).shader, kShader);
}

TEST(CooperativeMatrices, AreTakenForProductsOfComputedMatrices) {
  const DeviceCaps caps = gpu_with({k16});
  const auto has = [](const Dispatch& dispatch, const char* macro) {
    return std::ranges::any_of(dispatch.defines, [&](const auto& define) { return define.first == macro; });
  };
  const Dispatch batched = lowered(caps, product({12}, 197, 64, 196));
  EXPECT_EQ(batched.shader, "matmul_cooperative");
  EXPECT_EQ(batched.workgroup_count[0], 12u * 4 * 4);
  for (const bool a : {false, true})
    for (const bool b : {false, true}) {
      const Dispatch dispatch = lowered(caps, transposed_product(256, 128, 512, a, b));
      EXPECT_EQ(dispatch.shader, "matmul_cooperative") << "packs nothing";
      EXPECT_EQ(has(dispatch, "A_COLUMNS"), a);
      EXPECT_EQ(has(dispatch, "B_COLUMNS"), b);
    }
  EXPECT_EQ(lowered(caps, product({12}, 197, 64, 196), Precision::fp32).shader, "matmul");
  EXPECT_EQ(lowered(caps, product({}, 8, 64, 64)).shader, "matmul") << "tiny";
}

TEST(CooperativeMatrices, AreTakenForNothingElse) {
  const OperatorCase test = gemm(512, 512, 512);
  EXPECT_NE(lowered(gpu_with({}), test).shader, kShader);
  EXPECT_NE(lowered(gpu_with({k16}), test, Precision::fp32).shader, kShader);
  EXPECT_NE(lowered(gpu_with({k16}), gemm(4, 32, 8)).shader, kShader) << "tiny";
  Attributes groups;
  groups.set("group", int64_t{2});
  EXPECT_NE(lowered(gpu_with({k16}), conv({1, 128, 28, 28}, {128, 64, 3, 3}, groups)).shader, kShader);
  DeviceCaps caps = gpu_with({k16});
  caps.type = DeviceType::cpu;
  EXPECT_NE(lowered(caps, test).shader, kShader) << "which computes them one by one";
  caps = gpu_with({k16});
  caps.full_subgroups = false;
  EXPECT_NE(lowered(caps, test).shader, kShader);
  caps = gpu_with({k16});
  caps.max_shared_memory_bytes = 1024;
  EXPECT_NE(lowered(caps, test).shader, kShader);
  CooperativeMatrix of_halves = k16, of_workgroups = k16;
  of_halves.c = of_halves.result = MatrixElement::f16;
  of_workgroups.scope = MatrixScope::workgroup;
  EXPECT_NE(lowered(gpu_with({of_halves, of_workgroups}), test).shader, kShader);
  EXPECT_NE(lowered(gpu_with({{.m = 16, .n = 16, .k = 4}}), test).shader, kShader);
}

// The name of the tile of the least predicted cost.
std::string best_tile(const DeviceCaps& caps, int64_t pixels, int64_t inputs, int64_t outputs) {
  const auto tiles = cooperative_tiles(
      caps, {.pixels = pixels, .inputs = inputs, .outputs = outputs, .precision = Precision::fp16});
  const auto cost = [](const auto& tile) { return tile.predicted_cost; };
  return std::ranges::min_element(tiles, {}, cost)->name.text();
}

TEST(CooperativeMatrices, TilesFitTheDeviceAndTheWork) {
  DeviceCaps caps = gpu_with({{.m = 8, .n = 8, .k = 16}, k16, {.m = 32, .n = 32, .k = 32}});
  caps.name = "NVIDIA H200";  // for its rates
  const MatrixProblem large{.pixels = 4096, .inputs = 4096, .outputs = 4096, .precision = Precision::fp16};
  const auto tiles = cooperative_tiles(caps, large);
  ASSERT_EQ(tiles.size(), 4u);
  EXPECT_EQ(tiles.front().parameters.matrix, k16);
  EXPECT_EQ(best_tile(caps, 4096, 4096, 4096), "cooperative 64x64 by 8");
  EXPECT_EQ(best_tile(caps, 784, 32, 192), "cooperative 32x32") << "a single step";
  EXPECT_EQ(best_tile(caps, 49, 3072, 768), "cooperative 32x32 by 16") << "a long sum in few workgroups";
  caps.max_workgroup_invocations = 256;
  EXPECT_EQ(best_tile(caps, 49, 3072, 768), "cooperative 32x32 by 4");
  caps.max_shared_memory_bytes = 16384;
  EXPECT_EQ(cooperative_tiles(caps, large).size(), 1u);
  for (const auto& tile : tiles) EXPECT_EQ(tile.parameters.step() % tile.parameters.matrix.k, 0);
}

// --- The shader ---

void expect_compiles(const CooperativeTile& tile, const OperatorCase& test) {
  DeviceCaps caps = gpu_with({tile.matrix});
  caps.prefers_images = false;
  const Program program = lower(single_node_graph(test), caps, {.precision = Precision::fp16});
  for (const Task& task : program.tasks) {
    if (!task.dispatch || !task.dispatch->shader.ends_with("_cooperative")) continue;
    const std::string file = task.dispatch->shader + ".comp";
    const std::string source(find_shader_source(file).value());
    std::string preamble =
        "#define SUBGROUP 32\n#define WORKGROUP_X 128\n#define WORKGROUP_Y 1\n"
        "#define WORKGROUP_Z 1\n";
    for (const auto& [macro, value] : task.dispatch->defines)
      preamble += "#define " + macro + " " + value + "\n";
    EXPECT_FALSE(gpu::compile_glsl(file, source, preamble, find_shader_source).empty());
    return;
  }
  ADD_FAILURE() << "does not use the shader";
}

void expect_compiles(const CooperativeTile& tile) {
  expect_compiles(tile, gemm(512, 512, 512));
  for (const bool transposed : {false, true})
    expect_compiles(tile, transposed_product(512, 512, 512, transposed, transposed));
}

// No device at hand has the older extension.
TEST(CooperativeMatrices, TheShaderCompilesForTheExtensionOfNvidia) {
  const gpu::GlslangProcess glslang;
  CooperativeTile tile{k16};
  tile.matrix.extension = MatrixExtension::nv;
  expect_compiles(tile);
  tile.matrix.n = 8;
  expect_compiles(tile);
}

TEST(CooperativeMatrices, TheShaderCompilesForTheExtensionOfKhronos) {
  if (!gpu::knows_khr_cooperative_matrix())
    GTEST_SKIP() << "glslang " << gpu::glslang_version() << " lacks GL_KHR_cooperative_matrix";
  const gpu::GlslangProcess glslang;
  expect_compiles({k16});
  expect_compiles({.matrix = {.m = 16, .n = 8, .k = 8}});
}

}  // namespace cooperative_test
}  // namespace vellum::test

// Convolutions and products of bytes by cooperative matrices of bytes have the results of those by products
// of floats, bit for bit, in every form, storage and tile, and also where a float does not hold the sums.
#include "kernels/conv/byte_matrices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "caps/vendors.hpp"
#include "cost/device_rates.hpp"
#include "cost/matrix_code.hpp"
#include "exec/cooperative_check.hpp"
#include "kernels/byte_layer.hpp"
#include "shaders/sources.hpp"
#include "vulkan/glslang_compiler.hpp"

namespace vellum::test {
namespace byte_matrices_test {

using namespace byte_layer;

constexpr const char* kShader = "conv_bytes_cooperative";

const Dispatch* dispatch_of(const Program& program) {
  for (const Task& task : program.tasks)
    if (task.dispatch && task.dispatch->shader == kShader) return &*task.dispatch;
  return nullptr;
}

// A GPU with 16 x 16 x 32 bytes.
DeviceCaps gpu(MatrixExtension extension = MatrixExtension::khr) {
  DeviceCaps caps;
  caps.type = DeviceType::discrete_gpu;
  caps.name = "NVIDIA GeForce RTX 3090";
  caps.vendor_id = kNvidia;
  caps.prefers_images = false;
  caps.subgroup_size = 32;
  caps.fp16_arithmetic = caps.subgroup_broadcast = caps.full_subgroups = true;
  caps.max_workgroup_invocations = 1024;
  caps.max_workgroup_size = {1024, 1024, 64};
  caps.max_shared_memory_bytes = 49152;
  caps.cooperative_matrices = {{.extension = extension,
                                .m = 16,
                                .n = 16,
                                .k = 32,
                                .a = MatrixElement::s8,
                                .b = MatrixElement::s8,
                                .c = MatrixElement::s32,
                                .result = MatrixElement::s32}};
  return caps;
}

// --- On a device that has them ---

// CPUs, which are not given these kernels, are good enough to check them.
DeviceCaps taken_for_a_gpu() {
  DeviceCaps caps = test_context()->caps();
  caps.type = DeviceType::discrete_gpu;
  return caps;
}
DeviceCaps without_matrices(DeviceCaps caps) {
  caps.cooperative_matrices.clear();
  return caps;
}

// Runs the graph with each of the tiles in buffers, and with one in images.
void expect_equal(const Graph& graph, const std::vector<HostTensor>& inputs, const std::vector<float>& want) {
  size_t runs = 0;
  for (const StorageChoice storage :
       {StorageChoice::buffer, StorageChoice::image2d, StorageChoice::image3d}) {
    std::vector<Choice> choices;
    lower(graph, taken_for_a_gpu(), {.storage = storage, .choices = &choices});
    const size_t before = runs;
    for (const Choice& choice : choices)
      for (const KernelName& candidate : choice.candidates) {
        if (candidate.algorithm != kByteMatrixAlgorithm) continue;
        if (storage != StorageChoice::buffer && runs > before) continue;
        TuningTable table;
        table.operators[choice.signature] = {{choice.candidates.front().text(), 2.0}};
        table.operators[choice.signature][candidate.text()] = 1.0;
        Program program = lower(graph, taken_for_a_gpu(), {.storage = storage, .tuning = &table});
        ASSERT_NE(dispatch_of(program), nullptr) << candidate.text();
        EXPECT_EQ(run(std::move(program), inputs), want) << candidate.text();
        ++runs;
      }
  }
  EXPECT_GE(runs, 5u);
}

void expect_equal(const Layer& layer) {
  SCOPED_TRACE(std::to_string(layer.inputs) + " inputs, " + std::to_string(layer.outputs) +
               " outputs, kernel " + std::to_string(layer.kernel));
  const Graph graph = graph_of(layer);
  const std::vector<HostTensor> inputs = inputs_of(layer);
  expect_equal(graph, inputs, run(lower(graph, without_matrices(test_context()->caps()), {}), inputs));
}

class OnByteMatrices : public testing::Test {
 protected:
  void SetUp() override {
    const DeviceCaps& caps = test_context()->caps();
    if (!has_byte_matrices(taken_for_a_gpu()))
      GTEST_SKIP() << caps.name << ", cooperative matrices: " << cooperative_summary(caps);
  }
};

// Pixels, inputs and outputs of every remainder, two images, and weights of one and of two signs, beyond and
// within signed bytes.
TEST_F(OnByteMatrices, OfPixels) {
  for (const Layer& layer : {Layer{45, 10},
                             {64, 24, 1, -127, 127, 0},
                             {20, 9, 1, 0, 255, 77},
                             {130, 40, 1, -190, 60, 255},
                             {33, 33, 1, -128, 127, 255}})
    expect_equal(layer);
}

TEST_F(OnByteMatrices, InFixedPoint) {
  for (const Layer& layer : {Layer{45, 10, 1, -127, 127, 120, true}, {70, 33, 1, -10, 240, 3, true}})
    expect_equal(layer);
}

TEST_F(OnByteMatrices, OfWindows) {
  const Ints one(4, 1);
  for (const Layer& layer :
       {Layer{.inputs = 13, .outputs = 10, .kernel = 3, .zero = 9, .pads = one},
        {.inputs = 67,
        .outputs = 12,
        .kernel = 3,
        .least = -20,
        .most = 200,
        .zero = 250,
        .pads = one,
        .stride = 2},
        {.inputs = 3,
        .outputs = 8,
        .kernel = 3,
        .zero = 100,
        .has_fixed_point = true,
        .pads = {0, 0, 1, 1},
        .stride = 2},
        {.inputs = 8, .outputs = 9, .kernel = 3, .zero = 3, .has_residual = true},
        {.inputs = 5, .outputs = 16, .kernel = 5, .least = 0, .most = 255, .zero = 200, .pads = Ints(4, 2)},
        {.inputs = 36, .outputs = 8, .kernel = 1, .zero = 17, .stride = 2}})
    expect_equal(layer);
}

TEST_F(OnByteMatrices, WithAResidual) {
  expect_equal({.inputs = 44, .outputs = 12, .zero = 30, .has_residual = true});
}

// A product of matrices is a convolution of one pixel for each row.
TEST_F(OnByteMatrices, OfRows) {
  OnnxModel model;
  model.input("x", {9, 70}).output("y");
  quantise(model, "x", "x_r", kInputStep, 120);
  model.initializer("w", integers({70, 12}, 2, -127, 127, kWeightStep))
      .initializer("b", integers({12}, 3, -3000, 3000, kInputStep * kWeightStep));
  model.node("MatMul", {"x_r", "w"}, {"p"}).node("Add", {"p", "b"}, {"c"});
  quantise(model, "c", "c_r", kOutputStep, 130);
  model.node("LeakyRelu", {"c_r"}, {"y"});
  const Graph graph = optimise(model.graph(), {});
  const std::vector<HostTensor> inputs{integers({9, 70}, 1, -120, 135, kInputStep)};
  expect_equal(graph, inputs, run(lower(graph, without_matrices(test_context()->caps()), {}), inputs));
}

// A layer that is quantised at run time has integers of the range of a ReLU, and the exact results of the
// file.
TEST_F(OnByteMatrices, OfSteps) {
  for (const auto& [kernel, zero] : {std::pair{3, 128}, {1, 77}}) {
    OnnxModel model;
    model.input("x", {2, 40, 9, 7}).output("y");
    model.node("Relu", {"x"}, {"r"}).node("DynamicQuantizeLinear", {"r"}, {"q", "s", "z"});
    model.initializer("ws", HostTensor::f32({}, std::array{0.0123f}));
    model.initializer("wz", HostTensor::from<int64_t>(DType::u8, {}, std::array{int64_t{zero}}));
    model.initializer("wq", cast(integers({10, 40, kernel, kernel}, 2, 0, 255, 1), DType::u8));
    model.node("ConvInteger", {"q", "wq", "z", "wz"}, {"sums"}, attributes({{"pads", Ints(4, kernel / 2)}}));
    model.node("Cast", {"sums"}, {"floats"}, attributes({{"to", int64_t{1}}}));
    model.node("Mul", {"s", "ws"}, {"scale"}).node("Mul", {"floats", "scale"}, {"y"});
    const Graph graph = optimise(model.graph(), {});
    const std::vector<HostTensor> inputs{random_tensor({2, 40, 9, 7}, 3)};
    expect_equal(graph, inputs, evaluate(graph, inputs)[0].to_floats());
  }
}

// The first half of the products adds up to 2^25, which the second half takes away.
TEST_F(OnByteMatrices, SumsBeyondFloats) {
  constexpr int64_t kInputs = 2080;
  OnnxModel model;
  model.input("x", {1, kInputs, 1, 3}).output("y");
  HostTensor w(DType::f32, {8, kInputs, 1, 1}), x(DType::f32, {1, kInputs, 1, 3});
  auto weights = w.mutable_as<float>();
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = i % kInputs < kInputs / 2 ? 127.0f : -127.0f;
  weights[0] = 126.0f;
  for (float& value : x.mutable_as<float>()) value = 255.0f;
  model.initializer("w", w);
  quantise(model, "x", "x_r", 1.0f, 0);
  model.node("Conv", {"x_r", "w"}, {"c"});
  quantise(model, "c", "c_r", 3.0f, 128);
  model.node("LeakyRelu", {"c_r"}, {"y"}, attributes({{"alpha", 1.0f}}));
  std::vector<float> want(24, 0.0f);
  std::fill_n(want.begin(), 3, -255.0f);
  expect_equal(optimise(model.graph(), {}), {x}, want);
}

TEST_F(OnByteMatrices, TheCheckOfTheDevicePasses) {
  gpu::ContextOptions options = test_context_options();
  options.adjust_caps = [](const DeviceCaps& caps) {
    DeviceCaps claims = caps;
    claims.type = DeviceType::discrete_gpu;
    return claims;
  };
  EXPECT_TRUE(cooperative_products_are_right(gpu::Context::create(options), MatrixFactors::bytes));
}

// --- Which way is taken, without a device ---

Layer large(int64_t inputs) { return {.inputs = inputs, .outputs = 256, .height = 28, .width = 28}; }

TEST(ByteMatrices, AreTakenOnGpusThatHaveThem) {
  for (const bool has_fixed_point : {false, true})
    for (const int64_t kernel : {1, 3}) {
      Layer layer = large(256);
      layer.kernel = kernel;
      layer.has_fixed_point = has_fixed_point;
      const Program program = lower(graph_of(layer), gpu(), {});
      const Dispatch* dispatch = dispatch_of(program);
      ASSERT_NE(dispatch, nullptr);
      EXPECT_EQ(*value_of(program, "DOT_PRODUCTS"), "1");
      EXPECT_EQ(dispatch->subgroup_size, 32u);
    }
}

// A device with matrices of halves and of bytes multiplies those of bytes.
TEST(ByteMatrices, AreTakenBeforeThoseOfHalves) {
  DeviceCaps caps = gpu();
  caps.cooperative_matrices.push_back({.m = 16, .n = 16, .k = 16});
  const Graph graph = graph_of(large(256));
  EXPECT_NE(dispatch_of(lower(graph, caps, {.precision = Precision::fp16})), nullptr);
  remove_products(caps, MatrixFactors::bytes);
  const Program halves = lower(graph, caps, {.precision = Precision::fp16});
  EXPECT_EQ(dispatch_of(halves), nullptr);
  EXPECT_TRUE(uses_cooperative_matrices(halves, MatrixFactors::halves));
  EXPECT_FALSE(uses_cooperative_matrices(halves, MatrixFactors::bytes));
}

TEST(ByteMatrices, AreTakenForNothingElse) {
  const Graph graph = graph_of(large(256));
  EXPECT_EQ(dispatch_of(lower(graph, without_matrices(gpu()), {})), nullptr);
  DeviceCaps caps = gpu();
  caps.type = DeviceType::cpu;
  caps.vendor_id = kMesa;
  EXPECT_EQ(dispatch_of(lower(graph, caps, {})), nullptr) << "which computes them one by one";
  caps = gpu();
  caps.full_subgroups = false;
  EXPECT_EQ(dispatch_of(lower(graph, caps, {})), nullptr);
  caps = gpu();
  caps.max_shared_memory_bytes = 1024;
  EXPECT_EQ(dispatch_of(lower(graph, caps, {})), nullptr);
  caps = gpu();
  caps.cooperative_matrices[0].c = caps.cooperative_matrices[0].result = MatrixElement::u32;
  EXPECT_EQ(dispatch_of(lower(graph, caps, {})), nullptr);
  Layer layer = large(256);
  layer.groups = 2;
  EXPECT_EQ(dispatch_of(lower(graph_of(layer), gpu(), {})), nullptr);
  EXPECT_EQ(dispatch_of(lower(graph_of({(1 << 15) + 4, 8}), gpu(), {})), nullptr) << "sums beyond 32 bits";
  EXPECT_EQ(dispatch_of(lower(graph_of({.inputs = 8, .outputs = 8}), gpu(), {})), nullptr) << "tiny";
}

// A device with instructions for dot products gains less.
TEST(ByteMatrices, AreComparedWithDotProducts) {
  const MatrixProblem problem{.pixels = 3136, .inputs = 256, .outputs = 256, .multiplies_bytes = true};
  DeviceCaps caps = gpu();
  const double alone = byte_matrix_tiles(caps, problem, 1).front().predicted_cost;
  caps.integer_dot_products = caps.accelerates_signed_dot_products = true;
  EXPECT_GT(byte_matrix_tiles(caps, problem, 1).front().predicted_cost, alone);
}

TEST(ByteMatrices, LargerBlocksAreMoreEfficient) {
  const DeviceTraits& traits = device_traits(gpu());
  const double small = byte_matrix_efficiency(traits, {.matrices = 1}),
               large = byte_matrix_efficiency(traits, {.matrices = 2});
  EXPECT_GT(small, 1);
  EXPECT_GT(large, small);
  EXPECT_LE(large, traits.byte_matrix_macs);
  const DeviceRates rates = device_rates(gpu());
  EXPECT_GT(byte_matrices_us(rates, traits, {}, {.blocks = 1000, .steps = 8}),
            byte_matrices_us(rates, traits, {}, {.blocks = 1000, .steps = 4}));
}

// --- The shader ---

void expect_compiles(const DeviceCaps& caps, const Layer& layer) {
  const Program program = lower(graph_of(layer), caps, {});
  const Dispatch* dispatch = dispatch_of(program);
  ASSERT_NE(dispatch, nullptr);
  const std::string file = std::string(kShader) + ".comp";
  std::string preamble =
      "#define SUBGROUP 32\n#define WORKGROUP_X 128\n#define WORKGROUP_Y 1\n"
      "#define WORKGROUP_Z 1\n";
  for (const auto& [macro, value] : dispatch->defines) preamble += "#define " + macro + " " + value + "\n";
  const gpu::GlslangProcess glslang;
  EXPECT_FALSE(
      gpu::compile_glsl(file, std::string(find_shader_source(file).value()), preamble, find_shader_source)
          .empty());
}

void expect_compiles(const DeviceCaps& caps) {
  expect_compiles(caps, large(256));
  Layer layer = large(256);
  layer.kernel = 3;
  layer.least = -20, layer.most = 200;
  layer.has_fixed_point = true;
  expect_compiles(caps, layer);
}

// No device at hand has the older extension.
TEST(ByteMatrices, TheShaderCompilesForTheExtensionOfNvidia) { expect_compiles(gpu(MatrixExtension::nv)); }

TEST(ByteMatrices, TheShaderCompilesForTheExtensionOfKhronos) {
  if (!gpu::knows_khr_cooperative_matrix())
    GTEST_SKIP() << "glslang " << gpu::glslang_version() << " lacks GL_KHR_cooperative_matrix";
  expect_compiles(gpu());
}

}  // namespace byte_matrices_test
}  // namespace vellum::test

// Convolutions of bytes by dot products have the results of those by products of floats, bit for bit, in
// every form, storage and tile, and also where a float does not hold the sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "caps/vendors.hpp"
#include "kernels/byte_layer.hpp"
#include "kernels/gpu_named.hpp"
#include "selfcheck/operator_cases.hpp"

namespace vellum::test {
namespace dot_products_test {

using namespace byte_layer;

DeviceCaps with_signed(DeviceCaps caps) {
  caps.accelerates_signed_dot_products = true;
  caps.accelerates_mixed_dot_products = false;
  return caps;
}
DeviceCaps with_mixed(DeviceCaps caps) {
  caps = with_signed(caps);
  caps.accelerates_mixed_dot_products = true;
  return caps;
}

// The kind of dot products that a device accelerates, and the value of DOT_PRODUCTS in its kernels.
struct Form {
  DeviceCaps (*device)(DeviceCaps);
  const char* macro;
};
constexpr Form kForms[] = {{with_signed, "1"}, {with_mixed, "2"}};
constexpr StorageChoice kStorages[] = {StorageChoice::image2d, StorageChoice::image3d, StorageChoice::buffer};

class DotProductsOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!test_context()->caps().integer_dot_products) GTEST_SKIP() << "no dot products of bytes";
  }

  void expect_equal(const Layer& layer, const DeviceCaps& caps) {
    const Graph graph = graph_of(layer);
    const std::vector<HostTensor> inputs = inputs_of(layer);
    const std::vector<float> want = run(lower(graph, caps, {}), inputs);
    for (const Form& form : kForms)
      for (const StorageChoice storage : kStorages) {
        SCOPED_TRACE(std::string("form ") + form.macro + ", storage " +
                     std::to_string(static_cast<int>(storage)));
        Program program = lower(graph, form.device(caps), {.storage = storage});
        const std::string* macro = value_of(program, "DOT_PRODUCTS");
        ASSERT_TRUE(macro && *macro == form.macro);
        EXPECT_EQ(run(std::move(program), inputs), want);
      }
  }
  void expect_equal_on_devices(const Layer& layer) {
    for (const DeviceCaps& caps :
         {test_context()->caps(), caps_as_gpu(kNvidia), adreno_named("Adreno (TM) 660")}) {
      SCOPED_TRACE(caps.vendor_id);
      DeviceCaps device = caps;
      device.integer_dot_products = true;
      device.cooperative_matrices.clear();  // which multiply bytes, too
      expect_equal(layer, device);
    }
  }
};

TEST_F(DotProductsOnDevice, OfPixels) {
  for (const Layer& layer :
       {Layer{13, 10}, {32, 24, 1, -127, 127, 0}, {20, 9, 1, 0, 255, 77}, {16, 8, 1, -190, 60, 255}}) {
    SCOPED_TRACE(std::to_string(layer.inputs) + " inputs");
    expect_equal_on_devices(layer);
  }
}

TEST_F(DotProductsOnDevice, InFixedPoint) {
  for (const Layer& layer : {Layer{13, 10, 1, -127, 127, 120, true}, {20, 9, 1, -10, 240, 3, true}})
    expect_equal_on_devices(layer);
}

TEST_F(DotProductsOnDevice, OfWindows) {
  const Ints one(4, 1);
  for (const Layer& layer :
       {Layer{.inputs = 13, .outputs = 10, .kernel = 3, .zero = 9, .pads = one},
        {.inputs = 8,
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
        {.inputs = 8, .outputs = 5, .kernel = 3, .zero = 3, .has_residual = true},
        {.inputs = 24, .outputs = 16, .kernel = 5, .zero = 200, .pads = Ints(4, 2), .groups = 2},
        {.inputs = 6, .outputs = 8, .kernel = 1, .zero = 17, .stride = 2}}) {
    SCOPED_TRACE(std::to_string(layer.inputs) + " inputs, kernel " + std::to_string(layer.kernel));
    expect_equal_on_devices(layer);
  }
}

TEST_F(DotProductsOnDevice, WithAResidual) {
  expect_equal_on_devices({.inputs = 24, .outputs = 12, .zero = 30, .has_residual = true});
}

void expect_equal_in_every_tile(const Layer& layer, size_t least_tiles) {
  DeviceCaps caps = with_signed(caps_as_gpu(kAmd));
  const Graph graph = graph_of(layer);
  const std::vector<HostTensor> inputs = inputs_of(layer);
  std::vector<Choice> choices;
  const std::vector<float> want = run(lower(graph, caps, {.choices = &choices}), inputs);
  size_t tiles = 0;
  for (const Choice& choice : choices)
    for (const KernelName& candidate : choice.candidates) {
      TuningTable table;
      table.operators[choice.signature] = {{choice.candidates.front().text(), 2.0}};
      table.operators[choice.signature][candidate.text()] = 1.0;
      Program program = lower(graph, caps, {.storage = StorageChoice::buffer, .tuning = &table});
      if (value_of(program, "DOT_PRODUCTS")) ++tiles;
      EXPECT_EQ(run(std::move(program), inputs), want) << candidate.text();
    }
  EXPECT_GE(tiles, least_tiles);
}

// Split-K and one pixel included.
TEST_F(DotProductsOnDevice, InEveryTile) {
  expect_equal_in_every_tile({52, 24, 1, -100, 140, 9}, 8);
  expect_equal_in_every_tile({.inputs = 36, .outputs = 16, .kernel = 3, .zero = 9, .pads = Ints(4, 1)}, 8);
}

// A product of matrices is a convolution of one pixel for each row.
TEST_F(DotProductsOnDevice, OfRows) {
  OnnxModel model;
  model.input("x", {9, 30}).output("y");
  quantise(model, "x", "x_r", kInputStep, 120);
  model.initializer("w", integers({30, 12}, 2, -127, 127, kWeightStep))
      .initializer("b", integers({12}, 3, -3000, 3000, kInputStep * kWeightStep));
  model.node("MatMul", {"x_r", "w"}, {"p"}).node("Add", {"p", "b"}, {"c"});
  quantise(model, "c", "c_r", kOutputStep, 130);
  model.node("LeakyRelu", {"c_r"}, {"y"});
  const Graph graph = optimise(model.graph(), {});
  const std::vector<HostTensor> inputs{integers({9, 30}, 1, -120, 135, kInputStep)};
  const std::vector<float> want = run(lower(graph, test_context()->caps(), {}), inputs);
  for (const Form& form : kForms)
    for (const StorageChoice storage : kStorages) {
      Program program = lower(graph, form.device(test_context()->caps()), {.storage = storage});
      ASSERT_NE(value_of(program, "DOT_PRODUCTS"), nullptr);
      EXPECT_EQ(run(std::move(program), inputs), want);
    }
}

// Layers that are quantised at run time have integers of the range of a ReLU, and the exact results of the
// file.
TEST_F(DotProductsOnDevice, OfSteps) {
  OnnxModel model;
  model.input("x", {1, 10, 9, 7});
  model.initializer("ws", HostTensor::f32({}, std::array{0.0123f}));
  std::string x = "x";
  for (const auto& [kernel, zero] : {std::pair{3, 128}, {1, 77}}) {
    const std::string name = "layer" + std::to_string(kernel);
    const auto named = [&](const char* value) { return name + value; };
    model.node("Relu", {x}, {named("r")});
    model.node("DynamicQuantizeLinear", {named("r")}, {named("q"), named("s"), named("z")});
    model.initializer(named("wz"), HostTensor::from<int64_t>(DType::u8, {}, std::array{int64_t{zero}}));
    model.initializer(named("wq"), cast(integers({10, 10, kernel, kernel}, 2, 0, 255, 1), DType::u8));
    model.node("ConvInteger", {named("q"), named("wq"), named("z"), named("wz")}, {named("sums")},
               attributes({{"pads", Ints(4, kernel / 2)}}));
    model.node("Cast", {named("sums")}, {named("floats")}, attributes({{"to", int64_t{1}}}));
    model.node("Mul", {named("s"), "ws"}, {named("scale")});
    model.node("Mul", {named("floats"), named("scale")}, {x = named("y")});
  }
  const Graph graph = optimise(model.output(x).graph(), {});
  const std::vector<HostTensor> inputs{random_tensor({1, 10, 9, 7}, 3)};
  const std::vector<float> want = evaluate(graph, inputs)[0].to_floats();
  for (const Form& form : kForms)
    for (const StorageChoice storage : kStorages) {
      Program program = lower(graph, form.device(test_context()->caps()), {.storage = storage});
      const auto dots = std::ranges::count_if(program.tasks, [](const Task& task) {
        return task.dispatch && std::ranges::any_of(task.dispatch->defines, [](const auto& define) {
                 return define.first == "DOT_PRODUCTS";
               });
      });
      EXPECT_EQ(dots, 2);
      EXPECT_EQ(run(std::move(program), inputs), want);
    }
}

// The first half of the products adds up to 2^25, which the second half takes away.
TEST_F(DotProductsOnDevice, SumsBeyondFloats) {
  constexpr int64_t kInputs = 2080;
  OnnxModel model;
  model.input("x", {1, kInputs, 1, 3}).output("y");
  HostTensor w(DType::f32, {4, kInputs, 1, 1}), x(DType::f32, {1, kInputs, 1, 3});
  for (size_t i = 0; i < w.mutable_as<float>().size(); ++i)
    w.mutable_as<float>()[i] = i % kInputs < kInputs / 2 ? 127.0f : -127.0f;
  w.mutable_as<float>()[0] = 126.0f;
  for (float& value : x.mutable_as<float>()) value = 255.0f;
  model.initializer("w", w);
  quantise(model, "x", "x_r", 1.0f, 0);
  model.node("Conv", {"x_r", "w"}, {"c"});
  quantise(model, "c", "c_r", 3.0f, 128);
  model.node("LeakyRelu", {"c_r"}, {"y"}, attributes({{"alpha", 1.0f}}));
  const Graph graph = optimise(model.graph(), {});
  for (const Form& form : kForms) {
    const std::vector<float> got = run(lower(graph, form.device(test_context()->caps()), {}), {x});
    for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], i < 3 ? -255.0f : 0.0f) << i;
  }
}

// --- Without a device ---

DeviceCaps gpu(bool has_dot_products) {
  DeviceCaps caps;
  caps.type = DeviceType::discrete_gpu;
  caps.vendor_id = kAmd;
  caps.integer_dot_products = has_dot_products;
  return caps;
}

TEST(DotProducts, OnlyWhereTheDeviceHasInstructions) {
  const Graph graph = graph_of({16, 8});
  EXPECT_EQ(value_of(lower(graph, gpu(true), {}), "DOT_PRODUCTS"), nullptr);
  EXPECT_EQ(value_of(lower(graph, with_signed(gpu(false)), {}), "DOT_PRODUCTS"), nullptr);
  EXPECT_NE(value_of(lower(graph, with_signed(gpu(true)), {}), "DOT_PRODUCTS"), nullptr);
}

// Sums of more products might exceed 32 bits.
TEST(DotProducts, NotOfTooManyProducts) {
  EXPECT_NE(value_of(lower(graph_of({1 << 15, 4}), with_mixed(gpu(true)), {}), "DOT_PRODUCTS"), nullptr);
  EXPECT_EQ(value_of(lower(graph_of({(1 << 15) + 4, 4}), with_mixed(gpu(true)), {}), "DOT_PRODUCTS"),
            nullptr);
}

// The first-use check finds a small operator with the kernel of each form.
TEST(DotProducts, OperatorsOfTheCheckHaveThem) {
  size_t with_offset = 0, without = 0, at_run_time = 0;
  for (const SmallOperator& small : small_operators()) {
    const Program program = lower(optimise(small.graph, {}), with_mixed(gpu(true)), {});
    if (!value_of(program, "DOT_PRODUCTS")) continue;
    ++(value_of(program, "SUM_SCALE")        ? at_run_time
       : value_of(program, "OFFSET_WEIGHTS") ? with_offset
                                             : without);
  }
  EXPECT_GE(with_offset, 2u);
  EXPECT_GE(without, 4u);
  EXPECT_GE(at_run_time, 2u);
}

TEST(DotProducts, MeasurementsMayPreferFloats) {
  const Graph graph = graph_of({16, 8});
  std::vector<Choice> choices;
  lower(graph, with_mixed(gpu(true)), {.choices = &choices});
  const auto found = std::ranges::find_if(
      choices, [](const Choice& choice) { return choice.candidates.front().text() == "dot products"; });
  ASSERT_NE(found, choices.end());
  TuningTable table;
  table.operators[found->signature] = {{"dot products", 2.0}, {"products of floats", 1.0}};
  EXPECT_EQ(value_of(lower(graph, with_mixed(gpu(true)), {.tuning = &table}), "DOT_PRODUCTS"), nullptr);
}

}  // namespace dot_products_test
}  // namespace vellum::test

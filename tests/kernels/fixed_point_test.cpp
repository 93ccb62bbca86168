// Layers in fixed point have the host's integers, in every form and storage.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "caps/vendors.hpp"
#include "exec/executor.hpp"
#include "graph/operators/conv/conv.hpp"
#include "graph/operators/conv/conv_transpose.hpp"
#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/elementwise/select.hpp"
#include "graph/operators/movement/resize.hpp"
#include "graph/operators/reduction/pool.hpp"
#include "graph/operators/reduction/reduce.hpp"
#include "kernels/gpu_named.hpp"
#include "passes/passes.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {
namespace fixed_point_test {

using Ints = Attributes::Ints;

constexpr float kInputStep = 0.037f, kOutputStep = 0.81f, kResidualStep = 0.5f, kSumStep = 0.9f,
                kWeightStep = 0.011f;

struct Layer {
  int64_t inputs, outputs, kernel, groups;
  bool has_residual = false;
  float mean = 0.0f;  // of the integers of the weights
  bool rounds_once = false;
  bool has_16_bits = false;

  float x_step() const { return has_16_bits ? kInputStep / 256 : kInputStep; }
  // The integers of sums that are one integer of a result, with 16 bits.
  float unit() const { return static_cast<float>(inputs / groups * kernel * kernel) * (mean + 20); }
  float y_step() const { return has_16_bits ? unit() * x_step() * kWeightStep : kOutputStep; }
};

void quantise(OnnxModel& model, const std::string& from, const std::string& to, float step, int64_t zero,
              DType dtype = DType::u8) {
  model.initializer(to + "_s", HostTensor::f32({}, std::array{step}));
  model.initializer(to + "_z", HostTensor::from<int64_t>(dtype, {}, std::array{zero}));
  model.node("QuantizeLinear", {from, to + "_s", to + "_z"}, {to + "_q"});
  model.node("DequantizeLinear", {to + "_q", to + "_s", to + "_z"}, {to});
}

template <typename Op, typename Edit>
void edit_operators(Graph& graph, Edit&& edit) {
  for (Node& node : graph.nodes)
    if (const auto* found = dynamic_cast<const Op*>(node.op.get())) {
      auto copy = std::make_shared<Op>(*found);
      edit(*copy);
      node.op = std::move(copy);
    }
}

// Of the scales that `w` gets.
std::shared_ptr<FixedPoint> fixed_point_of(const Layer& layer) {
  auto fixed = std::make_shared<FixedPoint>();
  fixed->x_scale = layer.x_step();
  fixed->y_scale = layer.y_step();
  fixed->rounds_once = layer.rounds_once;
  fixed->has_16_bits = layer.has_16_bits;
  for (int64_t m = 0; m < layer.outputs; ++m) {
    fixed->w_scale.push_back(kWeightStep + 0.0007f * static_cast<float>(m));
    const int64_t bias = 1000 - 317 * m;
    fixed->bias.push_back(layer.has_16_bits ? static_cast<int64_t>(3 * layer.unit()) * bias + 7 : bias);
    const FixedMultiplier multiplier =
        fixed_multiplier(static_cast<double>(fixed->x_scale) * static_cast<double>(fixed->w_scale.back()) /
                         static_cast<double>(fixed->y_scale));
    fixed->multipliers.push_back(layer.has_16_bits ? short_multiplier(multiplier) : multiplier);
  }
  return fixed;
}

HostTensor weights_of(const Layer& layer, const FixedPoint& fixed) {
  HostTensor w = random_tensor({layer.outputs, layer.inputs / layer.groups, layer.kernel, layer.kernel}, 1,
                               layer.mean - 90.0f, layer.mean + 90.0f);
  const auto values = w.mutable_as<float>();
  const size_t each = values.size() / static_cast<size_t>(layer.outputs);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::clamp(std::nearbyint(values[i]), -127.0f, 127.0f) * fixed.w_scale[i / each];
  return w;
}

// The layer as the importer of TFLite makes it.
Graph graph_of(const Layer& layer) {
  const auto fixed = fixed_point_of(layer);
  OnnxModel model;
  model.input("x", {2, layer.inputs, 7, 5}).output("y").initializer("w", weights_of(layer, *fixed));
  const DType dtype = layer.has_16_bits ? DType::i16 : DType::u8;
  quantise(model, "x", "x_r", layer.x_step(), layer.has_16_bits ? 0 : 120, dtype);
  model.node("Conv", {"x_r", "w"}, {"c"},
             attributes({{"group", layer.groups}, {"pads", Ints(4, layer.kernel / 2)}}));
  quantise(model, "c", "c_r", layer.y_step(), layer.has_16_bits ? 0 : 130, dtype);
  std::string last = "c_r";
  if (layer.has_residual) {
    model.input("z", {2, layer.outputs, 7, 5});
    quantise(model, "z", "z_r", kResidualStep, 128);
    model.node("Add", {"c_r", "z_r"}, {"a"});
    quantise(model, "a", last = "a_r", kSumStep, 128);
  }
  model.node("LeakyRelu", {last}, {"y"});
  Graph graph = optimise(model.graph(), {});
  graph.has_integer_weights = layer.has_16_bits;
  edit_operators<Conv>(graph, [&](Conv& conv) {
    conv.fixed_point = fixed;
    if (layer.has_residual)
      conv.activation.fixed_sum =
          fixed_sum(layer.y_step(), kResidualStep, kSumStep, layer.has_16_bits ? 16 : 8);
  });
  return graph;
}

// `macro`: defined by the dispatch that computes integers.
void expect_values_of_host(const Graph& graph, const std::vector<HostTensor>& inputs,
                           std::string_view macro) {
  const std::vector<float> want = evaluate(graph, inputs)[0].to_floats();
  // On its own device, and by the kernels that GPUs of these vendors have.
  for (const DeviceCaps& caps :
       {test_context()->caps(), caps_as_gpu(kNvidia), adreno_named("Adreno (TM) 660")})
    for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::buffer}) {
      SCOPED_TRACE(caps.vendor_id);
      Program program = lower(graph, caps, {.storage = storage});
      EXPECT_TRUE(std::ranges::any_of(program.tasks, [&](const Task& task) {
        return task.dispatch && std::ranges::any_of(task.dispatch->defines, [&](const auto& define) {
                 return define.first == macro;
               });
      }));
      Executor executor(test_context(), compile_program(test_context(), std::move(program)));
      for (size_t i = 0; i < inputs.size(); ++i) executor.set_input(i, inputs[i]);
      executor.run();
      EXPECT_EQ(executor.output(0).to_floats(), want);
    }
}

void expect_integers_of_host(const Layer& layer) {
  SCOPED_TRACE("kernel " + std::to_string(layer.kernel) + " of " + std::to_string(layer.inputs) + " in " +
               std::to_string(layer.groups) + " groups");
  std::vector<HostTensor> inputs{random_tensor({2, layer.inputs, 7, 5}, 5, -4.0f, 5.0f)};
  if (layer.has_residual) inputs.push_back(random_tensor({2, layer.outputs, 7, 5}, 6, -60.0f, 60.0f));
  const Graph graph = graph_of(layer);
  expect_values_of_host(graph, inputs, "FIXED_POINT");
  if (layer.has_residual) expect_values_of_host(graph, inputs, "FIXED_PAIR");
}

TEST(FixedPoint, ConvolutionsOfEveryForm) {
  for (const Layer& layer :
       {Layer{13, 10, 1, 1}, {6, 10, 3, 1}, {3, 5, 3, 1}, {8, 8, 3, 2}, {9, 9, 3, 9}, {6, 6, 5, 6}})
    expect_integers_of_host(layer);
}

TEST(FixedPoint, ProductsRoundedOnce) {
  expect_integers_of_host({.inputs = 30, .outputs = 10, .kernel = 1, .groups = 1, .rounds_once = true});
}

TEST(FixedPoint, SumsBeforeAResidual) {
  for (const Layer& layer : {Layer{8, 8, 1, 1, true}, {8, 8, 3, 1, true}, {6, 6, 3, 6, true}})
    expect_integers_of_host(layer);
}

// Convolutions of integers of 16 bits, whose sums and biases need more than 32 bits.
TEST(FixedPoint, LayersOf16Bits) {
  for (Layer layer :
       {Layer{13, 10, 1, 1}, {3, 5, 3, 1}, {8, 8, 3, 2}, {9, 9, 3, 9}, {6, 6, 5, 6}, {8, 8, 1, 1, true}}) {
    layer.has_16_bits = true;
    expect_integers_of_host(layer);
  }
}

TEST(FixedPoint, LongSumsOf16Bits) {
  for (Layer layer : {Layer{1300, 6, 1, 1}, {150, 6, 3, 1}, {6, 6, 25, 6}}) {
    layer.has_16_bits = true;
    layer.mean = 80.0f;
    expect_integers_of_host(layer);
  }
}

// Cooperative matrices of halves add up floats.
TEST(FixedPoint, NoCooperativeMatrices) {
  DeviceCaps caps = caps_as_gpu(kNvidia);
  caps.cooperative_matrices = {{.m = 16, .n = 16, .k = 16}};
  caps.fp16_arithmetic = caps.full_subgroups = true;
  caps.subgroup_size = 32;
  for (const int64_t kernel : {1, 3}) {
    const Program program = lower(graph_of({64, 64, kernel, 1}), caps,
                                  {.precision = Precision::fp16, .inputs_to_channels4 = true});
    for (const Task& task : program.tasks)
      EXPECT_TRUE(!task.dispatch || task.dispatch->shader != "conv_cooperative");
  }
}

// Sums that floats cannot hold are added up as integers.
TEST(FixedPoint, SumsBeyondFloats) {
  expect_integers_of_host({1300, 6, 1, 1, false, 80.0f});
  expect_integers_of_host({150, 6, 3, 1, false, 80.0f});
}

// Returns the graph, whose functions of two tensors get the arithmetic.
Graph with_pair(Graph graph, const FixedPair& pair) {
  edit_operators<Binary>(graph, [&](Binary& op) { op.fixed_point = pair; });
  return graph;
}

// Steps whose quotients are near halves, so that many results are ties, or nearly so.
void expect_pairs_of_host(const std::string& type, const Shape& a, const Shape& b, float b_step,
                          float y_step) {
  SCOPED_TRACE(type + " of " + to_string(a) + " and " + to_string(b));
  constexpr float kStep = 0.5f;
  OnnxModel model;
  model.input("x", a).input("z", b).output("y");
  quantise(model, "x", "x_r", kStep, 120);
  quantise(model, "z", "z_r", b_step, 7);
  model.node(type, {"x_r", "z_r"}, {"p"});
  quantise(model, "p", "p_r", y_step, 130);
  model.node("LeakyRelu", {"p_r"}, {"y"});
  const FixedPair pair =
      type == "Mul" ? fixed_product(kStep, b_step, y_step) : fixed_sum(kStep, b_step, y_step);
  expect_values_of_host(with_pair(optimise(model.graph(), {}), pair),
                        {random_tensor(a, 1, -60.0f, 67.0f), random_tensor(b, 2, -3.0f, 90.0f)},
                        "FIXED_PAIR");
}

TEST(FixedPoint, PairsOfTensors) {
  expect_pairs_of_host("Add", {2, 6, 7, 5}, {2, 6, 7, 5}, 0.25f, 1.0f);
  expect_pairs_of_host("Add", {2, 6, 7, 5}, {1, 6, 1, 1}, 0.31f, 0.77f);
  expect_pairs_of_host("Sub", {9, 13}, {1, 13}, 0.125f, 0.5f);
  expect_pairs_of_host("Sub", {2, 6, 7, 5}, {2, 6, 7, 5}, 0.4f, 0.007f);
  expect_pairs_of_host("Mul", {2, 6, 7, 5}, {2, 6, 7, 5}, 0.3f, 40.0f);
  expect_pairs_of_host("Mul", {3, 4, 5}, {5}, 0.5f, 0.01f);
}

// The same with integers of 16 bits, whose zero points are 0.
void expect_short_pairs_of_host(const std::string& type, float a_step, float b_step, float y_step) {
  SCOPED_TRACE(type + " in steps of " + std::to_string(y_step));
  const Shape shape{2, 6, 7, 5};
  OnnxModel model;
  model.input("x", shape).input("z", shape).output("y");
  quantise(model, "x", "x_r", a_step, 0, DType::i16);
  quantise(model, "z", "z_r", b_step, 0, DType::i16);
  model.node(type, {"x_r", "z_r"}, {"p"});
  quantise(model, "p", "p_r", y_step, 0, DType::i16);
  model.node("LeakyRelu", {"p_r"}, {"y"});
  const FixedPair pair =
      type == "Mul" ? fixed_product(a_step, b_step, y_step, 16) : fixed_sum(a_step, b_step, y_step, 16);
  const auto all = [&](uint32_t seed, float step) {
    return random_tensor(shape, seed, -33000 * step, 33000 * step);
  };
  expect_values_of_host(with_pair(optimise(model.graph(), {}), pair), {all(1, a_step), all(2, b_step)},
                        "FIXED_PAIR");
}

TEST(FixedPoint, PairsOfTensorsOf16Bits) {
  expect_short_pairs_of_host("Add", 0.0003f, 0.00021f, 0.00047f);
  expect_short_pairs_of_host("Sub", 0.0003f, 0.0001f, 0.0004f);
  expect_short_pairs_of_host("Mul", 0.0003f, 0.0002f, 0.0005f);
}

// The graph x, quantised -> `node` -> quantised by y_step and y_zero -> LeakyRelu, with `edit` for each
// operator.
template <typename Op, typename Edit>
Graph graph_with(const Shape& x, float y_step, int64_t y_zero, const std::function<void(OnnxModel&)>& node,
                 Edit&& edit) {
  OnnxModel model;
  model.input("x", x).output("y");
  quantise(model, "x", "x_r", kInputStep, 120);
  node(model);
  quantise(model, "m", "m_r", y_step, y_zero);
  model.node("LeakyRelu", {"m_r"}, {"y"});
  Graph graph = optimise(model.graph(), {});
  edit_operators<Op>(graph, edit);
  return graph;
}

TEST(FixedPoint, Means) {
  constexpr float kStep = 0.0211f;
  struct Case {
    Shape shape;
    Ints axes;
    int64_t keep;
  };
  for (const auto& [shape, axes, keep] : {Case{{2, 6, 7, 5}, {2, 3}, 1},
                                          {{2, 6, 7, 5}, {1}, 1},
                                          {{2, 6, 7, 5}, {2, 3}, 0},
                                          {{3, 9, 10, 2, 2}, {1, 3}, 0},
                                          {{1, 3, 90, 70}, {2, 3}, 1}}) {
    SCOPED_TRACE(to_string(shape) + " along " + std::to_string(axes[0]));
    int64_t count = 1;
    for (const int64_t axis : axes) count *= shape[static_cast<size_t>(axis)];
    const Graph graph = graph_with<Reduce>(
        shape, kStep, 130,
        [&](OnnxModel& model) {
          model.node("ReduceMean", {"x_r"}, {"m"}, attributes({{"axes", axes}, {"keepdims", keep}}));
        },
        [&](Reduce& op) { op.fixed_mean = fixed_mean(kInputStep, kStep, count); });
    expect_values_of_host(graph, {random_tensor(shape, 5, -4.0f, 5.0f)}, "FIXED_MEAN");
  }
}

TEST(FixedPoint, Averages) {
  for (const int64_t size : {2, 3, 4}) {
    const Graph graph = graph_with<Pool>(
        {2, 6, 7, 5}, kInputStep, 120,
        [&](OnnxModel& model) {
          model.node("AveragePool", {"x_r"}, {"m"},
                     attributes({{"kernel_shape", Ints{size, 2}}, {"pads", Ints{1, 0, 0, 1}}}));
        },
        [&](Pool& op) {
          op.fixed_average = {kInputStep, -8};
        });
    expect_values_of_host(graph, {random_tensor({2, 6, 7, 5}, 5, -4.0f, 5.0f)}, "FIXED_AVERAGE");
  }
}

TEST(FixedPoint, Interpolation) {
  for (const CoordinateMode mode :
       {CoordinateMode::asymmetric, CoordinateMode::half_pixel, CoordinateMode::align_corners})
    for (const bool in_floats : {false, true}) {
      const Graph graph = graph_with<Resize>(
          {2, 6, 7, 5}, kInputStep, 120,
          [&](OnnxModel& model) {
            model.initializer("sizes", HostTensor::i64({4}, std::array<int64_t, 4>{2, 6, 11, 13}));
            model.node("Resize", {"x_r", "", "", "sizes"}, {"m"},
                       attributes({{"mode", std::string("linear")}}));
          },
          [&](Resize& op) {
            op.coordinates = mode;
            op.fixed = {kInputStep, in_floats ? 120 : -8, in_floats};
          });
      expect_values_of_host(graph, {random_tensor({2, 6, 7, 5}, 5, -4.0f, 5.0f)},
                            in_floats ? "FIXED_IN_FLOATS" : "FIXED_RESIZE");
    }
}

// Returns the weights (6, 10, 3, 3) of a transposed convolution.
HostTensor transposed_weights(const FixedPoint& fixed) {
  HostTensor weights = random_tensor({6, 10, 3, 3}, 1, -90.0f, 90.0f);
  const auto values = weights.mutable_as<float>();
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::nearbyint(values[i]) * fixed.w_scale[i / 9 % 10];
  return weights;
}

TEST(FixedPoint, TransposedConvolutions) {
  const auto fixed = fixed_point_of({.inputs = 6, .outputs = 10, .kernel = 3, .groups = 1});
  const HostTensor weights = transposed_weights(*fixed);
  for (const int64_t stride : {1, 2, 3}) {
    const Graph graph = graph_with<ConvTranspose>(
        {2, 6, 5, 4}, kOutputStep, 130,
        [&](OnnxModel& model) {
          model.initializer("w", weights);
          model.node("ConvTranspose", {"x_r", "w"}, {"m"}, attributes({{"strides", Ints{stride, stride}}}));
        },
        [&](ConvTranspose& op) { op.fixed_point = fixed; });
    expect_values_of_host(graph, {random_tensor({2, 6, 5, 4}, 5, -4.0f, 5.0f)}, "FIXED_POINT");
  }
}

TEST(FixedPoint, TransposedConvolutionsOf16Bits) {
  const Layer layer{.inputs = 6, .outputs = 10, .kernel = 3, .groups = 1, .has_16_bits = true};
  const auto fixed = fixed_point_of(layer);
  OnnxModel model;
  model.input("x", {2, 6, 5, 4}).output("y").initializer("w", transposed_weights(*fixed));
  quantise(model, "x", "x_r", layer.x_step(), 0, DType::i16);
  model.node("ConvTranspose", {"x_r", "w"}, {"m"}, attributes({{"strides", Ints{2, 3}}}));
  quantise(model, "m", "m_r", layer.y_step(), 0, DType::i16);
  model.node("LeakyRelu", {"m_r"}, {"y"});
  Graph graph = optimise(model.graph(), {});
  graph.has_integer_weights = true;
  edit_operators<ConvTranspose>(graph, [&](ConvTranspose& op) { op.fixed_point = fixed; });
  expect_values_of_host(graph, {random_tensor({2, 6, 5, 4}, 5, -4.0f, 5.0f)}, "X_OF_16_BITS");
}

TEST(FixedPoint, SlopesOfNegativeNumbers) {
  constexpr float kSlopeStep = 0.004f, kStep = 0.029f;
  const Graph graph = graph_with<PRelu>(
      {2, 6, 7, 5}, kStep, 130,
      [&](OnnxModel& model) {
        const std::array<float, 6> slopes{-0.4f, 0.012f, 0.2f, 0.0f, 0.504f, -0.004f};
        model.initializer("slopes", HostTensor::f32({6, 1, 1}, slopes));
        model.node("PRelu", {"x_r", "slopes"}, {"m"});
      },
      [&](PRelu& op) {
        op.fixed_point = fixed_product(kInputStep, kSlopeStep, kStep);
        op.fixed_point.a = fixed_multiplier(static_cast<double>(kInputStep / kStep));
      });
  expect_values_of_host(graph, {random_tensor({2, 6, 7, 5}, 5, -4.0f, 5.0f)}, "FIXED_PAIR");
}

}  // namespace fixed_point_test
}  // namespace vellum::test

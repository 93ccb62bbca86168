// Tensors that are stored in bytes, in every storage: each operator reads values that are rounded to a grid,
// and its results are rounded to another one. The inputs are multiples of a quarter and results of a
// sixteenth or so, with steps whose halves none of them meets, so that rounding does not depend on the order
// of sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cost/device_traits.hpp"
#include "exec/executor.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "passes/passes.hpp"
#include "support/environment.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {
namespace byte_storage_test {

using Ints = Attributes::Ints;

struct ByteCase {
  const char* type;
  std::vector<Shape> inputs;
  Attributes attributes = {};
  std::vector<HostTensor> constants = {};  // the inputs after those
  bool rounds = true;                      // whether its results are rounded
  float tolerance = 0.0f;
  size_t outputs = 1;
};

HostTensor in_quarters(Shape shape, uint32_t seed) {
  HostTensor tensor = random_tensor(std::move(shape), seed, -1.0f, 1.0f);
  for (float& value : tensor.mutable_as<float>()) value = std::nearbyint(4 * value) / 4;
  return tensor;
}

HostTensor ints(std::vector<int64_t> values) {
  const auto count = static_cast<int64_t>(values.size());
  return HostTensor::from<int64_t>(DType::i64, {count}, values);
}

const std::vector<ByteCase>& cases() {
  const auto pads = attributes({{"pads", Ints(4, 1)}});
  const auto strided = attributes({{"pads", Ints(4, 1)}, {"strides", Ints{2, 2}}});
  const auto of_groups = [](int64_t groups) { return attributes({{"group", groups}, {"pads", Ints(4, 1)}}); };
  const auto axis = [](int64_t value) { return attributes({{"axis", value}}); };
  const auto window = attributes({{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  static const std::vector<ByteCase> list{
      {"Conv", {{2, 5, 7, 6}}, pads, {in_quarters({6, 5, 3, 3}, 1), in_quarters({6}, 2)}},
      {"Conv", {{1, 3, 9, 9}}, strided, {in_quarters({9, 3, 3, 3}, 1)}},
      {"Conv", {{2, 20, 5, 6}}, {}, {in_quarters({7, 20, 1, 1}, 1)}},
      {"Conv", {{1, 20, 6, 6}}, {}, {in_quarters({7, 20, 1, 1}, 1)}},
      {"Conv", {{1, 12, 6, 6}}, pads, {in_quarters({7, 12, 3, 3}, 1)}},
      {"Conv", {{1, 9, 8, 7}}, of_groups(9), {in_quarters({9, 1, 3, 3}, 1)}},
      {"Conv", {{1, 8, 6, 6}}, of_groups(2), {in_quarters({12, 4, 3, 3}, 1)}},
      {"ConvTranspose", {{1, 6, 5, 4}}, strided, {in_quarters({6, 7, 3, 3}, 1)}},
      {"Gemm", {{3, 10}}, {}, {in_quarters({10, 6}, 1), in_quarters({6}, 2)}},
      {"MatMul", {{2, 3, 8}}, {}, {in_quarters({8, 5}, 1)}},
      {"MatMul", {{2, 5, 7}, {2, 7, 6}}},
      {"Add", {{1, 6, 4, 5}, {1, 6, 4, 5}}},
      {"Mul", {{2, 5, 3, 4}, {2, 5, 1, 1}}},
      {"Sub", {{2, 3, 4, 2, 3}, {2, 3, 4, 2, 3}}},
      {"Sigmoid", {{1, 5, 4, 6}}, {}, {}, false, 1e-5f},
      {"Softmax", {{2, 3, 9}}, axis(-1), {}, false, 1e-5f},
      {"Softmax", {{2, 3, 12}}, axis(-1)},
      {"Softmax", {{1, 7, 3, 4}}, axis(1)},
      {"LayerNormalization", {{2, 5, 8}}, axis(-1), {in_quarters({8}, 1), in_quarters({8}, 2)}},
      {"LayerNormalization", {{5, 8}}, axis(-1), {in_quarters({8}, 1)}},
      {"LayerNormalization", {{2, 3, 7}}, axis(-1), {in_quarters({7}, 1)}},
      {"ReduceMean", {{2, 6, 4, 8}}, attributes({{"axes", Ints{2, 3}}}), {}, false, 1e-5f},
      {"GlobalAveragePool", {{2, 6, 4, 8}}, {}, {}, false, 1e-5f},
      {"GlobalAveragePool", {{2, 6, 4, 8}}},
      {"GlobalMaxPool", {{1, 5, 3, 7}}},
      {"MaxPool", {{1, 6, 6, 8}}, window},
      {"AveragePool", {{1, 6, 6, 8}}, window},
      {"Concat", {{1, 5, 4, 3}, {1, 6, 4, 3}}, axis(1)},
      {"Concat", {{2, 3, 5}, {2, 3, 4}}, axis(2)},
      {"Concat", {{1, 4, 5, 3}, {1, 4, 2, 3}}, axis(2)},
      {"Split", {{2, 9, 3, 4}}, axis(1), {ints({5, 4})}, true, 0.0f, 2},
      {"Slice", {{1, 7, 6, 5}}, {}, {ints({2, 1}), ints({6, 6}), ints({1, 2}), ints({1, 2})}},
      {"Transpose", {{2, 5, 4, 3}}, attributes({{"perm", Ints{0, 2, 3, 1}}})},
      {"Reshape", {{2, 6, 5, 3}}, {}, {ints({2, 3, 30})}},
      {"DepthToSpace", {{1, 12, 3, 4}}, attributes({{"blocksize", int64_t{2}}})},
      {"SpaceToDepth", {{1, 3, 6, 4}}, attributes({{"blocksize", int64_t{2}}})},
      {"Pad", {{1, 5, 4, 3}}, {}, {ints({0, 1, 1, 0, 0, 2, 0, 2})}},
      {"Gather", {{6, 5, 4}}, axis(0), {ints({4, 1, 1, 0})}},
      {"Resize",
       {{1, 5, 4, 3}},
       attributes({{"mode", std::string("linear")}}),
       {HostTensor::f32({0}, {}), HostTensor::f32({4}, std::array{1.0f, 1.0f, 2.0f, 2.0f})}},
      {"Expand", {{1, 5, 1, 3}}, {}, {ints({2, 5, 4, 3})}},
      {"Tile", {{2, 5, 3}}, {}, {ints({1, 2, 3})}},
      {"Gather", {{2, 7, 3, 5}}, axis(1), {ints({6, 0, 0, 3, 2})}},
  };
  return list;
}

struct Network {
  OnnxModel model;
  std::vector<HostTensor> inputs;
};

void add_grid(OnnxModel& model, const std::string& name, float step, int64_t zero) {
  model.initializer(name + "_s", HostTensor::f32({}, std::array{step}));
  model.initializer(name + "_z", HostTensor::from<int64_t>(DType::u8, {}, std::array{zero}));
}

void round_to(OnnxModel& model, const std::string& grid, const std::string& from, const std::string& to) {
  model.node("QuantizeLinear", {from, grid + "_s", grid + "_z"}, {to + "_q"});
  model.node("DequantizeLinear", {to + "_q", grid + "_s", grid + "_z"}, {to});
}

// Relu after each rounding: it reads the bytes, and no output of the graph is what computes them.
Network network_of(const ByteCase& test) {
  Network network;
  OnnxModel& model = network.model;
  add_grid(model, "in", 0.25f, 130);
  add_grid(model, "out", 5.0f / 16, 120);
  std::vector<std::string> names;
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    const std::string name = "x" + std::to_string(i);
    model.input(name, test.inputs[i]);
    network.inputs.push_back(in_quarters(test.inputs[i], static_cast<uint32_t>(i) + 5));
    round_to(model, "in", name, name + "_r");
    names.push_back(name + "_r");
  }
  for (size_t i = 0; i < test.constants.size(); ++i) {
    names.push_back("c" + std::to_string(i));
    model.initializer(names.back(), test.constants[i]);
  }
  std::vector<std::string> results;
  for (size_t i = 0; i < test.outputs; ++i) results.push_back("r" + std::to_string(i));
  model.node(test.type, names, results, test.attributes);
  for (size_t i = 0; i < test.outputs; ++i) {
    const std::string rounded = results[i] + "_r", y = "y" + std::to_string(i);
    if (test.rounds) round_to(model, "out", results[i], rounded);
    model.output(y).node("LeakyRelu", {test.rounds ? rounded : results[i]}, {y});
  }
  return network;
}

size_t count_bytes(const Program& program) {
  return static_cast<size_t>(std::ranges::count_if(
      program.tensors, [](const VirtualTensor& tensor) { return tensor.desc.element == ElementType::q8; }));
}

TEST(ByteStorage, HoldsWhatIsRounded) {
  for (const ByteCase& test : cases()) {
    const Network network = network_of(test);
    // The rounding of the inputs and that of the results stay apart from the operator.
    const Graph graph = optimise(network.model.graph(), {});
    const std::vector<HostTensor> want = evaluate(graph, network.inputs);
    size_t number = 0;
    for (const StorageChoice storage :
         {StorageChoice::image2d, StorageChoice::image3d, StorageChoice::buffer, StorageChoice::buffer}) {
      // Half of them, in turn.
      if ((number + static_cast<size_t>(&test - cases().data())) % 2 != 0 && !in_full()) {
        ++number;
        continue;
      }
      SCOPED_TRACE(std::string(test.type) + " " + to_string(test.inputs[0]) + " in storage " +
                   std::to_string(number));
      DeviceCaps caps = test_context()->caps();
      caps.reads_buffers_as_texels = number++ == 3;
      Program program = lower(graph, caps, {.storage = storage, .inputs_to_channels4 = number % 2 == 0});
      EXPECT_TRUE(program.warnings.empty()) << program.warnings.front();
      EXPECT_GE(count_bytes(program), test.inputs.size() + (test.rounds ? test.outputs : 0))
          << to_text(program);
      Executor executor(test_context(), compile_program(test_context(), std::move(program)));
      for (size_t i = 0; i < network.inputs.size(); ++i) executor.set_input(i, network.inputs[i]);
      executor.run();
      for (size_t i = 0; i < want.size(); ++i) {
        const std::vector<float> a = executor.output(i).to_floats(), b = want[i].to_floats();
        ASSERT_EQ(a.size(), b.size());
        for (size_t k = 0; k < a.size(); ++k)
          ASSERT_NEAR(a[k], b[k], test.tolerance + 1e-6f) << "element " << k;
      }
    }
  }
}

// The sum of a layer is rounded before its residual is added, in one dispatch.
TEST(ByteStorage, RoundsASumBeforeItsResidual) {
  for (const auto& [kernel, groups] : {std::pair<int64_t, int64_t>{1, 1}, {3, 1}, {3, 6}}) {
    OnnxModel model;
    add_grid(model, "in", 0.25f, 130);
    add_grid(model, "sum", 5.0f / 16, 120);
    add_grid(model, "out", 7.0f / 16, 125);
    model.input("x", {1, 6, 5, 9}).input("z", {1, 6, 5, 9}).output("y");
    model.initializer("w", in_quarters({6, 6 / groups, kernel, kernel}, 1));
    round_to(model, "in", "x", "x_r");
    round_to(model, "in", "z", "z_r");
    model.node("Conv", {"x_r", "w"}, {"c"}, attributes({{"group", groups}, {"pads", Ints(4, kernel / 2)}}));
    round_to(model, "sum", "c", "c_r");
    model.node("Add", {"c_r", "z_r"}, {"a"});
    round_to(model, "out", "a", "a_r");
    model.node("LeakyRelu", {"a_r"}, {"y"});
    const Graph graph = optimise(model.graph(), {});
    const std::vector<HostTensor> inputs{in_quarters({1, 6, 5, 9}, 2), in_quarters({1, 6, 5, 9}, 3)};
    const std::vector<float> want =
        evaluate(optimise(model.graph(), {}, std::array{std::string("fuse_residual")}), inputs)[0]
            .to_floats();
    for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::buffer}) {
      Program program = lower(graph, test_context()->caps(), {.storage = storage});
      for (const Task& task : program.tasks) EXPECT_NE(task.dispatch->op, "Add");
      Executor executor(test_context(), compile_program(test_context(), std::move(program)));
      for (size_t i = 0; i < 2; ++i) executor.set_input(i, inputs[i]);
      executor.run();
      const std::vector<float> got = executor.output(0).to_floats();
      for (size_t k = 0; k < want.size(); ++k) ASSERT_NEAR(got[k], want[k], 1e-6f) << "element " << k;
    }
  }
}

// Parts of a concatenation on different grids are no bytes of one tensor.
TEST(ByteStorage, LeavesMixedGridsInFloats) {
  OnnxModel model;
  add_grid(model, "in", 0.25f, 130);
  add_grid(model, "other", 0.5f, 130);
  model.input("a", {1, 4, 3, 3}).input("b", {1, 4, 3, 3}).output("y");
  round_to(model, "in", "a", "a_r");
  round_to(model, "other", "b", "b_r");
  model.node("Concat", {"a_r", "b_r"}, {"c"}, attributes({{"axis", int64_t{1}}}))
      .node("LeakyRelu", {"c"}, {"y"});
  const Graph graph = optimise(model.graph(), {});
  Program program = lower(graph, test_context()->caps(), {});
  for (const VirtualTensor& tensor : program.tensors)
    EXPECT_TRUE(tensor.name != "c" || tensor.desc.element != ElementType::q8);
  const std::vector<HostTensor> inputs{in_quarters({1, 4, 3, 3}, 1), in_quarters({1, 4, 3, 3}, 2)};
  Executor executor(test_context(), compile_program(test_context(), std::move(program)));
  for (size_t i = 0; i < 2; ++i) executor.set_input(i, inputs[i]);
  executor.run();
  EXPECT_EQ(executor.output(0).to_floats(), evaluate(graph, inputs)[0].to_floats());
}

// A rounding of what stores its results is done by that store.
TEST(ByteStorage, RoundsInTheStore) {
  for (const ByteCase& test : cases()) {
    const std::string type = test.type;
    if (type != "Concat" && type != "Resize") continue;
    const Graph graph = optimise(network_of(test).model.graph(), {});
    const Program program = lower(graph, test_context()->caps(), {});
    size_t roundings = 0;
    for (const Task& task : program.tasks) roundings += task.dispatch->op == "FakeQuantize";
    EXPECT_EQ(roundings, test.inputs.size()) << to_text(program);
  }
}

// Quotients at, and one unit beside, every tie: the store rounds as QuantizeLinear or TFLite's QUANTIZE does.
TEST(ByteStorage, RoundsInTheStoreAsExactlyAsAKernelOfItsOwn) {
  for (const float step : {5.0f / 255.0f, 0.1f, 0.7f, 1.0f, 12345.678f, 0x1.7a0006p-1f}) {
    std::vector<float> x;
    for (int i = 0; i < 128; ++i)
      for (const float beside : {1.0f - 0x1p-24f, 1.0f, 1.0f + 0x1p-23f})
        for (const float sign : {1.0f, -1.0f})
          x.push_back(sign * (static_cast<float>(i) + 0.5f) * step * beside);
    for (const float far : {3e38f, 257.0f * step, INFINITY}) x.insert(x.end(), {far, -far});
    x.insert(x.end(), {NAN, 0.0f});
    x.resize(16 * 50);
    OnnxModel model;
    model.input("x", {1, 10, 20, 4}).initializer("w", HostTensor::f32({4, 4, 1, 1}, [] {
                                                   std::vector<float> identity(16, 0.0f);
                                                   for (size_t i = 0; i < 16; i += 5) identity[i] = 1.0f;
                                                   return identity;
                                                 }()));
    model.node("Transpose", {"x"}, {"t"}, attributes({{"perm", Ints{0, 3, 1, 2}}}));
    model.node("Relu", {"t"}, {"rounded"}).node("Conv", {"rounded", "w"}, {"y"}).output("y");
    for (const bool ties_away : {false, true}) {
      Graph graph = optimise(model.graph(), {});
      for (Node& node : graph.nodes) {
        if (node.op->type() != "Relu") continue;
        auto rounding = std::make_shared<Unary>();
        rounding->activation = {.step = step, .least = -128, .most = 127, .ties_away = ties_away};
        node.op = std::move(rounding);
      }
      const std::vector<HostTensor> inputs{HostTensor::f32({1, 10, 20, 4}, x)};
      for (const StorageChoice storage : {StorageChoice::automatic, StorageChoice::buffer}) {
        Program program = lower(graph, test_context()->caps(), {.storage = storage});
        for (const Task& task : program.tasks)
          EXPECT_NE(task.dispatch->op, "FakeQuantize") << to_text(program);
        Executor executor(test_context(), compile_program(test_context(), std::move(program)));
        executor.set_input(0, inputs[0]);
        executor.run();
        EXPECT_EQ(executor.output(0).to_floats(), evaluate(graph, inputs)[0].to_floats()) << step;
      }
    }
  }
}

// A rounding of bytes to the same step has bounds of its own, as a ReLU6 after a pool has.
TEST(ByteStorage, BoundsWhatAlreadyHasTheStep) {
  for (const float most : {45.0f, 255.0f}) {
    OnnxModel model;
    model.input("x", {2, 5, 7, 6}).initializer("s", HostTensor::f32({}, std::array{0.25f}));
    model.initializer("z", HostTensor::from<int64_t>(DType::u8, {}, std::array{int64_t{0}}));
    model.node("QuantizeLinear", {"x", "s", "z"}, {"q"}).node("DequantizeLinear", {"q", "s", "z"}, {"r"});
    model.node("MaxPool", {"r"}, {"p"}, attributes({{"kernel_shape", Ints{2, 2}}}));
    model.node("Relu", {"p"}, {"bounded"}).node("LeakyRelu", {"bounded"}, {"y"}).output("y");
    Graph graph = optimise(model.graph(), {});
    for (Node& node : graph.nodes) {
      if (node.op->type() != "Relu") continue;
      auto rounding = std::make_shared<Unary>();
      rounding->activation = {.step = 0.25f, .least = 0, .most = most, .ties_away = true};
      node.op = std::move(rounding);
    }
    const std::vector<HostTensor> inputs{random_tensor({2, 5, 7, 6}, 1, -10.0f, 70.0f)};
    for (const StorageChoice storage : {StorageChoice::automatic, StorageChoice::buffer}) {
      Program program = lower(graph, test_context()->caps(), {.storage = storage});
      const auto roundings = std::ranges::count_if(
          program.tasks, [](const Task& task) { return task.dispatch->op == "FakeQuantize"; });
      EXPECT_EQ(roundings, most < 255.0f ? 2 : 1) << "one is that of the input";
      Executor executor(test_context(), compile_program(test_context(), std::move(program)));
      executor.set_input(0, inputs[0]);
      executor.run();
      EXPECT_EQ(executor.output(0).to_floats(), evaluate(graph, inputs)[0].to_floats()) << most;
    }
  }
}

// Layers store the numbers of steps that they round to, without a product and a quotient by the step. Other
// operators store multiples of the step.
TEST(ByteStorage, StoresStepsOfLayers) {
  for (const ByteCase& test : cases()) {
    const std::string type = test.type;
    const bool is_layer = type == "Conv" || type == "ConvTranspose" || type == "Gemm";
    if (!is_layer && type != "Mul") continue;
    const Program program = lower(optimise(network_of(test).model.graph(), {}), test_context()->caps(), {});
    const auto in_steps = [](const auto& macro) { return macro.first == "RESULTS_IN_STEPS"; };
    for (const Task& task : program.tasks) {
      EXPECT_EQ(std::ranges::any_of(task.dispatch->defines, in_steps), is_layer && task.dispatch->op == type)
          << type << ": " << task.dispatch->op;
    }
  }
}

// Sixteen bytes are loaded at a time where the device prefers texels of buffers: four channels of a weight,
// and four pixels where all tiles begin at multiples of four.
TEST(ByteStorage, LoadsFourTexels) {
  const auto wide_names = [](const ByteCase& test, const DeviceCaps& caps) {
    const Program program =
        lower(optimise(network_of(test).model.graph(), {}), caps, {.storage = StorageChoice::buffer});
    std::string names;
    for (const Task& task : program.tasks)
      for (const Binding& binding : task.dispatch->bindings)
        if (binding.of_words4 && binding.texel_buffer) names += binding.name;
    return names;
  };
  DeviceCaps caps = test_context()->caps();
  if (device_traits(caps).samples_texel_buffers) GTEST_SKIP() << "texels of buffers are sampled";
  const auto conv = [](Shape x, Shape w) {
    return ByteCase{"Conv", {std::move(x)}, {}, {in_quarters(w, 1)}};
  };
  const ByteCase whole = conv({1, 20, 12, 12}, {16, 20, 1, 1}), odd = conv({1, 20, 11, 13}, {16, 20, 1, 1}),
                 wide = conv({1, 20, 12, 12}, {16, 20, 3, 3}), few = conv({1, 3, 12, 12}, {16, 3, 3, 3});
  caps.reads_buffers_as_texels = true;
  EXPECT_EQ(wide_names(whole, caps), "xw");
  EXPECT_EQ(wide_names(odd, caps), "w");
  EXPECT_EQ(wide_names(wide, caps), "w");
  EXPECT_EQ(wide_names(few, caps), "");
  const auto depthwise = [](Shape x, int64_t stride) {
    const auto window = attributes({{"group", x[1]}, {"pads", Ints(4, 1)}, {"strides", Ints(2, stride)}});
    const Shape w{x[1], 1, 3, 3};
    return ByteCase{"Conv", {std::move(x)}, window, {in_quarters(w, 1)}};
  };
  EXPECT_EQ(wide_names(depthwise({1, 16, 9, 32}, 1), caps), "x");
  EXPECT_EQ(wide_names(depthwise({1, 16, 9, 32}, 2), caps), "x");
  EXPECT_EQ(wide_names(depthwise({1, 16, 8, 33}, 1), caps), "");
  caps.max_texel_buffer_elements = 8;
  EXPECT_EQ(wide_names(whole, caps), "");
  caps.reads_buffers_as_texels = false;
  EXPECT_EQ(wide_names(whole, caps), "");
}

// Where the parameters have no room for the grids, they are macros.
TEST(ByteStorage, FitsSmallPushConstants) {
  const ByteCase& test = cases()[0];
  const Network network = network_of(test);
  const Graph graph = optimise(network.model.graph(), {});
  DeviceCaps caps = test_context()->caps();
  caps.max_push_constant_bytes = 112;
  Program program = lower(graph, caps, {});
  const auto is_macro = [](const auto& macro) { return macro.first == "x_grid_step"; };
  EXPECT_TRUE(std::ranges::any_of(program.tasks, [&](const Task& task) {
    return std::ranges::any_of(task.dispatch->defines, is_macro);
  }));
  Executor executor(test_context(), compile_program(test_context(), std::move(program)));
  executor.set_input(0, network.inputs[0]);
  executor.run();
  const std::vector<float> a = executor.output(0).to_floats(),
                           b = evaluate(graph, network.inputs)[0].to_floats();
  for (size_t k = 0; k < a.size(); ++k) ASSERT_NEAR(a[k], b[k], 1e-6f) << "element " << k;
}

}  // namespace byte_storage_test
}  // namespace vellum::test

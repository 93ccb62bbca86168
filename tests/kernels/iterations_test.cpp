// What kernels declare of their loops, against what the loops run.
#include <gtest/gtest.h>

#include <set>

#include "passes/passes.hpp"
#include "selfcheck/operator_cases.hpp"
#include "support/environment.hpp"
#include "support/gpu_test.hpp"
#include "support/iteration_counter.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace iterations_test {

TEST(CountedLoops, HeadsOfLoopsCount) {
  EXPECT_EQ(with_counted_loops("for (int k = 0; k < f(n, (2)); ++k) {}"),
            "for (int k = 0; ++counted_iterations > 0u && ( k < f(n, (2))); ++k) {}");
  EXPECT_EQ(with_counted_loops("for (; ; ) x(); while (a(b)) {}"),
            "for (; ++counted_iterations > 0u; ) x(); while (++counted_iterations > 0u && (a(b))) {}");
  EXPECT_EQ(with_counted_loops("[[unroll]] for (int i = 0; i < 4; ++i) before(i);  // for (x)\n"),
            "[[unroll]] for (int i = 0; i < 4; ++i) before(i);  \n");
}

// Runs every candidate of the graph in the storage and precision, each program once.
class Counter {
 public:
  void count(const std::string& name, const Graph& graph, const std::vector<HostTensor>& inputs,
             LoweringOptions options) {
    SCOPED_TRACE(name);
    const DeviceCaps& caps = test_context()->caps();
    std::vector<Choice> choices;
    options.choices = &choices;
    check(lower(graph, caps, options), inputs);
    options.choices = nullptr;
    for (const Choice& choice : choices)
      for (const KernelName& candidate : choice.candidates) {
        if (!in_full() && !algorithms_.insert(choice.signature + candidate.algorithm).second) continue;
        TuningTable table;
        CandidateTimes& times = table.operators[choice.signature];
        times[choice.candidates.front().text()] = 2;
        times[candidate.text()] = 1;
        options.tuning = &table;
        check(lower(graph, caps, options), inputs);
      }
  }

  size_t kernels() const { return kernels_.size(); }
  uint64_t most() const { return most_; }  // of one invocation

 private:
  void check(Program program, const std::vector<HostTensor>& inputs) {
    if (!programs_.insert(to_text(program)).second) return;
    for (const CountedLoops& loops : count_iterations(test_context(), std::move(program), inputs)) {
      kernels_.insert(loops.kernel);
      most_ = std::max(most_, loops.counted);
      EXPECT_LE(loops.counted, std::max(loops.declared, kUndeclaredIterations)) << loops.kernel;
    }
  }

  uint64_t most_ = 0;
  std::set<std::string> algorithms_, programs_, kernels_;
};

TEST(Iterations, NoKernelRunsMoreThanItDeclares) {
  if (on_swiftshader()) GTEST_SKIP() << "loops run the same everywhere";
  Counter counter;
  size_t number = 0;
  for (const SmallOperator& small : small_operators()) {
    const size_t only = number++ % 4;  // loops are the same in most storages and precisions
    if (number / 4 % 3 != 0 && !in_full()) continue;
    const Graph graph = optimise(small.graph, {});
    size_t configuration = 0;
    for (const StorageChoice storage : {StorageChoice::buffer, StorageChoice::image2d})
      for (const Precision precision : {Precision::fp32, Precision::fp16}) {
        if (configuration++ != only && !in_full()) continue;
        LoweringOptions options{.precision = precision, .storage = storage, .winograd = Winograd::automatic};
        if (test_context()->caps().fp16_arithmetic && precision == Precision::fp16)
          options.arithmetic = Arithmetic::fp16;
        counter.count(small.name, graph, small.inputs, options);
      }
  }
  EXPECT_GT(counter.kernels(), in_full() ? 100u : 30u);
}

struct LargeCase {
  const char* name;
  OperatorCase test;
};

Attributes attributes(std::initializer_list<std::pair<const char*, Attributes::Value>> pairs) {
  Attributes result;
  for (const auto& [name, value] : pairs) result.set(name, value);
  return result;
}

HostTensor x(Shape shape) { return random_tensor(std::move(shape), 1); }

std::vector<LargeCase> large_convolutions() {
  const Attributes window = attributes({{"kernel_shape", std::vector<int64_t>{30, 31}}});
  Attributes depthwise = window;
  depthwise.set("group", int64_t{4});
  return {
      {"Conv",
       {.type = "Conv",
        .inputs = {x({1, 4, 32, 32}), x({4, 4, 30, 31})},
        .attributes = window,
        .constants = {1}}},
      {"depthwise Conv",
       {.type = "Conv",
        .inputs = {x({1, 4, 32, 32}), x({4, 1, 30, 31})},
        .attributes = depthwise,
        .constants = {1}}},
      {"ConvTranspose",
       {.type = "ConvTranspose",
        .inputs = {x({1, 4, 3, 3}), x({4, 4, 30, 31})},
        .attributes = window,
        .constants = {1}}},
      {"1x1 Conv", {.type = "Conv", .inputs = {x({1, 2400, 1, 2}), x({8, 2400, 1, 1})}, .constants = {1}}},
      {"Conv of computed weights", {.type = "Conv", .inputs = {x({1, 240, 3, 3}), x({8, 240, 3, 3})}}},
      {"Conv of volumes",
       {.type = "Conv", .inputs = {x({1, 20, 4, 4, 4}), x({4, 20, 3, 3, 3})}, .constants = {1}}},
      {"AveragePool", {.type = "AveragePool", .inputs = {x({1, 4, 32, 32})}, .attributes = window}},
      {"MaxPool",
       {.type = "MaxPool", .inputs = {x({1, 4, 32, 32})}, .attributes = window, .output_count = 2}},
  };
}

std::vector<LargeCase> large_products() {
  const auto hidden = attributes({{"hidden_size", int64_t{64}}});
  return {
      {"MatMul of inputs", {.type = "MatMul", .inputs = {x({5, 2400}), x({2400, 8})}}},
      {"MatMul of odd inputs", {.type = "MatMul", .inputs = {x({1, 2399}), x({2399, 3})}}},
      {"MatMul of long inputs", {.type = "MatMul", .inputs = {x({1, 70001}), x({70001, 3})}}},
      {"Gemm", {.type = "Gemm", .inputs = {x({5, 2400}), x({2400, 8})}, .constants = {1}}},
      {"MatMul of rows", {.type = "MatMul", .inputs = {x({2, 5, 2400}), x({2400, 8})}, .constants = {1}}},
      {"Attention",
       {.type = "Attention",
        .inputs = {x({1, 2, 3, 64}), x({1, 2, 700, 64}), x({1, 2, 700, 64})},
        .opset = 23}},
      {"LSTM",
       {.type = "LSTM",
        .inputs = {x({80, 1, 8}), x({1, 256, 8}), x({1, 256, 64})},
        .attributes = hidden,
        .constants = {1, 2},
        .opset = 14}},
      {"GRU",
       {.type = "GRU",
        .inputs = {x({80, 1, 8}), x({1, 192, 8}), x({1, 192, 64})},
        .attributes = hidden,
        .constants = {1, 2},
        .opset = 14}},
  };
}

std::vector<LargeCase> large_reductions() {
  const auto last = attributes({{"axis", int64_t{-1}}});
  const HostTensor scale = x({4});
  return {
      {"GlobalAveragePool", {.type = "GlobalAveragePool", .inputs = {x({1, 4, 50, 60})}}},
      {"ReduceMax", {.type = "ReduceMax", .inputs = {x({2, 3, 4, 5, 600})}}},
      {"ReduceLogSumExp", {.type = "ReduceLogSumExp", .inputs = {x({2, 3, 1000})}}},
      {"InstanceNormalization",
       {.type = "InstanceNormalization", .inputs = {x({1, 4, 50, 60}), scale, scale}, .constants = {1, 2}}},
      {"LayerNormalization",
       {.type = "LayerNormalization",
        .inputs = {x({2, 4002}), x({4002}), x({4002})},
        .constants = {1, 2},
        .opset = 17}},
      {"Softmax", {.type = "Softmax", .inputs = {x({1, 3, 1, 4000})}, .attributes = last}},
      {"ArgMax", {.type = "ArgMax", .inputs = {x({3, 4000})}, .attributes = last}},
      {"CumSum",
       {.type = "CumSum",
        .inputs = {x({3, 70000}), HostTensor::i64({}, std::vector<int64_t>{1})},
        .constants = {1}}},
      {"TopK",
       {.type = "TopK",
        .inputs = {x({1, 4000}), HostTensor::i64({1}, std::vector<int64_t>{60})},
        .constants = {1},
        .output_count = 2}},
      {"RoiAlign",
       {.type = "RoiAlign",
        .inputs = {x({1, 4, 40, 50}),
                   HostTensor::f32({2, 4}, std::vector<float>{0, 0, 50, 40, -900, -900, 900, 900}),
                   HostTensor::i64({2}, std::vector<int64_t>{0, 0})},
        .attributes = attributes({{"output_height", int64_t{1}}, {"output_width", int64_t{1}}}),
        .opset = 16}},
  };
}

void count_all(const std::vector<LargeCase>& cases) {
  Counter counter;
  for (const LargeCase& large : cases) {
    std::vector<HostTensor> inputs;
    for (size_t i = 0; i < large.test.inputs.size(); ++i)
      if (large.test.inputs[i] && !large.test.constants.contains(i)) inputs.push_back(*large.test.inputs[i]);
    Graph graph = single_node_graph(large.test);
    decompose(graph);
    for (const StorageChoice storage : {StorageChoice::buffer, StorageChoice::image2d})
      counter.count(large.name, graph, inputs, {.storage = storage});
  }
  EXPECT_GT(counter.most(), kUndeclaredIterations);  // else nothing was to be declared
}

// Shapes whose loops run more than a dispatch may without declaring it.
TEST(Iterations, LoopsThatFollowAShapeAreDeclared) {
  if (on_swiftshader()) GTEST_SKIP() << "loops run the same everywhere";
  count_all(large_convolutions());
  count_all(large_products());
  count_all(large_reductions());
}

}  // namespace iterations_test
}  // namespace vellum::test

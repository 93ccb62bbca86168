// Throughput of the convolution and matrix product kernels; README.md says what is measured.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "exec/executor.hpp"
#include "graph/graph.hpp"
#include "kernels/lowering.hpp"
#include "vellum/error.hpp"
#include "vulkan/context.hpp"

namespace {

using namespace vellum;
using Ints = Attributes::Ints;

struct Case {
  std::string name, type;
  Shape x, w;
  bool constant_weights = true;
  Attributes attributes = {};
};

Attributes window(int64_t stride, int64_t pad, int64_t group = 1, int64_t dilation = 1) {
  Attributes attributes;
  attributes.set("strides", Ints{stride, stride});
  attributes.set("pads", Ints{pad, pad, pad, pad});
  attributes.set("dilations", Ints{dilation, dilation});
  attributes.set("group", group);
  return attributes;
}

std::vector<Case> cases() {
  return {
      {"1x1 24>28 64x64", "Conv", {1, 24, 64, 64}, {28, 24, 1, 1}},
      {"1x1 96>96 16x16", "Conv", {1, 96, 16, 16}, {96, 96, 1, 1}},
      {"1x1 256>256 40x40", "Conv", {1, 256, 40, 40}, {256, 256, 1, 1}},
      {"1x1 1024>1024 32x32", "Conv", {1, 1024, 32, 32}, {1024, 1024, 1, 1}},
      {"3x3 64>64 64x64", "Conv", {1, 64, 64, 64}, {64, 64, 3, 3}, true, window(1, 1)},
      {"3x3 128>128 20x20", "Conv", {1, 128, 20, 20}, {128, 128, 3, 3}, true, window(1, 1)},
      {"3x3 64>64 dilation 5", "Conv", {1, 64, 40, 40}, {64, 64, 3, 3}, true, window(1, 5, 1, 5)},
      {"3x3/2 32>64 80x80", "Conv", {1, 32, 80, 80}, {64, 32, 3, 3}, true, window(2, 1)},
      {"5x5/2 3>24 128x128", "Conv", {1, 3, 128, 128}, {24, 3, 5, 5}, true, window(2, 2)},
      {"3x3 groups of 8", "Conv", {1, 64, 40, 40}, {64, 8, 3, 3}, true, window(1, 1, 8)},
      {"3x3 groups of 3", "Conv", {1, 48, 40, 40}, {48, 3, 3, 3}, true, window(1, 1, 16)},
      {"depthwise 3x3 96 64x64", "Conv", {1, 96, 64, 64}, {96, 1, 3, 3}, true, window(1, 1, 96)},
      {"depthwise 3x3/2 96 64x64", "Conv", {1, 96, 64, 64}, {96, 1, 3, 3}, true, window(2, 1, 96)},
      {"depthwise 5x5 96 64x64", "Conv", {1, 96, 64, 64}, {96, 1, 5, 5}, true, window(1, 2, 96)},
      {"transposed 2x2/2 64>32", "ConvTranspose", {1, 64, 40, 40}, {64, 32, 2, 2}, true, window(2, 0)},
      {"transposed 4x4/2 64>32", "ConvTranspose", {1, 64, 40, 40}, {64, 32, 4, 4}, true, window(2, 1)},
      {"gemm 1 1280>1000", "Gemm", {1, 1280}, {1280, 1000}},
      {"gemm 1024^3", "Gemm", {1024, 1024}, {1024, 1024}},
      {"matmul 4x197x192 192x576", "MatMul", {4, 197, 192}, {192, 576}},
      {"matmul of inputs 512^3", "MatMul", {512, 512}, {512, 512}, false},
      {"matmul of inputs 197^2", "MatMul", {12, 197, 64}, {12, 64, 197}, false},
  };
}

// Values that sum to about 1 over `terms` products, so that errors compare across sizes.
HostTensor random_tensor(Shape shape, uint64_t state, double scale, bool halves) {
  HostTensor tensor(DType::f32, std::move(shape));
  for (float& value : tensor.mutable_as<float>()) {  // Knuth's MMIX linear congruential generator
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    value = static_cast<float>(scale * (static_cast<double>(state >> 40) * 0x1p-23 - 1.0));
    if (halves) value = half_to_float(float_to_half(value));
  }
  return tensor;
}

struct Problem {
  Graph graph;
  std::vector<HostTensor> inputs;
  uint64_t macs = 0;
};

Problem make_problem(const Case& test, bool halves) {
  Problem problem;
  Graph& graph = problem.graph;
  const int64_t outputs = test.type == "Conv" ? test.w[0] : test.w.back();
  const double terms = static_cast<double>(std::max<int64_t>(1, element_count(test.w) / outputs));
  const HostTensor x = random_tensor(test.x, 1, 1.0, halves);
  const HostTensor w = random_tensor(test.w, 2, 2.0 / std::sqrt(terms), halves);
  Node node;
  node.name = test.name;
  node.op = make_operator({test.type, test.name, 13, &test.attributes, {true, true}, 1});
  graph.inputs.push_back(graph.add_value("x", x.type(), true));
  problem.inputs.push_back(x);
  node.inputs = graph.inputs;
  if (test.constant_weights) {
    node.inputs.push_back(graph.add_constant("w", w));
  } else {
    node.inputs.push_back(graph.add_value("w", w.type(), true));
    graph.inputs.push_back(node.inputs.back());
    problem.inputs.push_back(w);
  }
  const std::vector<OperatorInput> types = operator_inputs(graph, node);
  graph.outputs.push_back(graph.add_value("y", node.op->infer(types)[0], true));
  node.outputs = graph.outputs;
  problem.macs = node.op->macs(types);
  graph.nodes.push_back(std::move(node));
  return problem;
}

double largest_error(const HostTensor& got, const HostTensor& want) {
  double worst = 0;
  const auto a = got.as<float>(), b = want.as<float>();
  for (size_t i = 0; i < b.size(); ++i) {
    const double error = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    // NaN must not pass for a small error.
    if (!(error <= worst * std::max(1.0, std::abs(static_cast<double>(b[i])))))
      worst = error / std::max(1.0, std::abs(static_cast<double>(b[i])));
  }
  return worst;
}

struct Options {
  std::string device, filter;
  LoweringOptions lowering;
  int runs = 20;
};

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// Prints a row; false where the result is wrong.
bool measure(const std::shared_ptr<gpu::Context>& context, const Case& test, const Options& options) {
  const bool fp16 = options.lowering.precision == Precision::fp16;
  const Problem problem = make_problem(test, fp16);
  Executor executor(context, lower(problem.graph, context->caps(), options.lowering), {.timestamps = true});
  for (size_t i = 0; i < problem.inputs.size(); ++i) executor.set_input(i, problem.inputs[i]);
  const auto start = std::chrono::steady_clock::now();
  executor.run();
  const double first = milliseconds_since(start);

  std::string shader;
  std::vector<double> times;
  for (int run = 0; run < options.runs; ++run) {
    executor.run();
    const std::vector<double> tasks = executor.task_milliseconds();
    double sum = 0;
    for (size_t i = 0; i < tasks.size(); ++i) {
      const auto& dispatch = executor.program().tasks[i].dispatch;
      if (!dispatch || dispatch->op != test.type) continue;
      shader = dispatch->shader;
      sum += tasks[i];
    }
    times.push_back(sum);
  }
  std::sort(times.begin(), times.end());
  const double error = largest_error(executor.output(0), evaluate(problem.graph, problem.inputs)[0]);
  const bool right = error <= (fp16 ? 2e-2 : 1e-4);
  const double operations = 2.0 * static_cast<double>(problem.macs);
  std::printf("%-26s %-15s %8.2f %10.3f %10.3f %9.0f %9.1e%s\n", test.name.c_str(), shader.c_str(),
              operations / times.front() * 1e-6, times.front(), times[times.size() / 2], first, error,
              right ? "" : "  WRONG");
  std::fflush(stdout);
  return right;
}

int run(const Options& options) {
  const auto context = gpu::Context::create({.device = options.device});
  std::printf("%s (%s)\n", context->caps().name.c_str(), context->caps().driver.c_str());
  std::printf("%-26s %-15s %8s %10s %10s %9s %9s\n", "operator", "kernel", "GF/s", "min ms", "median ms",
              "first ms", "error");
  bool right = true;
  for (const Case& test : cases())
    if (test.name.find(options.filter) != std::string::npos) right = measure(context, test, options) && right;
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Throughput of the convolution and matrix product kernels");
  app.add_option("--device", options.device, "number or name of the device");
  app.add_option("--filter", options.filter, "only operators whose name contains this");
  app.add_option("--runs", options.runs, "timed runs of each")->check(CLI::Range(1, 100000));
  app.add_option("--storage", options.lowering.storage, "auto, image2d, image3d or buffer")
      ->transform(
          CLI::CheckedTransformer(std::map<std::string, StorageChoice>{{"auto", StorageChoice::automatic},
                                                                       {"image2d", StorageChoice::image2d},
                                                                       {"image3d", StorageChoice::image3d},
                                                                       {"buffer", StorageChoice::buffer}}));
  app.add_option("--precision", options.lowering.precision, "fp32 or fp16")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Precision>{{"fp32", Precision::fp32}, {"fp16", Precision::fp16}}));
  CLI11_PARSE(app, argc, argv);
  try {
    return run(options);
  } catch (const Error& error) {
    std::fprintf(stderr, "conv_bench: %s\n", error.what());
    return 1;
  }
}

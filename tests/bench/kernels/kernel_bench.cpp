// Every kernel against what the device reaches at best; tests/bench/README.md says what is measured.
#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/kernels/cases.hpp"
#include "bench/kernels/ceilings.hpp"
#include "exec/executor.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "support/tensors.hpp"
#include "tune/one_node.hpp"
#include "vellum/error.hpp"

namespace {

using namespace vellum;
using bench::Ceilings;
using bench::KernelCase;
using bench::Reach;

struct Options {
  std::string device;
  std::vector<Reach> reaches{Reach::image, Reach::texel_buffer, Reach::storage_buffer};
  std::vector<Precision> precisions{Precision::fp32, Precision::fp16};
  int runs = 20;
  bool quick = false;
};

struct Suite {
  std::shared_ptr<gpu::Context> context;
  Ceilings ceilings;
  Options options;
  bool failed = false;
};

struct Problem {
  Graph graph;
  std::vector<HostTensor> inputs, outputs;
  uint64_t macs = 0;
};

// The case with what the host computes for it.
Problem make_problem(const KernelCase& test, Precision precision) {
  const bool halves = precision == Precision::fp16;
  Problem problem{.graph = test::single_node_graph(test.op, halves), .inputs = {}, .outputs = {}, .macs = 0};
  for (size_t i = 0; i < test.op.inputs.size(); ++i)
    if (test.op.inputs[i] && !test.op.constants.count(i))
      problem.inputs.push_back(halves ? test::rounded_to_half(*test.op.inputs[i]) : *test.op.inputs[i]);
  problem.outputs = evaluate(problem.graph, problem.inputs);
  const Node& node = problem.graph.nodes.front();
  problem.macs = node.op->macs(operator_inputs(problem.graph, node));
  return problem;
}

Reach reach_of(const Binding& binding, const VirtualTensor& tensor) {
  if (tensor.desc.storage != Storage::buffer) return Reach::image;
  return binding.texel_buffer ? Reach::texel_buffer : Reach::storage_buffer;
}

struct Work {
  size_t dispatches = 0;
  uint64_t bytes = 0;  // of the tensors that they bind, each once a dispatch
  // The time to read and to write them at the device's best.
  double load_us = 0, store_us = 0;
};

Work work_of(const Program& program, const Ceilings& ceilings) {
  Work work;
  for (const Task& task : program.tasks) {
    if (!is_kernel(task)) continue;
    ++work.dispatches;
    std::set<std::pair<TensorId, Access>> seen;
    for (const Binding& binding : task.dispatch->bindings) {
      if (!seen.emplace(binding.tensor, binding.access).second) continue;
      const VirtualTensor& tensor = program.tensors[binding.tensor];
      const uint64_t bytes = tensor.desc.byte_size();
      const size_t reach = static_cast<size_t>(reach_of(binding, tensor));
      const double kilobytes = 1e-3 * static_cast<double>(bytes);
      work.bytes += bytes;
      if (binding.access != Access::write) work.load_us += kilobytes / ceilings.load[reach];
      if (binding.access != Access::read) work.store_us += kilobytes / ceilings.store[reach];
    }
  }
  return work;
}

double largest_error(const Executor& executor, const std::vector<HostTensor>& outputs) {
  double worst = 0;
  for (size_t i = 0; i < outputs.size(); ++i)
    worst = std::max(worst, test::distance(executor.output(i), outputs[i]));
  return worst;
}

// Microseconds of the kernel's dispatches in one inference, less what empty dispatches would take.
double kernel_time(Executor& executor, double dispatch_us) {
  executor.run();
  const std::vector<double> tasks = executor.task_milliseconds();
  double sum = 0;
  for (size_t i = 0; i < tasks.size(); ++i)
    if (is_kernel(executor.program().tasks[i])) sum += std::max(0.0, tasks[i] * 1e3 - dispatch_us);
  return sum;
}

// GPUs lower their clock while the host computes the reference: an H200 rests at a sixth of its highest.
void raise_clock(Executor& executor, const DeviceCaps& caps) {
  if (caps.type == DeviceType::cpu) return;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  while (std::chrono::steady_clock::now() < end) executor.run();
}

void count(benchmark::State& state, const Suite& suite, const Problem& problem, const Work& work,
           std::vector<double> times) {
  std::sort(times.begin(), times.end());
  // A kernel that is quicker than the clock's step counts as one step.
  const double least = std::max(times.front(), suite.context->caps().timestamp_period_ns * 1e-3);
  const double gflops = 2e-3 * static_cast<double>(problem.macs) / least;
  const double of_multiply_add = gflops / suite.ceilings.multiply_add;
  const double of_load = work.load_us / least, of_store = work.store_us / least;
  state.counters["min_us"] = least;
  state.counters["median_us"] = times[times.size() / 2];
  state.counters["gflops"] = gflops;
  state.counters["gbytes"] = 1e-3 * static_cast<double>(work.bytes) / least;
  state.counters["dispatches"] = static_cast<double>(work.dispatches);
  state.counters["of_multiply_add"] = of_multiply_add;
  state.counters["of_load"] = of_load;
  state.counters["of_store"] = of_store;
  state.counters["of_ceiling"] = std::max({of_multiply_add, of_load, of_store});
}

void measure(benchmark::State& state, Suite& suite, const KernelCase& test, Reach reach,
             Precision precision) {
  const auto fail = [&](const std::string& why) {
    suite.failed = true;
    state.SkipWithError(why.c_str());
  };
  try {
    const Problem problem = make_problem(test, precision);
    Graph graph = problem.graph;
    decompose(graph);
    DeviceCaps caps = suite.context->caps();
    caps.reads_buffers_as_texels = reach == Reach::texel_buffer;
    const LoweringOptions options{
        .precision = precision,
        .storage = reach == Reach::image ? StorageChoice::image2d : StorageChoice::buffer,
        .inputs_to_channels4 = test.op.sweep.channels4_inputs};
    Executor executor(suite.context, compile_program(suite.context, lower(graph, caps, options)),
                      {.timestamps = true});
    for (size_t i = 0; i < problem.inputs.size(); ++i) executor.set_input(i, problem.inputs[i]);
    executor.run();
    const double error = largest_error(executor, problem.outputs);
    const double tolerance = precision == Precision::fp16 ? 2e-2 : 1e-4;
    if (!(error <= tolerance)) return fail("wrong result: error " + std::to_string(error));
    const Work work = work_of(executor.program(), suite.ceilings);
    if (work.dispatches == 0) return fail("no kernel: the host runs it");
    raise_clock(executor, caps);
    std::vector<double> times;
    for (auto _ : state) {
      times.push_back(kernel_time(executor, suite.ceilings.dispatch_us));
      state.SetIterationTime(std::max(1e-9, times.back() * 1e-6));
    }
    count(state, suite, problem, work, std::move(times));
    state.counters["error"] = error;
  } catch (const Error& error) {
    fail(error.what());
  }
}

void register_kernels(Suite& suite) {
  for (const KernelCase& test : bench::kernel_cases()) {
    if (suite.options.quick && !test.quick) continue;
    for (const Precision precision : suite.options.precisions)
      for (const Reach reach : suite.options.reaches) {
        const std::string label =
            test.name + "/" + name(reach) + "/" + (precision == Precision::fp16 ? "fp16" : "fp32");
        benchmark::RegisterBenchmark(label.c_str(),
                                     [&suite, test, reach, precision](benchmark::State& state) {
                                       measure(state, suite, test, reach, precision);
                                     })
            ->Iterations(suite.options.runs)
            ->UseManualTime()
            ->Unit(benchmark::kMicrosecond);
      }
  }
}

void print_summary(const Suite& suite) {
  const auto number = [](const std::string& key, double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    benchmark::AddCustomContext(key, text);
  };
  benchmark::AddCustomContext("device", suite.context->caps().name);
  benchmark::AddCustomContext("driver", suite.context->caps().driver);
  number("multiply_add_gflops", suite.ceilings.multiply_add);
  for (const Reach reach : {Reach::image, Reach::texel_buffer, Reach::storage_buffer}) {
    number(std::string("load_gbytes_") + name(reach), suite.ceilings.load[static_cast<size_t>(reach)]);
    number(std::string("store_gbytes_") + name(reach), suite.ceilings.store[static_cast<size_t>(reach)]);
    number(std::string("copy_gbytes_") + name(reach), suite.ceilings.copy[static_cast<size_t>(reach)]);
  }
  number("dispatch_us", suite.ceilings.dispatch_us);
}

int run(const Options& options, std::vector<std::string> others) {
  Suite suite{
      .context = gpu::Context::create({.device = options.device}), .ceilings = {}, .options = options};
  suite.ceilings = bench::measure_ceilings(suite.context);
  std::string program = "kernel_bench";
  std::vector<char*> arguments{program.data()};
  for (std::string& other : others) arguments.push_back(other.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  print_summary(suite);
  register_kernels(suite);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return suite.failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Kernels against the ceilings of the device");
  app.allow_extras();
  app.footer(
      "Other options go to google-benchmark: --benchmark_filter=REGEX, --benchmark_out=FILE (JSON), ...");
  app.add_option("--device", options.device, "number or name of the device");
  app.add_option("--runs", options.runs, "timed runs of each kernel")->check(CLI::Range(1, 100000));
  app.add_option("--reach", options.reaches,
                 "image, texel_buffer, storage_buffer: where tensors are, and how they are read")
      ->delimiter(',')
      ->transform(
          CLI::CheckedTransformer(std::map<std::string, Reach>{{"image", Reach::image},
                                                               {"texel_buffer", Reach::texel_buffer},
                                                               {"storage_buffer", Reach::storage_buffer}}));
  app.add_option("--precision", options.precisions, "fp32, fp16")
      ->delimiter(',')
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Precision>{{"fp32", Precision::fp32}, {"fp16", Precision::fp16}}));
  app.add_flag("--quick", options.quick, "only the few kernels that CI runs");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(options, app.remaining());
  } catch (const Error& error) {
    std::fprintf(stderr, "kernel_bench: %s\n", error.what());
    return 1;
  }
}

// vellum bench: how long an inference takes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench_in_flight.hpp"
#include "choice_words.hpp"
#include "commands.hpp"
#include "inputs.hpp"
#include "io/file_name.hpp"
#include "io/files.hpp"
#include "options.hpp"
#include "output.hpp"
#include "reports.hpp"
#include "timed_run.hpp"
#include "tuning.hpp"
#include "usage/wrong_usage.hpp"

namespace vellum::cli {
namespace {

constexpr size_t kReportedRuns = 20;  // whose layers are timed

using Clock = std::chrono::steady_clock;

struct BenchArguments {
  Options options;
  TuneArguments tune;
  std::string model;
  std::vector<std::string> inputs;
  size_t runs = 0;     // 0: 50, or as many as fit into `seconds`
  double seconds = 0;  // 0: no limit
  size_t warm_up = 3;
  std::string report;
  uint32_t seed = 1;
};

double since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Times {
  double load = 0, first = 0;
  std::vector<double> runs;  // sorted
  double cpu = 0;            // of all threads, for each timed run
};

// The smallest value that at least this share of the sorted times does not exceed (nearest rank).
double percentile(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<size_t>(rank, 1) - 1];
}

double median(const std::vector<double>& sorted) {
  const size_t middle = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

void measure(Session& session, const BenchArguments& arguments, Times& times) {
  times.first = timed_run(session);
  Progress progress("bench");
  for (size_t i = 0; i < arguments.warm_up; ++i) {
    timed_run(session);
    progress.show(i + 1, arguments.warm_up);
  }
  const size_t limit = arguments.runs ? arguments.runs : arguments.seconds > 0 ? 0 : 50;
  const Clock::time_point begin = Clock::now();
  const std::clock_t cpu_begin = std::clock();
  do {
    times.runs.push_back(timed_run(session));
    progress.show(times.runs.size(), limit);
  } while ((limit == 0 || times.runs.size() < limit) &&
           (arguments.seconds <= 0 || since(begin) < arguments.seconds * 1e3));
  times.cpu = 1e3 * static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC /
              static_cast<double>(times.runs.size());
  std::sort(times.runs.begin(), times.runs.end());
}

nlohmann::json to_json(const Times& times) {
  return {{"runs", times.runs.size()},
          {"min_ms", times.runs.front()},
          {"median_ms", median(times.runs)},
          {"p95_ms", percentile(times.runs, 0.95)},
          {"cpu_ms", times.cpu},
          {"first_ms", times.first},
          {"load_ms", times.load}};
}

// Times each layer in a session of its own: the timestamps of a profile would slow the timed runs down.
LayerTimes layer_times(const Device& device, const Model& model, SessionOptions options,
                       const Inputs& inputs) {
  options.profile = true;
  Session session(device, model, options);
  set_inputs(session, inputs);
  return measure_layers(session, kReportedRuns, "bench");
}

void write_report(const BenchArguments& arguments, const Device& device, const Model& model,
                  const SessionOptions& options, const Inputs& inputs, const Times& times) {
  nlohmann::json report = report_head("bench", device);
  report["model"] = io::FileName(arguments.model).last_part();
  report["options"] = {{"precision", precision_word(arguments.options)},
                       {"arithmetic", choice_word(options.arithmetic)},
                       {"storage", choice_word(options.storage)},
                       {"memory", choice_word(options.memory)},
                       {"winograd", choice_word(options.winograd)}};
  report["inference"] = to_json(times);
  report.update(dispatches_report(device, predicted_kernels(device, model, options),
                                  layer_times(device, model, options, inputs)));
  io::write_text(arguments.report, report.dump(2) + "\n");
}

void bench(const BenchArguments& arguments) {
  const OpenedDevice device(arguments.options);
  Times times;
  const Clock::time_point start = Clock::now();
  const Model model = load_model(arguments.model, arguments.options);
  times.load = since(start);
  Inputs inputs = read_inputs(model, arguments.inputs);
  SessionOptions options = session_options(arguments.options, arguments.model);
  add_shapes_of(model, inputs, options);
  tune_if_requested(arguments.tune, arguments.options, device.device(), model, options);
  const Clock::time_point making = Clock::now();
  Session session(device.device(), model, options);
  times.load += since(making);

  fill_with_random(host_inputs(session), inputs, arguments.seed);
  set_inputs(session, inputs);
  measure(session, arguments, times);
  std::optional<Throughput> throughput;
  if (options.in_flight > 1)
    throughput = measure_in_flight(session, inputs, options.in_flight, times.runs.size());
  if (!arguments.report.empty()) write_report(arguments, device.device(), model, options, inputs, times);
  device.check_validation();

  const std::string device_name = device.device().info().name;
  if (arguments.options.json) {
    nlohmann::json document = to_json(times);
    document["dispatches"] = session.dispatch_count();
    document["pipelines"] = session.pipeline_count();
    document["barriers"] = session.barrier_count();
    document["device"] = device_name;
    if (throughput) document["in_flight"] = to_json(*throughput);
    return print_json(document);
  }
  print(fmt::format(
      "{}: {} dispatches, {} pipelines, {} barriers\n"
      "inference  min {:.3f} ms  median {:.3f} ms  p95 {:.3f} ms  ({} runs), {:.3f} ms of CPU time\n"
      "cold start  load {:.1f} ms  first inference {:.1f} ms\n{}",
      device_name, session.dispatch_count(), session.pipeline_count(), session.barrier_count(),
      times.runs.front(), median(times.runs), percentile(times.runs, 0.95), times.runs.size(), times.cpu,
      times.load, times.first, throughput ? to_text(*throughput) : ""));
}

}  // namespace

Command add_bench(CLI::App& app) {
  auto arguments = std::make_shared<BenchArguments>();
  CLI::App* command = app.add_subcommand("bench", "Time inferences, and the cold start separately");
  add_model(*command, arguments->model)->required();
  command
      ->add_option("-i,--input", arguments->inputs,
                   "NAME=FILE.npy: an input of the model; repeatable; inputs that are not named are random")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      ->add_option("--runs", arguments->runs,
                   "how many inferences to time; default: 50, or as many as --seconds allows")
      ->check(more_than_zero());
  command->add_option("--seconds", arguments->seconds, "stop after this time")->check(more_than_zero());
  command
      ->add_option("--warm-up", arguments->warm_up,
                   "untimed inferences between the first one and the timed ones")
      ->capture_default_str();
  command->add_option(
      "--report", arguments->report,
      "also time each layer, and write the device's caps, the times and the predicted times to "
      "this file (JSON), for a report about a GPU");
  command->add_option("--seed", arguments->seed, "seed of the random inputs")->capture_default_str();
  add_in_flight(*command, arguments->options,
                "N > 1: also time inferences with N in flight at once, with copies of inputs and outputs");
  add_tune_options(*command, arguments->tune);
  add_options(*command, arguments->options,
              "how tensors are assigned to memory: a strategy of docs/planner.md");
  allow_int8(*command, arguments->options);
  command->footer(
      "The time of an inference is from the submit to its end on the device, without copies of inputs and "
      "outputs.\n"
      "The load time is that of reading the model and creating the session, without opening the device.\n"
      "Example:\n  vellum bench model.onnx --seconds 10 --precision fp16");
  return {command, [arguments] { bench(*arguments); }};
}

}  // namespace vellum::cli

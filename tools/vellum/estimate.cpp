// vellum estimate: how much memory a model takes, before it is loaded onto a device.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "calibrate.hpp"
#include "commands.hpp"
#include "device_options.hpp"
#include "estimate_budget.hpp"
#include "estimate_frontier.hpp"
#include "estimate_output.hpp"
#include "estimate_points.hpp"
#include "io/files.hpp"
#include "options.hpp"
#include "output.hpp"
#include "usage/wrong_usage.hpp"
#include "vellum/memory_curve.hpp"

namespace vellum::cli {
namespace {

struct EstimateArguments {
  Options options;
  std::string model, caps, svg;
  std::vector<int64_t> batches;
  std::vector<std::string> sweeps;
  bool measure = false, frontier = false;
  uint64_t budget = 0;
  StreamRates rates;
};

// Measurements come first: the growth of the process counts from its beginning.
void measure(const EstimateArguments& arguments, const MemoryMeter& meter, std::vector<Point>& points) {
  SessionOptions options = session_options(arguments.options, arguments.model);
  DeviceOptions device = device_options(arguments.options);
  device.cache_folder.clear();  // shaders are compiled, as at the very first start
  Progress progress("estimate");
  for (size_t i = 0; i < points.size(); ++i) {
    options.input_shapes = points[i].shapes;
    points[i].measured = meter.measure(io::FileName(arguments.model).path(), options, device);
    progress.show(i + 1, points.size());
  }
}

// The quantity that changes from point to point.
std::string axis_of(const EstimateArguments& arguments) {
  const std::string axis = arguments.sweeps.empty() ? "batch" : arguments.sweeps.front();
  return axis.substr(0, axis.rfind('='));
}

void write_svg(const EstimateArguments& arguments, const std::vector<Point>& points,
               const std::string& device) {
  MemoryCurve curve;
  curve.title = io::FileName(arguments.model).last_part() + " on " + device;
  curve.axis = axis_of(arguments);
  const auto line = [&](const char* name, auto bytes_of) {
    MemoryLine& added = curve.lines.emplace_back();
    added.name = name;
    for (const Point& point : points) added.points.emplace_back(point.x, bytes_of(point));
  };
  line("total", [](const Point& point) { return point.estimate.use.total(); });
  if (arguments.measure) line("measured", [](const Point& point) { return point.measured->use.total(); });
  line("allocated from Vulkan", [](const Point& point) { return point.estimate.vulkan.peak; });
  line("intermediates", [](const Point& point) { return point.estimate.use.intermediates; });
  line("shape inference", [](const Point& point) { return point.estimate.shape_inference_bytes; });
  const std::string svg = memory_curve_svg(curve);
  io::write_text(arguments.svg, svg);
}

std::string text(const EstimateArguments& arguments, const std::vector<Point>& points,
                 const Estimator& estimator) {
  const std::string axis = axis_of(arguments);
  std::string result = device_line(estimator.device(), estimator.device_is_default());
  const bool each = points.size() == 1 || arguments.measure;
  for (const Point& point : points) {
    if (!each) break;
    if (points.size() > 1) result += "\n" + axis + " " + std::to_string(point.x) + "\n";
    result += "\n" + category_table(point);
  }
  if (points.size() > 1) result += "\n" + curve_table(points, axis);
  return result;
}

void estimate(const EstimateArguments& arguments) {
  if (!arguments.caps.empty() && !arguments.options.device.device.empty() && !arguments.measure)
    throw Error(ErrorCode::invalid_argument,
                "--caps stands for a device: leave out --device, or --measure on it");
  if (arguments.frontier)
    return estimate_frontier(
        {arguments.options, arguments.model, arguments.caps, arguments.svg, arguments.measure});
  const MemoryMeter meter;
  const SessionOptions options = session_options(arguments.options, arguments.model);
  std::vector<TensorInfo> inputs = load_model(arguments.model, arguments.options).inputs();
  std::vector<Point> points = make_points(inputs, options.input_shapes, arguments.batches, arguments.sweeps);
  if (arguments.measure) measure(arguments, meter, points);

  const auto make_estimator = [&] {
    return Estimator(arguments.options, arguments.caps, load_model(arguments.model, arguments.options),
                     arguments.measure, arguments.rates);
  };
  Estimator estimator = make_estimator();
  const auto estimate_points = [&] {
    for (Point& point : points) point.estimate = estimator.estimate(options, point.shapes);
  };
  estimate_points();
  if (arguments.measure && arguments.caps.empty() && !arguments.options.device.cache_folder.empty() &&
      points.front().estimate.interval && points.front().estimate.driver_host.empty()) {
    calibrate_in_subprocess(arguments.options);
    estimator = make_estimator();  // a device looks for a calibration once
    estimate_points();
  }
  if (!arguments.svg.empty()) write_svg(arguments, points, estimator.device());
  std::vector<BudgetAnswer> answers;
  if (arguments.budget)
    for (const Point& point : points)
      answers.push_back(fit(estimator, inputs, options, point, arguments.budget));

  if (arguments.options.json) {
    nlohmann::json list = nlohmann::json::array();
    for (size_t i = 0; i < points.size(); ++i) {
      list.push_back(to_json(points[i]));
      if (!answers.empty()) list.back()["budget"] = to_json(answers[i], arguments.budget);
    }
    return print_json(nlohmann::json{{"device", estimator.device()}, {"points", list}});
  }
  std::string all = text(arguments, points, estimator);
  for (size_t i = 0; i < answers.size(); ++i)
    all += "\n" + to_text(answers[i], arguments.budget, points.size() > 1 ? points[i].x : 0);
  print(all);
}

}  // namespace

Command add_estimate(CLI::App& app) {
  auto arguments = std::make_shared<EstimateArguments>();
  CLI::App* command = app.add_subcommand(
      "estimate", "Estimate the memory of a model by category, and the time of a run, before it is loaded");
  add_model(*command, arguments->model)->required();
  command->add_option(
      "--caps", arguments->caps,
      "android_baseline_2022, or a file of `vellum devices --save-caps`: estimate for that device; default: "
      "the one of --device or --measure, or Android Baseline 2022");
  CLI::Option* batch =
      command
          ->add_option("--batch", arguments->batches,
                       "1,2,4,8: estimate each of these batch sizes, the first dimension of every input")
          ->delimiter(',')
          ->allow_extra_args(false)
          ->check(more_than_zero());
  CLI::Option* sweep =
      command
          ->add_option(
              "--sweep", arguments->sweeps,
              "INPUT:AXIS=16,32,64: a point for each length of that dimension; repeatable for inputs that "
              "change together")
          ->expected(1)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
          ->excludes(batch);
  command->add_flag("--measure", arguments->measure,
                    "also run the model on the device, with newly compiled shaders, and compare");
  CLI::Option* budget =
      command
          ->add_option(
              "--budget", arguments->budget,
              "bytes (or like 256MB): say whether the total fits, and which options would make it fit")
          ->transform(CLI::AsSizeValue(true));
  const std::string rate_help = "GB (10^9 bytes) per second at which weights that are streamed come ";
  CLI::Option* bus = command
                         ->add_option("--bus-gigabytes", arguments->rates.bus,
                                      rate_help +
                                          "to the device's memory; default: 12, or half of the memory's own "
                                          "if the host shares it, or "
                                          "10 on the CPU")
                         ->check(CLI::PositiveNumber);
  CLI::Option* disk = command
                          ->add_option("--disk-gigabytes", arguments->rates.disk,
                                       rate_help + "from the model's file; default: they are in host memory")
                          ->check(CLI::PositiveNumber);
  command
      ->add_flag(
          "--frontier", arguments->frontier,
          "time over memory of sessions with --memory-budget, from the smallest budget that suffices to "
          "none; with --measure they also run")
      ->excludes(batch)
      ->excludes(sweep)
      ->excludes(budget)
      ->excludes(bus)
      ->excludes(disk);
  add_in_flight(*command, arguments->options, "inferences in flight at once, each with its own tensors");
  command->add_option("--svg", arguments->svg, "draw the points, or the frontier, as a curve to this file");
  add_options(*command, arguments->options,
              "how tensors are assigned to memory: a strategy of docs/planner.md");
  allow_int8(*command, arguments->options);
  command->footer(
      "Examples:\n  vellum estimate model.onnx --caps phone.json --batch 1,2,4,8\n"
      "  vellum estimate model.onnx --measure\n"
      "  vellum estimate model.onnx --budget 64MB\n"
      "  vellum estimate model.onnx --memory-budget 4GiB --bus-gigabytes 12 --disk-gigabytes 3\n"
      "  vellum estimate model.onnx --frontier --caps phone.json --svg frontier.svg");
  return {command, [arguments] { estimate(*arguments); }};
}

}  // namespace vellum::cli

#include "estimate_frontier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "inputs.hpp"
#include "io/files.hpp"
#include "output.hpp"
#include "timed_run.hpp"
#include "vellum/memory_frontier.hpp"

namespace vellum::cli {
namespace {

constexpr size_t kMeasuredRuns = 5;

// The results of a session within a budget.
struct MeasuredPoint {
  double milliseconds = 0;  // the fastest run
  uint64_t peak_bytes = 0;  // allocated from Vulkan at a time
};

// The options of a point that differ from those that were asked for, as for the tool.
std::string way(const FrontierPoint& point, const SessionOptions& asked) {
  const SessionOptions& taken = point.options;
  std::vector<std::string> words;
  if (taken.memory != asked.memory)
    words.emplace_back(taken.memory == MemoryMode::offsets ? "--memory offsets" : "--memory shared-objects");
  if (taken.planning.in_place != asked.planning.in_place) words.emplace_back("--in-place");
  if (taken.planning.views != asked.planning.views) words.emplace_back("--views");
  if (taken.planning.reorder != asked.planning.reorder) words.emplace_back("--reorder");
  if (taken.tuned != asked.tuned) words.emplace_back("--no-tuned");
  if (taken.winograd != asked.winograd && asked.winograd != Winograd::automatic)
    words.emplace_back("--winograd off");
  if (taken.storage != asked.storage) words.emplace_back("--storage buffer");
  if (taken.precision != asked.precision) words.emplace_back("--precision fp16");
  if (taken.weights_budget) words.push_back("--weights-budget " + std::to_string(taken.weights_budget));
  if (point.tiled_layers) words.push_back("tiles of " + std::to_string(point.tiled_layers) + " layers");
  return words.empty() ? "as asked" : fmt::format("{}", fmt::join(words, " "));
}

MeasuredPoint measure(const Device& device, const Model& model, SessionOptions options, uint64_t budget) {
  options.memory_budget = budget;
  Session session(device, model, options);
  Inputs inputs;
  fill_with_random(host_inputs(session), inputs, 1);
  set_inputs(session, inputs);
  timed_run(session);  // drivers compile at the first dispatch
  MeasuredPoint measured;
  for (size_t i = 0; i < kMeasuredRuns; ++i) {
    const double took = timed_run(session);
    if (i == 0 || took < measured.milliseconds) measured.milliseconds = took;
  }
  measured.peak_bytes = session.memory().budget_peak_bytes;
  return measured;
}

std::vector<MeasuredPoint> measure(const FrontierArguments& arguments, const Model& model,
                                   const SessionOptions& options, const MemoryFrontier& frontier) {
  const OpenedDevice device(arguments.options);
  std::vector<MeasuredPoint> measured;
  Progress progress("measure");
  for (const FrontierPoint& point : frontier.points) {
    measured.push_back(measure(device.device(), model, options, point.budget));
    progress.show(measured.size(), frontier.points.size());
  }
  device.check_validation();
  return measured;
}

std::vector<double> milliseconds_of(const std::vector<MeasuredPoint>& measured) {
  std::vector<double> milliseconds;
  for (const MeasuredPoint& point : measured) milliseconds.push_back(point.milliseconds);
  return milliseconds;
}

double share_of(uint64_t part, uint64_t whole) {
  return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string table(const MemoryFrontier& frontier, const std::vector<MeasuredPoint>& measured,
                  const SessionOptions& asked) {
  Table table;
  table.column("budget", Table::Align::right);
  table.column("of all", Table::Align::right);
  table.column("used", Table::Align::right);
  table.column("weights", Table::Align::right);
  table.column("streamed", Table::Align::right);
  table.column("predicted", Table::Align::right);
  if (!measured.empty()) table.column("measured", Table::Align::right);
  table.column("");
  table.column("way");
  const std::vector<FrontierPoint>& points = frontier.points;
  for (size_t i = 0; i < points.size(); ++i) {
    std::vector<std::string> cells{grouped(points[i].budget),
                                   fmt::format("{:.0f}%", share_of(points[i].budget, points.back().budget)),
                                   grouped(points[i].bytes),
                                   grouped(points[i].weights_bytes),
                                   grouped(points[i].streamed_bytes),
                                   milliseconds(points[i].predicted_ms)};
    if (!measured.empty()) cells.push_back(milliseconds(measured[i].milliseconds));
    cells.emplace_back(i == frontier.knee ? "knee" : "");
    cells.push_back(way(points[i], asked));
    table.row(std::move(cells));
  }
  return table.text();
}

nlohmann::json to_json(const MemoryFrontier& frontier, const std::vector<MeasuredPoint>& measured,
                       const SessionOptions& asked) {
  nlohmann::json points = nlohmann::json::array();
  for (size_t i = 0; i < frontier.points.size(); ++i) {
    const FrontierPoint& point = frontier.points[i];
    points.push_back({{"budget", point.budget},
                      {"bytes", point.bytes},
                      {"weights_bytes", point.weights_bytes},
                      {"streamed_bytes", point.streamed_bytes},
                      {"predicted_ms", point.predicted_ms},
                      {"knee", i == frontier.knee},
                      {"way", way(point, asked)}});
    if (measured.empty()) continue;
    points.back()["measured_ms"] = measured[i].milliseconds;
    points.back()["measured_peak_bytes"] = measured[i].peak_bytes;
  }
  return points;
}

}  // namespace

void estimate_frontier(const FrontierArguments& arguments) {
  const SessionOptions options = session_options(arguments.options, arguments.model);
  const Model model = load_model(arguments.model, arguments.options);
  const Estimator estimator(arguments.options, arguments.caps, model, arguments.measure);
  Progress progress("frontier");
  MemoryFrontier frontier =
      estimator.frontier(options, [&](size_t done, size_t total) { progress.show(done, total); });
  std::vector<MeasuredPoint> measured;
  if (arguments.measure) {
    measured = measure(arguments, model, options, frontier);
    frontier.knee = frontier_knee(frontier.points, milliseconds_of(measured));
  }
  if (!arguments.svg.empty()) {
    const std::string title = io::FileName(arguments.model).last_part() + " on " + estimator.device();
    io::write_text(arguments.svg, memory_frontier_svg(title, frontier, milliseconds_of(measured)));
  }
  if (arguments.options.json)
    return print_json(
        nlohmann::json{{"device", estimator.device()}, {"points", to_json(frontier, measured, options)}});
  print(device_line(estimator.device(), estimator.device_is_default()) + "\n" +
        table(frontier, measured, options));
}

}  // namespace vellum::cli

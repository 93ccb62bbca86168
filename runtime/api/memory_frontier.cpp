#include "vellum/memory_frontier.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "api/cache_capacity.hpp"
#include "api/fit_budget.hpp"
#include "api/guard.hpp"

namespace vellum {
namespace {

constexpr int kSteps = 6;  // between the smallest budget and the largest, at equal ratios

std::vector<uint64_t> usual_budgets(uint64_t least, uint64_t most) {
  std::vector<uint64_t> budgets{least, most};
  for (const uint64_t percent : {75, 50, 25, 10}) budgets.push_back(most / 100 * percent);
  const double ratio = static_cast<double>(most) / static_cast<double>(least);
  for (int i = 1; i < kSteps; ++i)
    budgets.push_back(
        static_cast<uint64_t>(static_cast<double>(least) * std::pow(ratio, static_cast<double>(i) / kSteps)));
  return budgets;
}

MemoryFrontier memory_frontier(const Target& target, const Model& source, SessionOptions options,
                               const FrontierOptions& frontier_options) {
  options.memory_budget = UINT64_MAX;
  const Model model = with_cache_capacity(source, options);
  check_memory_budget(options);
  const auto tell = [&](size_t done, size_t total) {
    if (frontier_options.progress)
      call_application("the function that is told of progress",
                       [&] { frontier_options.progress(done, total); });
  };
  BudgetFitter fitter(target, model, options);
  std::vector<uint64_t> budgets = frontier_options.budgets;
  tell(0, std::max<size_t>(budgets.size(), 1));
  const uint64_t least = fitter.smallest().way.bytes;
  if (budgets.empty()) budgets = usual_budgets(least, fitter.as_asked().way.bytes);
  std::sort(budgets.begin(), budgets.end());
  budgets.erase(std::unique(budgets.begin(), budgets.end()), budgets.end());
  std::erase_if(budgets, [&](uint64_t budget) { return budget < least; });
  MemoryFrontier frontier;
  std::vector<double> milliseconds;
  for (const uint64_t budget : budgets) {
    const FittedModel* fitted = fitter.quickest(budget);
    if (!fitted) throw Error(ErrorCode::internal, "a budget that suffices does not suffice");
    const Way& way = fitted->way;
    frontier.points.push_back({budget, way.bytes, way.weights_bytes, way.streamed_bytes, way.milliseconds,
                               way.options, way.tiled_layers});
    milliseconds.push_back(way.milliseconds);
    tell(frontier.points.size(), budgets.size());
  }
  frontier.knee = frontier_knee(frontier.points, milliseconds);
  return frontier;
}

// Returns the value scaled to 0..1, so that the smallest of all values is 0 and the largest 1; 0 if they are
// equal.
double scaled(double value, double least, double most) {
  return most > least ? (value - least) / (most - least) : 0;
}

}  // namespace

MemoryFrontier memory_frontier(const Model& model, const SessionOptions& options, const Caps& caps,
                               const FrontierOptions& frontier_options) {
  return guard([&] { return memory_frontier(Target(caps), model, options, frontier_options); });
}

MemoryFrontier memory_frontier(const Model& model, const SessionOptions& options, const Device& device,
                               const FrontierOptions& frontier_options) {
  return guard([&] { return memory_frontier(Target(&device), model, options, frontier_options); });
}

size_t frontier_knee(const std::vector<FrontierPoint>& points, const std::vector<double>& milliseconds) {
  if (points.size() != milliseconds.size())
    throw Error(ErrorCode::invalid_argument, "a frontier has one time for each point");
  if (points.empty()) return 0;
  const auto extremes = std::minmax_element(milliseconds.begin(), milliseconds.end());
  const auto cost = [&](size_t i) {
    return scaled(static_cast<double>(points[i].budget), static_cast<double>(points.front().budget),
                  static_cast<double>(points.back().budget)) +
           scaled(milliseconds[i], *extremes.first, *extremes.second);
  };
  size_t knee = 0;
  for (size_t i = 1; i < points.size(); ++i)
    if (cost(i) < cost(knee)) knee = i;
  return knee;
}

}  // namespace vellum

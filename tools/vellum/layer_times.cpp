#include "layer_times.hpp"

#include <algorithm>
#include <cmath>

#include "output.hpp"
#include "timed_run.hpp"

namespace vellum::cli {
namespace {

// Of each layer, the times of all runs.
using Samples = std::vector<std::vector<double>>;

// NaN for a layer without times.
std::vector<double> medians(Samples samples) {
  std::vector<double> result;
  for (std::vector<double>& times : samples) {
    std::erase_if(times, [](double time) { return std::isnan(time); });
    if (times.empty()) {
      result.push_back(std::nan(""));
      continue;
    }
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    result.push_back(*middle);
  }
  return result;
}

// Adds the times of a run to the samples. After a layer on the host the pause is unknown.
void add_run(const std::vector<LayerTime>& layers, Samples& alone, Samples& pause) {
  double end_before = std::nan(""), end_of_all = 0;
  for (size_t l = 0; l < layers.size(); ++l) {
    const double begin = layers[l].begin_ms, end = begin + layers[l].gpu_ms;
    alone[l].push_back(std::isnan(end) ? end : std::max(0.0, end - std::max(begin, end_of_all)));
    pause[l].push_back(std::max(end_before, begin) - end_before);
    end_before = std::isnan(end) ? end : std::max(end_of_all, end);
    if (!std::isnan(end)) end_of_all = std::max(end_of_all, end);
  }
}

}  // namespace

LayerTimes measure_layers(Session& session, size_t runs, const std::string& label) {
  timed_run(session);
  Samples times, alone, pause;
  LayerTimes result;
  Progress progress(label);
  for (size_t i = 0; i < runs; ++i) {
    timed_run(session);
    result.last_run = session.layer_times();
    for (Samples* samples : {&times, &alone, &pause}) samples->resize(result.last_run.size());
    for (size_t l = 0; l < result.last_run.size(); ++l) times[l].push_back(result.last_run[l].gpu_ms);
    add_run(result.last_run, alone, pause);
    progress.show(i + 1, runs);
  }
  for (const std::vector<double>& each : times)
    result.least.push_back(each.empty() ? std::nan("") : *std::min_element(each.begin(), each.end()));
  result.layers = result.last_run;
  const std::vector<double> middles = medians(std::move(times));
  for (size_t l = 0; l < middles.size(); ++l) result.layers[l].gpu_ms = middles[l];
  result.alone = medians(std::move(alone));
  result.pause = medians(std::move(pause));
  return result;
}

}  // namespace vellum::cli

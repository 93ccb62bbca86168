#include "estimate/run_time.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "compile/tiles.hpp"
#include "cost/device_rates.hpp"
#include "plan/dispatch_model.hpp"

namespace vellum {
namespace {

// Assumed: PCIe 3.0 x16 as measured copies reach it, and a submit to a queue that is at work.
constexpr double kBusGigabytesPerSecond = 12, kSubmitMs = 0.02;

// The host reads and writes in memory that it shares with the device, or writes over the bus.
double copy_ms(uint64_t bytes, const DeviceCaps& caps) {
  const double memory = device_rates(caps).gigabytes_per_s / 2;
  const double rate = caps.unified_memory ? memory : std::min(memory, kBusGigabytesPerSecond);
  return static_cast<double>(bytes) / (1e6 * rate);
}

}  // namespace

double predicted_run_ms(const EstimateInputs& in, const WeightFootprint& weights) {
  const std::vector<double> tasks = predicted_milliseconds(in.program(), in.model.barriers, in.caps,
                                                           shares_of_x(in.model.graph, in.program()));
  const std::vector<WeightSegment>& segments = weights.stream.segments;
  if (segments.empty()) return std::accumulate(tasks.begin(), tasks.end(), 0.0);
  double copied = 0, computed = 0;  // when the copies, and the device, have done what came so far
  std::vector<double> ends;         // of each segment
  for (size_t s = 0; s < segments.size(); ++s) {
    uint64_t bytes = 0;
    for (const uint32_t use : segments[s].loads) bytes += weights.uses[use].bytes;
    const int64_t after = segments[s].free_after;
    if (bytes > 0)
      copied = std::max(copied, after < 0 ? 0 : ends[static_cast<size_t>(after)]) + copy_ms(bytes, in.caps);
    const auto first = tasks.begin() + segments[s].first_task;
    const auto end = s + 1 < segments.size() ? tasks.begin() + segments[s + 1].first_task : tasks.end();
    computed = std::accumulate(first, end, std::max(copied, computed) + kSubmitMs);
    ends.push_back(computed);
  }
  return computed;
}

}  // namespace vellum

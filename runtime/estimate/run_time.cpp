#include "estimate/run_time.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "compile/tiles.hpp"
#include "cost/device_rates.hpp"
#include "estimate/host_memory.hpp"
#include "plan/dispatch_model.hpp"

namespace vellum {
namespace {

// Assumed figures: the bandwidth that copies reach over PCIe 3.0 x16, and the time of a submit to a busy
// queue.
constexpr double kBusGigabytesPerSecond = 12, kSubmitMs = 0.02;

// Returns the milliseconds to copy weights. The host reads and writes in memory that it shares with the
// device, or writes over the bus, also to a discrete GPU whose whole memory is mapped (resizable BAR). At the
// same time it reads weights that are not in its memory from the disk.
// The slowest of these limits the copy. The rate of a CPU driver is assumed (kCpuRates), and its cores copy
// as many bytes in a second as its kernels read: a rate that the caller measured replaces it.
double copy_ms(uint64_t bytes, const DeviceCaps& caps, const StreamRates& given) {
  const bool is_cpu = caps.type == DeviceType::cpu;
  double rate = device_rates(caps).gigabytes_per_s / (is_cpu ? 1 : 2);
  if (given.bus > 0)
    rate = is_cpu ? given.bus : std::min(rate, given.bus);
  else if (!shares_host_memory(caps))
    rate = std::min(rate, kBusGigabytesPerSecond);
  if (given.disk > 0) rate = std::min(rate, given.disk);
  return static_cast<double>(bytes) / (1e6 * rate);
}

}  // namespace

PredictedRun predicted_run(const EstimateInputs& in, const WeightFootprint& weights) {
  const std::vector<double> tasks = predicted_milliseconds(in.program(), in.model.barriers, in.caps,
                                                           shares_of_x(in.model.graph, in.program()));
  const std::vector<WeightSegment>& segments = weights.stream.segments;
  PredictedRun run;
  run.ms = run.computing_ms = std::accumulate(tasks.begin(), tasks.end(), 0.0);
  if (segments.empty()) return run;
  double copied = 0, computed = 0;  // when the copies so far, and the segments so far, are done
  std::vector<double> ends;         // of each segment
  for (size_t s = 0; s < segments.size(); ++s) {
    uint64_t bytes = 0;
    for (const uint32_t use : segments[s].loads) bytes += weights.uses[use].bytes;
    const int64_t after = segments[s].free_after;
    if (bytes > 0) {
      const double ms = copy_ms(bytes, in.caps, in.rates);
      run.streamed_bytes += bytes;
      run.streaming_ms += ms;
      // A CPU driver computes on the same cores that copy.
      if (in.caps.type == DeviceType::cpu)
        computed += ms;
      else
        copied = std::max(copied, after < 0 ? 0 : ends[static_cast<size_t>(after)]) + ms;
    }
    const auto first = tasks.begin() + segments[s].first_task;
    const auto end = s + 1 < segments.size() ? tasks.begin() + segments[s + 1].first_task : tasks.end();
    computed = std::accumulate(first, end, std::max(copied, computed) + kSubmitMs);
    ends.push_back(computed);
  }
  run.ms = computed;
  return run;
}

}  // namespace vellum

#include "exec/submit_times.hpp"

#include "caps/driver_quirks.hpp"

namespace vellum {

std::unique_ptr<SubmitTimes> SubmitTimes::make(const std::shared_ptr<gpu::Context>& context,
                                               std::span<const SubmitRange> submits) {
  const bool is_readable = gpu::timestamps_supported(*context) && !queries_race_with_submits(context->caps());
  if (submits.empty() || !is_readable) return nullptr;
  return std::unique_ptr<SubmitTimes>(new SubmitTimes(context, static_cast<uint32_t>(submits.size())));
}

// Both after all earlier compute work, so that a submit does not count what precedes it in the queue.
void SubmitTimes::begin(gpu::CommandBuffer& commands, size_t submit, bool is_first) const {
  if (is_first) queries_.reset(commands);
  queries_.write(commands, static_cast<uint32_t>(2 * submit));
}

void SubmitTimes::end(gpu::CommandBuffer& commands, size_t submit) const {
  queries_.write(commands, static_cast<uint32_t>(2 * submit + 1));
}

std::vector<double> SubmitTimes::read() const {
  const std::vector<double> nanoseconds = queries_.read();
  std::vector<double> milliseconds;
  for (size_t i = 0; i + 1 < nanoseconds.size(); i += 2)
    milliseconds.push_back((nanoseconds[i + 1] - nanoseconds[i]) * 1e-6);
  return milliseconds;
}

}  // namespace vellum

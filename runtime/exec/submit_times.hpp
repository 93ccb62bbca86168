// The times that the submits of a run took on the device, by which slow runs are divided anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "plan/submits.hpp"
#include "vulkan/commands.hpp"
#include "vulkan/timestamps.hpp"

namespace vellum {

class SubmitTimes {
 public:
  // Returns null if the device has no timestamps, or none that may be read while other submits run.
  static std::unique_ptr<SubmitTimes> make(const std::shared_ptr<gpu::Context>& context,
                                           std::span<const SubmitRange> submits);

  // Record timestamps at the begin and the end of a submit's commands. The first submit of a run resets those
  // of all.
  void begin(gpu::CommandBuffer& commands, size_t submit, bool is_first) const;
  void end(gpu::CommandBuffer& commands, size_t submit) const;
  // Returns the milliseconds of each submit of the last run, which must be done; NaN for those that did not
  // run.
  std::vector<double> read() const;

 private:
  SubmitTimes(const std::shared_ptr<gpu::Context>& context, uint32_t submits)
      : queries_(context, 2 * submits) {}

  gpu::TimestampQueries queries_;
};

}  // namespace vellum

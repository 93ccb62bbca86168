// Pictures of a profile: plain values in, one document out. No device, no session.
#pragma once

#include <string>
#include <vector>

#include "vellum/export.h"
#include "vellum/profile.hpp"

namespace vellum {

struct ProfileReport {
  std::string model;                  // what to call it
  std::vector<std::string> subtitle;  // device, options: shown beside the title
  MemoryReport memory;
  std::vector<LayerTime> layers;  // as Session::layer_times(), e.g. medians over several runs
  std::vector<LayerTime> run;     // likewise, of one run: when each task began and ended
};

// A self-contained HTML page: the memory map, shared objects, bytes by category, time per layer. It loads
// nothing, and names from the model cannot become markup or script. Throws Error(invalid_argument) where a
// tensor names an object that is not there.
VELLUM_API std::string profile_html(const ProfileReport& report);

// Chrome's trace event format, which Perfetto reads: a track for the queue with a slice a task, one for each
// shared object with the tensors that live in it, and the live bytes as a counter. Where the device has no
// timestamps, every task takes one millisecond.
VELLUM_API std::string profile_trace(const ProfileReport& report);

}  // namespace vellum

// Adds device times of layers to the runtime's profile (SessionOptions.enable_profiling), from its API 25 on.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime_api.hpp"
#include "vellum/profile.hpp"

namespace vellum::ort {

// Thread-safe.
class DeviceEvents {
 public:
  using Clock = std::chrono::steady_clock;

  // Returns whether the runtime is profiling. The runtime makes a profiler for each session, whether it will profile or not.
  bool are_wanted() const { return started_; }

  // Forgets earlier events. `offset_ns`: the time since the runtime began to profile.
  void start(int64_t offset_ns);
  // Adds the layers of a run. Clocks of device and host have no common zero, so the first layer begins when
  // the run was submitted.
  void add(Clock::time_point submitted, const std::vector<LayerTime>& layers);
  // Passes the events to the runtime, and forgets them.
  void hand_over(OrtProfilingEventsContainer& container);

 private:
  struct Event {
    std::string name, op, shader;
    int64_t begin_us = 0, duration_us = 0;
  };
  std::mutex mutex_;
  std::atomic<bool> started_{false};
  Clock::time_point start_;
  int64_t offset_ns_ = 0;
  std::vector<Event> events_;
};

// Returns a profiler, which the runtime releases.
OrtEpProfilerImpl* make_profiler(std::shared_ptr<DeviceEvents> events);

}  // namespace vellum::ort

#include "device_events.hpp"

#include <cmath>
#include <utility>

namespace vellum::ort {
namespace {

constexpr size_t kMostEvents = 1 << 20;  // as many as the runtime keeps of its own

struct Profiler : OrtEpProfilerImpl {
  explicit Profiler(std::shared_ptr<DeviceEvents> device_events)
      : OrtEpProfilerImpl{}, events(std::move(device_events)) {
    ort_version_supported = supported_version();
    Release = [](OrtEpProfilerImpl* self) noexcept { delete static_cast<Profiler*>(self); };
    StartProfiling = [](OrtEpProfilerImpl* self, int64_t offset_ns) noexcept -> OrtStatus* {
      return guarded([&] { static_cast<Profiler*>(self)->events->start(offset_ns); });
    };
    EndProfiling = [](OrtEpProfilerImpl* self,
                      OrtProfilingEventsContainer* container) noexcept -> OrtStatus* {
      return guarded([&] { static_cast<Profiler*>(self)->events->hand_over(*container); });
    };
  }

  const std::shared_ptr<DeviceEvents> events;
};

}  // namespace

void DeviceEvents::start(int64_t offset_ns) {
  const std::lock_guard lock(mutex_);
  started_ = true;
  start_ = Clock::now();
  offset_ns_ = offset_ns;
  events_.clear();
}

void DeviceEvents::add(Clock::time_point submitted, const std::vector<LayerTime>& layers) {
  const std::lock_guard lock(mutex_);
  if (!started_) return;
  const auto since_start = std::chrono::duration_cast<std::chrono::nanoseconds>(submitted - start_).count();
  const int64_t begin_us = (offset_ns_ + since_start) / 1000;
  for (const LayerTime& layer : layers) {
    if (std::isnan(layer.gpu_ms) || std::isnan(layer.begin_ms) || events_.size() == kMostEvents) continue;
    events_.push_back({layer.name, layer.op, layer.shader, begin_us + std::llround(1e3 * layer.begin_ms),
                       std::llround(1e3 * layer.gpu_ms)});
  }
}

void DeviceEvents::hand_over(OrtProfilingEventsContainer& container) {
  const std::lock_guard lock(mutex_);
  started_ = false;
  for (const Event& event : std::exchange(events_, {})) {
    const char* const keys[] = {"op_name", "provider", "shader"};
    const char* const values[] = {event.op.c_str(), "VellumExecutionProvider", event.shader.c_str()};
    OrtProfilingEvent* made = nullptr;
    check(ep_api().CreateProfilingEvent(OrtProfilingEventCategory_KERNEL, -1, -1, event.name.c_str(),
                                        event.begin_us, event.duration_us, keys, values, 3, &made));
    const std::unique_ptr<OrtProfilingEvent, void (*)(OrtProfilingEvent*)> owner(
        made, [](OrtProfilingEvent* released) { ep_api().ReleaseProfilingEvent(released); });
    check(ep_api().ProfilingEventsContainer_AddEvents(&container, &made, 1));
  }
}

OrtEpProfilerImpl* make_profiler(std::shared_ptr<DeviceEvents> events) {
  return std::make_unique<Profiler>(std::move(events)).release();
}

}  // namespace vellum::ort

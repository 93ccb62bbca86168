// Draws over the picture: the marks of the network, and Dear ImGui's windows with times, the memory
// of the network, and the choice of networks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "live/effect.hpp"
#include "live/graphics.hpp"
#include "live/inference.hpp"
#include "vellum/profile.hpp"

namespace vellum::samples {

struct OverlayState {
  const Inference* inference = nullptr;  // null if there is none yet
  double frames_per_second = 0;
  uint32_t frame_width = 0, frame_height = 0;
  size_t effect = 0;                         // index of the effect that runs or is being made
  std::vector<bool> available;               // for each of effect_kinds(): whether its files exist
  std::optional<CreationProgress> progress;  // of a session that is being made
};

class Overlay {
 public:
  explicit Overlay(const Graphics& graphics);
  ~Overlay();
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;

  // Switches to the memory of another session.
  void show_memory(MemoryReport report) { memory_ = std::move(report); }
  // Builds the user interface that render() draws. Returns the index of a newly chosen network.
  std::optional<size_t> build(const OverlayState& state);
  void render(vk::CommandBuffer commands) const;

  // The rectangle of the picture in the window, as large as fits.
  struct Place {
    float left = 0, top = 0, scale = 1;
  };
  static Place place(vk::Extent2D window, uint32_t width, uint32_t height);

 private:
  void draw_marks(const OverlayState& state) const;
  void show_times(const OverlayState& state) const;
  void show_memory_map() const;

  const Graphics& graphics_;
  vk::raii::DescriptorPool descriptors_;
  MemoryReport memory_;
};

}  // namespace vellum::samples

// One or two networks on the application's device. Frames are uploaded, read by the networks and turned into
// pictures, in command buffers that are recorded once.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "live/effect.hpp"
#include "live/graphics.hpp"

namespace vellum::samples {

// Milliseconds of a frame.
struct StageTimes {
  double upload = 0, network = 0, picture = 0, decode = 0;
};

class Inference {
 public:
  // The sessions must be those of effect.model, and of effect.follower's model if there is one.
  Inference(const Graphics& graphics, Effect effect, std::vector<Session> sessions, const FrameInput& frame);
  ~Inference();
  Inference(const Inference&) = delete;
  Inference& operator=(const Inference&) = delete;

  bool is_running() const { return is_running_; }
  // Returns mapped memory for the next frame, which begin() then starts.
  std::span<std::byte> next_frame() { return {next().upload.data, frame_bytes_}; }
  void begin();
  // Waits at most `timeout` for the frame that was begun. Returns true if it is now the shown frame.
  bool finish(std::chrono::nanoseconds timeout);

  // The image of the frame that is shown; null before the first one.
  const AppImage* image() const { return has_shown_ ? &shown().image : nullptr; }
  const Marks& marks() const { return marks_; }
  const StageTimes& times() const { return times_; }

 private:
  struct Output {
    TensorInfo info;
    AppBuffer buffer;
  };
  // Two frames: one is shown while the other is computed.
  struct Slot {
    AppBuffer upload, frame, picture;
    AppImage image;
    std::optional<AppBuffer> transform;         // of the follower
    std::optional<Region> region;               // that the follower sees
    std::array<std::deque<Output>, 2> outputs;  // for the host: of the network, of the follower
    vk::raii::CommandBuffer commands;
    vk::raii::Fence done;
    vk::raii::QueryPool times;
    std::vector<Recording> recordings;
  };

  Slot make_slot(const FrameInput& frame);
  void record(Slot& slot);
  std::deque<Output> make_outputs(const Session& session) const;
  void decode(const Slot& slot);
  Slot& next() { return slots_[next_]; }
  const Slot& shown() const { return slots_[1 - next_]; }

  const Graphics& graphics_;
  Effect effect_;
  std::vector<Session> sessions_;
  std::optional<Region> region_;  // for the follower's next frame
  size_t frame_bytes_;
  std::deque<Slot> slots_;
  size_t next_ = 0;
  bool is_running_ = false, has_shown_ = false;
  Marks marks_;
  StageTimes times_;
};

}  // namespace vellum::samples

// A window with what networks see: frames go up, the network and the picture stay on the device, boxes and
// times are drawn over it. Vellum works on the window's own Vulkan device.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/sample.hpp"
#include "live/effect.hpp"
#include "live/frame_source.hpp"
#include "live/graphics.hpp"
#include "live/inference.hpp"
#include "live/overlay.hpp"

namespace vellum::samples {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string models, network = "faces", screenshot;
  SourceOptions source;
  uint32_t frames = 0;
};

class Live {
 public:
  explicit Live(const Options& options)
      : options_(options),
        source_(open_source(options.source)),
        frame_(source_->format()),
        graphics_("Vellum", options.source.width, options.source.height),
        overlay_(graphics_) {
    state_.frame_width = frame_.width;
    state_.frame_height = frame_.height;
    for (const EffectKind& kind : effect_kinds()) {
      state_.available.push_back(std::ranges::all_of(
          kind.files, [&](const char* file) { return std::filesystem::exists(path_of(file)); }));
      if (kind.name == options.network) choose(state_.available.size() - 1);
    }
    std::printf("on %s\n", graphics_.vellum().info().name.c_str());
  }

  void run() {
    uint32_t frames = 0;
    bool has_more = true;
    while (has_more && !glfwWindowShouldClose(graphics_.window())) {
      glfwPollEvents();
      take_session();
      if (inference_ && !inference_->is_running()) {
        has_more = source_->next(inference_->next_frame());
        if (has_more) inference_->begin();
      }
      if (inference_ && inference_->finish(std::chrono::milliseconds(16))) {
        count_frame();
        if (++frames == options_.frames) break;
      }
      draw();
    }
    std::printf("%u frames, %zu marked in the last one\n", frames,
                inference_ ? inference_->marks().outlines.size() : 0);
    if (!options_.screenshot.empty()) save_screenshot();
  }

 private:
  std::string path_of(const char* file) const { return options_.models + "/" + file; }

  // The network that runs goes on until the next one is ready.
  void choose(size_t effect) {
    state_.effect = effect;
    const EffectKind& kind = effect_kinds()[effect];
    std::vector<Model> models;
    for (const char* file : kind.files) models.push_back(load_model(path_of(file)));
    effect_ = kind.make(models, frame_);
    creations_.clear();
    creations_.push_back(Session::create_async(graphics_.vellum(), effect_->model));
    if (effect_->follower)
      creations_.push_back(Session::create_async(graphics_.vellum(), effect_->follower->model));
  }

  void take_session() {
    if (!creations_.empty() && std::ranges::all_of(creations_, &SessionCreation::done)) {
      std::vector<Session> sessions;
      for (SessionCreation& creation : creations_) sessions.push_back(creation.get());
      creations_.clear();
      inference_.reset();
      // The follower's is the larger one.
      overlay_.show_memory(sessions.back().memory());
      inference_ = std::make_unique<Inference>(graphics_, std::move(*effect_), std::move(sessions), frame_);
    }
    state_.progress.reset();
    for (const SessionCreation& creation : creations_) {
      const CreationProgress progress = creation.progress();
      if (!state_.progress) state_.progress.emplace();
      state_.progress->ready += progress.ready;
      state_.progress->total += progress.total;
    }
    state_.inference = inference_.get();
  }

  void count_frame() {
    const Clock::time_point now = Clock::now();
    const std::chrono::duration<double> passed = now - last_frame_;
    last_frame_ = now;
    state_.frames_per_second += 0.1 * (1 / passed.count() - state_.frames_per_second);
  }

  void draw() {
    if (const std::optional<size_t> chosen = overlay_.build(state_)) choose(*chosen);
    graphics_.draw(below(), inside());
  }

  std::function<void(vk::CommandBuffer, vk::Image)> below() const {
    return [this](vk::CommandBuffer commands, vk::Image window) {
      const auto& dispatcher = *graphics_.device().getDispatcher();
      constexpr vk::ImageSubresourceRange whole{vk::ImageAspectFlagBits::eColor, 0, 1, 0, 1};
      constexpr auto layout = vk::ImageLayout::eTransferDstOptimal;
      commands.clearColorImage(window, layout, vk::ClearColorValue(0.05f, 0.05f, 0.06f, 1.0f), whole,
                               dispatcher);
      const AppImage* picture = inference_ ? inference_->image() : nullptr;
      if (!picture) return;
      constexpr auto transfer = vk::PipelineStageFlagBits::eTransfer;
      constexpr auto write = vk::AccessFlagBits::eTransferWrite;
      commands.pipelineBarrier(transfer, transfer, {}, vk::MemoryBarrier(write, write), {}, {}, dispatcher);
      const Overlay::Place place =
          Overlay::place(graphics_.extent(), picture->extent.width, picture->extent.height);
      const auto round = [](float value) { return static_cast<int32_t>(std::lround(value)); };
      const auto width = static_cast<int32_t>(picture->extent.width),
                 height = static_cast<int32_t>(picture->extent.height);
      constexpr vk::ImageSubresourceLayers layers{vk::ImageAspectFlagBits::eColor, 0, 0, 1};
      const vk::ImageBlit blit(
          layers, {vk::Offset3D{0, 0, 0}, vk::Offset3D{width, height, 1}}, layers,
          {vk::Offset3D{round(place.left), round(place.top), 0},
           vk::Offset3D{round(place.left + place.scale * static_cast<float>(width)),
                        round(place.top + place.scale * static_cast<float>(height)), 1}});
      commands.blitImage(*picture->image, vk::ImageLayout::eTransferSrcOptimal, window, layout, blit,
                         vk::Filter::eLinear, dispatcher);
    };
  }
  std::function<void(vk::CommandBuffer)> inside() const {
    return [this](vk::CommandBuffer commands) { overlay_.render(commands); };
  }

  void save_screenshot() {
    overlay_.build(state_);
    const std::optional<io::Image> image = graphics_.screenshot(below(), inside());
    if (!image) throw Error(ErrorCode::io, "the window shows nothing");
    io::write_image(options_.screenshot, *image);
  }

  const Options& options_;
  std::unique_ptr<FrameSource> source_;
  FrameInput frame_;
  Graphics graphics_;
  Overlay overlay_;
  OverlayState state_;
  std::optional<Effect> effect_;  // of the sessions that are being made
  std::vector<SessionCreation> creations_;
  std::unique_ptr<Inference> inference_;
  Clock::time_point last_frame_ = Clock::now();
};

}  // namespace
}  // namespace vellum::samples

int main(int argc, char** argv) {
  using namespace vellum::samples;
  Options options;
  CLI::App app("Shows what networks see in photos, videos and cameras, in a window.", "live");
  std::vector<std::string> names;
  for (const EffectKind& kind : effect_kinds()) names.emplace_back(kind.name);
  app.add_option("models", options.models, "the folder of the models: $(./setup.sh where)/models")
      ->required();
  app.add_option("--network", options.network, "the first one that is shown")
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  app.add_option("--photo", options.source.photo, "a PNG, JPEG or BMP, or a folder of them");
  app.add_option("--video", options.source.video, "a file that ffmpeg reads");
  app.add_option("--camera", options.source.camera, "a V4L2 device, through ffmpeg: /dev/video0");
  app.add_option("--nv12", options.source.nv12, "frames of raw NV12");
  app.add_option("--width", options.source.width, "of frames")
      ->check(CLI::Range(16, 8192))
      ->capture_default_str();
  app.add_option("--height", options.source.height, "of frames")
      ->check(CLI::Range(16, 8192))
      ->capture_default_str();
  app.add_option("--frames", options.frames, "number of frames to show; 0: until the window is closed");
  app.add_option("--screenshot", options.screenshot, "a picture of the last one: .png, .jpg or .bmp");
  return run_sample(app, argc, argv, [&] {
    vellum::io::require_encodable(options.screenshot);
    Live(options).run();
  });
}

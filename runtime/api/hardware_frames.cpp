// HardwareFrames: an import and a recording for each hardware buffer.
#include <algorithm>
#include <list>
#include <string>

#include "api/guard.hpp"
#include "api/session_impl.hpp"
#include "exec/recording.hpp"
#include "vellum/external.hpp"
#include "vulkan/external/handle_types.hpp"

namespace vellum {

struct HardwareFrames::Impl {
  // The image is freed after the recording that reads it.
  struct Import {
    void* buffer = nullptr;
    uint32_t width = 0, height = 0;
    ExternalImage image;
    Recording recording;
  };

  Session* session;
  Session::Impl* members;
  std::string input;
  size_t most;
  std::list<Import> imports;  // the one that was used last is the first

  Import import(void* buffer, uint32_t width, uint32_t height) const {
    VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    info.extent = {width, height, 1};
    info.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
    const ExternalMemory memory{.type = ExternalHandleType::android_hardware_buffer, .handle = buffer};
    Import made{buffer, width, height, ExternalImage::import(members->device, memory, info), {}};
    bind(made);
    return made;
  }

  void bind(Import& import) const {
    ImageBinding frame{.name = input, .image = import.image.handle(), .format = import.image.format()};
    frame.external_format = import.image.external_format();
    frame.width = import.width;
    frame.height = import.height;
    frame.owner = VK_QUEUE_FAMILY_FOREIGN_EXT;  // the producer's
    import.recording = session->bind({.input_images = {&frame, 1}, .rest_on_host = true});
  }
};

HardwareFrames::HardwareFrames(Session& session, std::string_view input, size_t most) {
  guard([&] {
    Session::Impl* const members = &session.checked();
    position(members->inputs, input, "input");
    if (most == 0)
      throw Error(ErrorCode::invalid_argument, "one hardware buffer at least must stay imported");
    gpu::require_hardware_buffers(*impl(members->device)->context);
    impl_ = std::make_unique<Impl>(Impl{&session, members, std::string(input), most, {}});
  });
}

HardwareFrames::~HardwareFrames() = default;
HardwareFrames::HardwareFrames(HardwareFrames&&) noexcept = default;
HardwareFrames& HardwareFrames::operator=(HardwareFrames&&) noexcept = default;

HardwareFrames::Impl& HardwareFrames::checked() const { return held_by(impl_, "HardwareFrames object"); }

void HardwareFrames::run(void* buffer, uint32_t width, uint32_t height) {
  guard([&] {
    // A buffer that is imported is not freed, so that no other one has its address.
    auto found = std::ranges::find(checked().imports, buffer, &Impl::Import::buffer);
    if (found == checked().imports.end()) {
      checked().imports.push_front(checked().import(buffer, width, height));
      if (checked().imports.size() > checked().most) checked().imports.pop_back();
      found = checked().imports.begin();
    } else if (found->width != width || found->height != height) {
      throw Error(ErrorCode::invalid_argument, "the hardware buffer has " + std::to_string(found->width) +
                                                   " x " + std::to_string(found->height) + " pixels, not " +
                                                   std::to_string(width) + " x " + std::to_string(height));
    } else if (!checked().members->is_runnable(checked().members->drained(), *found->recording.network_)) {
      checked().bind(*found);
    }
    checked().imports.splice(checked().imports.begin(), checked().imports, found);
    checked().session->run(found->recording);
  });
}

size_t HardwareFrames::imported() const { return checked().imports.size(); }

void HardwareFrames::forget() { checked().imports.clear(); }

}  // namespace vellum

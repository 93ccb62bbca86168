// A window and the application's Vulkan device, which Vellum adopts: instance, surface, device, queue,
// swapchain.
#pragma once

#define GLFW_INCLUDE_VULKAN
#include <GLFW/glfw3.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>
#include <vulkan/vulkan_raii.hpp>

#include "io/image.hpp"
#include "vellum/vellum.hpp"
#include "vellum/vulkan.hpp"

namespace vellum::samples {

struct AppBuffer;

class Graphics {
 public:
  Graphics(const char* title, int width, int height);
  ~Graphics();
  Graphics(const Graphics&) = delete;
  Graphics& operator=(const Graphics&) = delete;

  const Device& vellum() const { return *vellum_; }
  const vk::raii::Instance& instance() const { return instance_; }
  const vk::raii::PhysicalDevice& physical() const { return physical_; }
  const vk::raii::Device& device() const { return device_; }
  const vk::raii::Queue& queue() const { return queue_; }
  const vk::raii::CommandPool& pool() const { return pool_; }
  uint32_t family() const { return family_; }
  GLFWwindow* window() const { return window_.get(); }
  vk::Extent2D extent() const { return extent_; }
  vk::RenderPass render_pass() const { return *render_pass_; }
  uint32_t image_count() const { return static_cast<uint32_t>(views_.size()); }

  vk::raii::CommandBuffer make_commands() const;
  // Submits under a lock, because threads of Vellum's sessions also use the queue.
  void submit(const vk::SubmitInfo& info, vk::Fence fence) const;
  void wait(vk::Fence fence) const;
  // Returns the milliseconds between two timestamps; 0 if the queue has none.
  double milliseconds(uint64_t begin, uint64_t end) const;

  // Draws one image of the window: `below` records copies to the image (in TRANSFER_DST_OPTIMAL), `inside`
  // records the draws over it in the render pass. Waits for the image before the last one. Returns whether
  // the window could show the image.
  bool draw(const std::function<void(vk::CommandBuffer, vk::Image)>& below,
            const std::function<void(vk::CommandBuffer)>& inside);
  double draw_milliseconds() const { return draw_ms_; }  // time of the last finished image
  // Does the same as draw(), and returns a copy of the window's image; nothing if the window could not show
  // it.
  std::optional<io::Image> screenshot(const std::function<void(vk::CommandBuffer, vk::Image)>& below,
                                      const std::function<void(vk::CommandBuffer)>& inside);

 private:
  struct Terminate {
    ~Terminate();
  };
  struct DestroyWindow {
    void operator()(GLFWwindow* window) const { glfwDestroyWindow(window); }
  };
  struct InFlight {
    vk::raii::CommandBuffer commands;
    vk::raii::Fence done;
    vk::raii::Semaphore acquired;
    vk::raii::QueryPool times;
    bool is_used = false;
  };

  void choose_device();
  void make_device();
  void make_render_pass();
  void make_swapchain();
  std::optional<uint32_t> acquire(const InFlight& frame);
  void present(uint32_t image);
  // `pixels`: receives a copy of the image; may be null.
  bool draw(const std::function<void(vk::CommandBuffer, vk::Image)>& below,
            const std::function<void(vk::CommandBuffer)>& inside, const AppBuffer* pixels);

  // Members are destroyed in reverse order: Vellum's device first, then the application's.
  std::optional<Terminate> glfw_;
  std::unique_ptr<GLFWwindow, DestroyWindow> window_;
  vk::raii::Context context_;
  vk::raii::Instance instance_{nullptr};
  vk::raii::SurfaceKHR surface_{nullptr};
  vk::raii::PhysicalDevice physical_{nullptr};
  uint32_t family_ = 0;
  float timestamp_ns_ = 0;
  vk::raii::Device device_{nullptr};
  mutable std::mutex queue_mutex_;
  vk::raii::Queue queue_{nullptr};
  vk::raii::CommandPool pool_{nullptr};
  std::optional<Device> vellum_;

  vk::SurfaceFormatKHR format_;
  vk::raii::RenderPass render_pass_{nullptr};
  vk::Extent2D extent_;
  vk::raii::SwapchainKHR swapchain_{nullptr};
  std::vector<vk::Image> images_;
  std::vector<vk::raii::ImageView> views_;
  std::vector<vk::raii::Framebuffer> framebuffers_;
  std::vector<vk::raii::Semaphore> rendered_;  // one for each image
  std::vector<InFlight> in_flight_;
  size_t next_ = 0;
  double draw_ms_ = 0;
};

// Returns a memory type for the application's buffers and images: device-local, or host-visible and mapped.
uint32_t memory_type(const Graphics& graphics, uint32_t allowed, vk::MemoryPropertyFlags wanted);

// A buffer of the application with its own memory, optionally mapped.
struct AppBuffer {
  AppBuffer(const Graphics& graphics, vk::DeviceSize size, vk::BufferUsageFlags usage, bool mapped);
  vk::DeviceSize bytes;
  vk::raii::Buffer buffer;
  vk::raii::DeviceMemory memory{nullptr};
  std::byte* data = nullptr;
};

struct AppImage {
  AppImage(const Graphics& graphics, uint32_t width, uint32_t height);
  vk::Extent3D extent;
  vk::raii::Image image;
  vk::raii::DeviceMemory memory{nullptr};
};

// One side of a barrier for an image of one level and one layer.
struct ImageUse {
  vk::PipelineStageFlags stage;
  vk::AccessFlags access;
  vk::ImageLayout layout;
};
void transition(const Graphics& graphics, vk::CommandBuffer commands, vk::Image image, const ImageUse& from,
                const ImageUse& to);

}  // namespace vellum::samples

#include "live/graphics.hpp"

#include <algorithm>
#include <array>

#include "vellum/error.hpp"

namespace vellum::samples {
namespace {

constexpr uint32_t kVulkan = VK_API_VERSION_1_3;
using Stage = vk::PipelineStageFlagBits;
using Use = vk::AccessFlagBits;
using Layout = vk::ImageLayout;
constexpr vk::ImageSubresourceRange kWhole{vk::ImageAspectFlagBits::eColor, 0, 1, 0, 1};

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorCode::unsupported, what); }

}  // namespace

uint32_t memory_type(const Graphics& graphics, uint32_t allowed, vk::MemoryPropertyFlags wanted) {
  const auto properties = graphics.physical().getMemoryProperties();
  for (uint32_t type = 0; type < properties.memoryTypeCount; ++type)
    if ((allowed >> type & 1) && (properties.memoryTypes[type].propertyFlags & wanted) == wanted) return type;
  refuse("the device has no memory that is " + vk::to_string(wanted));
}

AppBuffer::AppBuffer(const Graphics& graphics, vk::DeviceSize size, vk::BufferUsageFlags usage, bool mapped)
    : bytes(size), buffer(graphics.device(), vk::BufferCreateInfo({}, size, usage)) {
  using Flag = vk::MemoryPropertyFlagBits;
  const vk::MemoryRequirements needed = buffer.getMemoryRequirements();
  const vk::MemoryPropertyFlags wanted =
      mapped ? Flag::eHostVisible | Flag::eHostCoherent : vk::MemoryPropertyFlags(Flag::eDeviceLocal);
  memory = vk::raii::DeviceMemory(graphics.device(),
                                  {needed.size, memory_type(graphics, needed.memoryTypeBits, wanted)});
  buffer.bindMemory(*memory, 0);
  if (mapped) data = static_cast<std::byte*>(memory.mapMemory(0, VK_WHOLE_SIZE));
}

AppImage::AppImage(const Graphics& graphics, uint32_t width, uint32_t height)
    : extent(width, height, 1),
      image(
          graphics.device(),
          vk::ImageCreateInfo({}, vk::ImageType::e2D, vk::Format::eR8G8B8A8Unorm, extent, 1, 1,
                              vk::SampleCountFlagBits::e1, vk::ImageTiling::eOptimal,
                              vk::ImageUsageFlagBits::eTransferDst | vk::ImageUsageFlagBits::eTransferSrc)) {
  const vk::MemoryRequirements needed = image.getMemoryRequirements();
  memory = vk::raii::DeviceMemory(
      graphics.device(),
      {needed.size, memory_type(graphics, needed.memoryTypeBits, vk::MemoryPropertyFlagBits::eDeviceLocal)});
  image.bindMemory(*memory, 0);
}

void transition(const Graphics& graphics, vk::CommandBuffer commands, vk::Image image, const ImageUse& from,
                const ImageUse& to) {
  const vk::ImageMemoryBarrier barrier(from.access, to.access, from.layout, to.layout,
                                       VK_QUEUE_FAMILY_IGNORED, VK_QUEUE_FAMILY_IGNORED, image, kWhole);
  commands.pipelineBarrier(from.stage, to.stage, {}, {}, {}, barrier, *graphics.device().getDispatcher());
}

Graphics::Terminate::~Terminate() { glfwTerminate(); }

Graphics::Graphics(const char* title, int width, int height) {
  if (!glfwInit()) refuse("no window system was found: is there a display?");
  glfw_.emplace();
  glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
  window_.reset(glfwCreateWindow(width, height, title, nullptr, nullptr));
  uint32_t count = 0;
  const char* const* const extensions = glfwGetRequiredInstanceExtensions(&count);
  if (!window_ || !extensions) refuse("a window for Vulkan cannot be opened");
  const vk::ApplicationInfo application("live", 1, "sample", 1, kVulkan);
  instance_ =
      vk::raii::Instance(context_, vk::InstanceCreateInfo({}, &application, 0, nullptr, count, extensions));
  VkSurfaceKHR surface = VK_NULL_HANDLE;
  if (glfwCreateWindowSurface(*instance_, window_.get(), nullptr, &surface) != VK_SUCCESS)
    refuse("the window has no surface for Vulkan");
  surface_ = vk::raii::SurfaceKHR(instance_, surface);
  choose_device();
  make_device();
  make_render_pass();
  make_swapchain();
  for (int i = 0; i < 2; ++i)
    in_flight_.push_back({make_commands(), vk::raii::Fence(device_, vk::FenceCreateInfo()),
                          vk::raii::Semaphore(device_, vk::SemaphoreCreateInfo()),
                          vk::raii::QueryPool(device_, {{}, vk::QueryType::eTimestamp, 2})});
}

Graphics::~Graphics() {
  if (*device_) device_.waitIdle();
}

void Graphics::choose_device() {
  for (vk::raii::PhysicalDevice& candidate : vk::raii::PhysicalDevices(instance_)) {
    const auto families = candidate.getQueueFamilyProperties();
    for (uint32_t family = 0; family < families.size(); ++family) {
      constexpr auto wanted = vk::QueueFlagBits::eGraphics | vk::QueueFlagBits::eCompute;
      if ((families[family].queueFlags & wanted) != wanted ||
          !candidate.getSurfaceSupportKHR(family, *surface_))
        continue;
      family_ = family;
      if (families[family].timestampValidBits > 0)
        timestamp_ns_ = candidate.getProperties().limits.timestampPeriod;
      physical_ = std::move(candidate);
      return;
    }
  }
  refuse("no Vulkan device can draw in this window");
}

void Graphics::make_device() {
  const VulkanPhysicalDevice physical{context_.getDispatcher()->vkGetInstanceProcAddr, *instance_, kVulkan,
                                      *physical_};
  const DeviceRequirements wants = Device::requirements(physical);
  std::vector<const char*> extensions = wants.extensions();
  extensions.push_back(VK_KHR_SWAPCHAIN_EXTENSION_NAME);
  void* const features = wants.enable_features(nullptr);
  constexpr float priority = 1;
  const vk::DeviceQueueCreateInfo queue({}, family_, 1, &priority);
  vk::DeviceCreateInfo info({}, queue, {}, extensions);
  device_ = vk::raii::Device(physical_, info.setPNext(features));
  queue_ = vk::raii::Queue(device_, family_, 0);
  pool_ = vk::raii::CommandPool(device_, {vk::CommandPoolCreateFlagBits::eResetCommandBuffer, family_});
  vellum_.emplace(Device::adopt(
      {.physical = physical,
       .device = *device_,
       .compute = {*queue_, family_, [this] { queue_mutex_.lock(); }, [this] { queue_mutex_.unlock(); }},
       .extensions = extensions,
       .features = features}));
}

// The picture below the marks is copied to the image before.
void Graphics::make_render_pass() {
  const auto formats = physical_.getSurfaceFormatsKHR(*surface_);
  const auto is_plain = [](const vk::SurfaceFormatKHR& format) {
    return format.format == vk::Format::eB8G8R8A8Unorm || format.format == vk::Format::eR8G8B8A8Unorm;
  };
  const auto found = std::ranges::find_if(formats, is_plain);
  if (found == formats.end()) refuse("the window has neither RGBA nor BGRA in 8 bits");
  format_ = *found;
  const vk::AttachmentDescription color({}, format_.format, vk::SampleCountFlagBits::e1,
                                        vk::AttachmentLoadOp::eLoad, vk::AttachmentStoreOp::eStore,
                                        vk::AttachmentLoadOp::eDontCare, vk::AttachmentStoreOp::eDontCare,
                                        Layout::eColorAttachmentOptimal, Layout::ePresentSrcKHR);
  const vk::AttachmentReference reference(0, Layout::eColorAttachmentOptimal);
  const vk::SubpassDescription subpass({}, vk::PipelineBindPoint::eGraphics, {}, reference);
  render_pass_ = vk::raii::RenderPass(device_, vk::RenderPassCreateInfo({}, color, subpass));
}

void Graphics::make_swapchain() {
  device_.waitIdle();
  const vk::SurfaceCapabilitiesKHR surface = physical_.getSurfaceCapabilitiesKHR(*surface_);
  int width = 0, height = 0;
  glfwGetFramebufferSize(window_.get(), &width, &height);
  extent_ = surface.currentExtent.width != UINT32_MAX
                ? surface.currentExtent
                : vk::Extent2D(static_cast<uint32_t>(width), static_cast<uint32_t>(height));
  if (extent_.width == 0 || extent_.height == 0) return;
  uint32_t count = surface.minImageCount + 1;
  if (surface.maxImageCount) count = std::min(count, surface.maxImageCount);
  constexpr auto usage = vk::ImageUsageFlagBits::eColorAttachment | vk::ImageUsageFlagBits::eTransferDst |
                         vk::ImageUsageFlagBits::eTransferSrc;
  const vk::raii::SwapchainKHR old = std::move(swapchain_);
  swapchain_ = vk::raii::SwapchainKHR(
      device_, vk::SwapchainCreateInfoKHR({}, *surface_, count, format_.format, format_.colorSpace, extent_,
                                          1, usage, vk::SharingMode::eExclusive, {}, surface.currentTransform,
                                          vk::CompositeAlphaFlagBitsKHR::eOpaque, vk::PresentModeKHR::eFifo,
                                          true, *old));
  images_.clear(), views_.clear(), framebuffers_.clear(), rendered_.clear();
  for (const VkImage image : swapchain_.getImages()) {
    images_.emplace_back(image);
    views_.emplace_back(
        device_, vk::ImageViewCreateInfo({}, image, vk::ImageViewType::e2D, format_.format, {}, kWhole));
    framebuffers_.emplace_back(device_, vk::FramebufferCreateInfo({}, *render_pass_, *views_.back(),
                                                                  extent_.width, extent_.height, 1));
    rendered_.emplace_back(device_, vk::SemaphoreCreateInfo());
  }
}

vk::raii::CommandBuffer Graphics::make_commands() const {
  const vk::CommandBufferAllocateInfo info(*pool_, vk::CommandBufferLevel::ePrimary, 1);
  return std::move(vk::raii::CommandBuffers(device_, info).front());
}

void Graphics::submit(const vk::SubmitInfo& info, vk::Fence fence) const {
  const std::lock_guard lock(queue_mutex_);
  queue_.submit(info, fence);
}

void Graphics::wait(vk::Fence fence) const {
  if (device_.waitForFences(fence, VK_TRUE, UINT64_MAX) != vk::Result::eSuccess)
    throw Error(ErrorCode::device_lost, "the device does not finish");
}

double Graphics::milliseconds(uint64_t begin, uint64_t end) const {
  return static_cast<double>(end - begin) * timestamp_ns_ * 1e-6;
}

// Nothing: the window has another size now, or none.
std::optional<uint32_t> Graphics::acquire(const InFlight& frame) {
  if (!*swapchain_ || extent_.width == 0 || extent_.height == 0) {
    make_swapchain();
    return std::nullopt;
  }
  uint32_t image = 0;
  const VkResult result = device_.getDispatcher()->vkAcquireNextImageKHR(
      *device_, *swapchain_, UINT64_MAX, *frame.acquired, VK_NULL_HANDLE, &image);
  if (result == VK_SUCCESS || result == VK_SUBOPTIMAL_KHR) return image;
  if (result != VK_ERROR_OUT_OF_DATE_KHR)
    throw Error(ErrorCode::device_lost, "the window has no more images");
  make_swapchain();
  return std::nullopt;
}

bool Graphics::draw(const std::function<void(vk::CommandBuffer, vk::Image)>& below,
                    const std::function<void(vk::CommandBuffer)>& inside) {
  return draw(below, inside, nullptr);
}

bool Graphics::draw(const std::function<void(vk::CommandBuffer, vk::Image)>& below,
                    const std::function<void(vk::CommandBuffer)>& inside, const AppBuffer* pixels) {
  InFlight& frame = in_flight_[next_++ % in_flight_.size()];
  if (frame.is_used) {
    wait(*frame.done);
    const auto [result, times] = frame.times.getResults<uint64_t>(
        0, 2, 2 * sizeof(uint64_t), sizeof(uint64_t), vk::QueryResultFlagBits::e64);
    if (result == vk::Result::eSuccess) draw_ms_ = milliseconds(times[0], times[1]);
    frame.is_used = false;
  }
  const std::optional<uint32_t> index = acquire(frame);
  if (!index) return false;
  const vk::Image image = images_[*index];
  const vk::CommandBuffer commands = *frame.commands;
  const auto& dispatcher = *device_.getDispatcher();
  commands.begin(vk::CommandBufferBeginInfo(vk::CommandBufferUsageFlagBits::eOneTimeSubmit), dispatcher);
  commands.resetQueryPool(*frame.times, 0, 2, dispatcher);
  commands.writeTimestamp(Stage::eTopOfPipe, *frame.times, 0, dispatcher);
  const ImageUse is_presented{Stage::eColorAttachmentOutput, {}, Layout::ePresentSrcKHR},
      is_copied_to{Stage::eTransfer, Use::eTransferWrite, Layout::eTransferDstOptimal};
  transition(*this, commands, image, {Stage::eTransfer, {}, Layout::eUndefined}, is_copied_to);
  below(commands, image);
  transition(*this, commands, image, is_copied_to,
             {Stage::eColorAttachmentOutput, Use::eColorAttachmentRead | Use::eColorAttachmentWrite,
              Layout::eColorAttachmentOptimal});
  const vk::RenderPassBeginInfo pass(*render_pass_, *framebuffers_[*index], {{}, extent_});
  commands.beginRenderPass(pass, vk::SubpassContents::eInline, dispatcher);
  inside(commands);
  commands.endRenderPass(dispatcher);
  if (pixels) {
    const ImageUse is_read{Stage::eTransfer, Use::eTransferRead, Layout::eTransferSrcOptimal};
    transition(*this, commands, image,
               {Stage::eColorAttachmentOutput, Use::eColorAttachmentWrite, Layout::ePresentSrcKHR}, is_read);
    const vk::BufferImageCopy whole(0, 0, 0, {vk::ImageAspectFlagBits::eColor, 0, 0, 1}, {},
                                    {extent_.width, extent_.height, 1});
    commands.copyImageToBuffer(image, Layout::eTransferSrcOptimal, *pixels->buffer, whole, dispatcher);
    transition(*this, commands, image, is_read, is_presented);
    commands.pipelineBarrier(Stage::eTransfer, Stage::eHost, {},
                             vk::MemoryBarrier(Use::eTransferWrite, Use::eHostRead), {}, {}, dispatcher);
  }
  commands.writeTimestamp(Stage::eBottomOfPipe, *frame.times, 1, dispatcher);
  commands.end(dispatcher);

  device_.resetFences(*frame.done);
  constexpr vk::PipelineStageFlags at = Stage::eTransfer;
  submit(vk::SubmitInfo(*frame.acquired, at, commands, *rendered_[*index]), *frame.done);
  frame.is_used = true;
  if (pixels) wait(*frame.done);
  present(*index);
  return true;
}

void Graphics::present(uint32_t image) {
  const vk::PresentInfoKHR info(*rendered_[image], *swapchain_, image);
  VkResult result = VK_SUCCESS;
  {
    const std::lock_guard lock(queue_mutex_);
    const VkPresentInfoKHR& plain = info;
    result = device_.getDispatcher()->vkQueuePresentKHR(*queue_, &plain);
  }
  if (result == VK_ERROR_OUT_OF_DATE_KHR || result == VK_SUBOPTIMAL_KHR) make_swapchain();
}

std::optional<io::Image> Graphics::screenshot(const std::function<void(vk::CommandBuffer, vk::Image)>& below,
                                              const std::function<void(vk::CommandBuffer)>& inside) {
  const vk::Extent2D size = extent_;
  const AppBuffer pixels(*this, vk::DeviceSize{4} * size.width * size.height,
                         vk::BufferUsageFlagBits::eTransferDst, true);
  if (!draw(below, inside, &pixels)) return std::nullopt;
  io::Image image = io::make_image(static_cast<int>(size.width), static_cast<int>(size.height));
  const bool bgra = format_.format == vk::Format::eB8G8R8A8Unorm;
  for (size_t i = 0; i < image.rgb.size() / 3; ++i)
    for (size_t c = 0; c < 3; ++c)
      image.rgb[3 * i + c] = static_cast<uint8_t>(pixels.data[4 * i + (bgra ? 2 - c : c)]);
  return image;
}

}  // namespace vellum::samples

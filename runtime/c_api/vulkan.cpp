// The application's device and command buffers, for C.
#include "vellum/vulkan.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "c_api/support.hpp"
#include "vellum/vellum_vulkan.h"

struct vellum_vulkan_requirements {
  vellum::DeviceRequirements requirements;
};

struct vellum_recording {
  vellum::Recording recording;
};

using vellum::c_api::given_or_default;
using vellum::c_api::guarded;
using vellum::c_api::require;
using vellum::c_api::write_result;

namespace {

vellum_vulkan_device vulkan_device_defaults() noexcept {
  vellum_vulkan_device device{};
  device.size = sizeof device;
  return device;
}

vellum::VulkanPhysicalDevice to_cpp(const vellum_vulkan_physical_device& device) {
  return {device.get_instance_proc_addr, device.instance, device.api_version, device.physical_device};
}

vellum::VulkanQueue to_cpp(const vellum_vulkan_queue& queue) {
  vellum::VulkanQueue converted{queue.queue, queue.family};
  if (queue.lock) converted.lock = [lock = queue.lock, user = queue.user] { lock(user); };
  if (queue.unlock) converted.unlock = [unlock = queue.unlock, user = queue.user] { unlock(user); };
  return converted;
}

vellum::VulkanDevice to_cpp(const vellum_vulkan_device& device) {
  vellum::VulkanDevice converted;
  converted.physical = to_cpp(device.physical);
  converted.device = device.device;
  converted.compute = to_cpp(device.compute);
  if (device.transfer) converted.transfer = to_cpp(*device.transfer);
  if (device.extension_count) require(device.extensions, "extensions");
  converted.extensions = {device.extensions, device.extension_count};
  converted.features = device.features;
  converted.allocation_callbacks = device.allocation_callbacks;
  if (device.allocate_memory)
    converted.memory.allocate = [allocate = device.allocate_memory, user = device.memory_user](
                                    VkDeviceSize bytes, uint32_t type, VkDeviceSize alignment) {
      const vellum_device_memory memory = allocate(user, bytes, type, alignment);
      return vellum::DeviceMemory{memory.memory, memory.offset, memory.mapped};
    };
  if (device.free_memory)
    converted.memory.free = [free = device.free_memory,
                             user = device.memory_user](const vellum::DeviceMemory& memory) {
      const vellum_device_memory c_memory{memory.memory, memory.offset, memory.mapped};
      free(user, &c_memory);
    };
  return converted;
}

std::vector<vellum::BufferBinding> to_cpp(const vellum_buffer_binding* c_bindings, size_t count,
                                          const char* kind) {
  std::vector<vellum::BufferBinding> bindings;
  if (count) require(c_bindings, kind);
  for (size_t i = 0; i < count; ++i) {
    require(c_bindings[i].name, "the name of a binding");
    bindings.push_back({c_bindings[i].name, c_bindings[i].buffer, c_bindings[i].offset, c_bindings[i].bytes});
  }
  return bindings;
}

vellum_binding binding_defaults() noexcept {
  vellum_binding binding{};
  binding.size = sizeof binding;
  binding.layout = VK_IMAGE_LAYOUT_GENERAL;
  binding.owner = VK_QUEUE_FAMILY_IGNORED;
  return binding;
}

// The bindings of inputs or of outputs.
struct BindingLists {
  std::vector<vellum::BufferBinding> buffers;
  std::vector<vellum::ImageBinding> images;

  void add(const vellum_binding& binding) {
    require(binding.name, "the name of a binding");
    if (binding.buffer && binding.image)
      throw vellum::Error(vellum::ErrorCode::invalid_argument,
                          std::string("the binding of '") + binding.name + "' has a buffer and an image");
    if (binding.image) {
      images.push_back({binding.name, binding.image, binding.format, binding.external_format, binding.width,
                        binding.height, binding.layout, binding.mip_level, binding.array_layer,
                        binding.owner});
      return;
    }
    if (binding.stride_count) require(binding.strides, "strides");
    buffers.push_back({binding.name,
                       binding.buffer,
                       binding.offset,
                       binding.bytes,
                       {binding.strides, binding.stride_count},
                       binding.owner});
  }
};

// Callers that were compiled earlier have smaller elements.
BindingLists to_cpp(const vellum_binding* bindings, size_t count, const char* kind) {
  BindingLists lists;
  if (count) require(bindings, kind);
  const auto* next = reinterpret_cast<const std::byte*>(bindings);
  for (size_t i = 0; i < count; ++i, next += bindings->size) {
    const auto* binding = reinterpret_cast<const vellum_binding*>(next);
    if (binding->size != bindings->size)
      throw vellum::Error(vellum::ErrorCode::invalid_argument,
                          std::string("the bindings of ") + kind +
                              " have different sizes; fill them with vellum_binding_init()");
    lists.add(given_or_default(binding, binding_defaults()));
  }
  return lists;
}

std::vector<vellum::SemaphoreValue> to_cpp(const vellum_semaphore* c_semaphores, size_t count,
                                           const char* kind) {
  std::vector<vellum::SemaphoreValue> semaphores;
  if (count) require(c_semaphores, kind);
  for (size_t i = 0; i < count; ++i) {
    semaphores.push_back({c_semaphores[i].semaphore});
    if (c_semaphores[i].is_timeline) semaphores.back().value = c_semaphores[i].value;
  }
  return semaphores;
}

vellum_buffer_layout to_c(const vellum::BufferLayout& layout) {
  return {0, static_cast<vellum_dtype>(layout.element), layout.bytes, layout.alignment, layout.usage};
}

// `layout_of`: Session::input_buffer or output_buffer.
vellum_status write_layout(const vellum_session* session, const char* name, vellum_buffer_layout* layout,
                           vellum_error* error,
                           vellum::BufferLayout (vellum::Session::*layout_of)(std::string_view) const) {
  return guarded(error, [&] {
    require(session, "session");
    require(name, "name");
    write_result(layout, to_c((session->session.*layout_of)(name)), "layout");
  });
}

}  // namespace

vellum_status vellum_vulkan_requirements_create(const vellum_vulkan_physical_device* device,
                                                vellum_vulkan_requirements** requirements,
                                                vellum_error* error) {
  if (requirements) *requirements = nullptr;
  return guarded(error, [&] {
    require(device, "device");
    require(requirements, "requirements");
    *requirements = new vellum_vulkan_requirements{vellum::Device::requirements(to_cpp(*device))};
  });
}

void vellum_vulkan_requirements_destroy(vellum_vulkan_requirements* requirements) { delete requirements; }

size_t vellum_vulkan_requirements_use_count(const vellum_vulkan_requirements* requirements) {
  return requirements ? requirements->requirements.uses().size() : 0;
}

vellum_status vellum_vulkan_requirements_use(const vellum_vulkan_requirements* requirements, size_t index,
                                             vellum_vulkan_use* use, vellum_error* error) {
  return guarded(error, [&] {
    require(requirements, "requirements");
    const std::vector<vellum::DeviceUse>& uses = requirements->requirements.uses();
    if (index >= uses.size())
      throw vellum::Error(
          vellum::ErrorCode::invalid_argument,
          "there is no use " + std::to_string(index) + "; there are " + std::to_string(uses.size()));
    const vellum::DeviceUse& found = uses[index];
    write_result(use,
                 {0, found.purpose.c_str(), found.required, found.extensions.data(), found.extensions.size(),
                  found.features.data(), found.features.size()},
                 "use");
  });
}

const char* const* vellum_vulkan_requirements_extensions(const vellum_vulkan_requirements* requirements,
                                                         size_t* count) {
  if (count) *count = requirements ? requirements->requirements.extensions().size() : 0;
  return requirements ? requirements->requirements.extensions().data() : nullptr;
}

void* vellum_vulkan_requirements_enable_features(const vellum_vulkan_requirements* requirements,
                                                 void* chain) {
  void* head = nullptr;
  guarded(nullptr, [&] {
    require(requirements, "requirements");
    head = requirements->requirements.enable_features(chain);
  });
  return head;
}

uint32_t vellum_vulkan_requirements_compute_family(const vellum_vulkan_requirements* requirements) {
  return requirements ? requirements->requirements.compute_family() : 0;
}

uint32_t vellum_vulkan_requirements_transfer_family(const vellum_vulkan_requirements* requirements) {
  return requirements ? requirements->requirements.transfer_family().value_or(VK_QUEUE_FAMILY_IGNORED)
                      : VK_QUEUE_FAMILY_IGNORED;
}

void vellum_vulkan_device_init_sized(vellum_vulkan_device* device, size_t size) {
  vellum::c_api::write_defaults(device, size, vulkan_device_defaults());
}

void(vellum_vulkan_device_init)(vellum_vulkan_device* device) {
  constexpr size_t end = offsetof(vellum_vulkan_device, allocation_callbacks) + sizeof(void*);
  vellum::c_api::write_defaults(device, vellum::c_api::size_that_ends_at<vellum_vulkan_device>(end),
                                vulkan_device_defaults());
}

vellum_status vellum_device_adopt(const vellum_vulkan_device* device, const vellum_device_options* options,
                                  vellum_device** adopted, vellum_error* error) {
  if (adopted) *adopted = nullptr;
  return guarded(error, [&] {
    require(device, "device");
    require(adopted, "adopted");
    const vellum::Device made = vellum::Device::adopt(
        to_cpp(given_or_default(device, vulkan_device_defaults())), vellum::c_api::device_options(options));
    *adopted = new vellum_device{made, made.info()};
  });
}

vellum_status vellum_session_input_buffer(const vellum_session* session, const char* name,
                                          vellum_buffer_layout* layout, vellum_error* error) {
  return write_layout(session, name, layout, error, &vellum::Session::input_buffer);
}

vellum_status vellum_session_output_buffer(const vellum_session* session, const char* name,
                                           vellum_buffer_layout* layout, vellum_error* error) {
  return write_layout(session, name, layout, error, &vellum::Session::output_buffer);
}

vellum_status vellum_session_bind(vellum_session* session, const vellum_buffer_binding* inputs,
                                  size_t input_count, const vellum_buffer_binding* outputs,
                                  size_t output_count, vellum_recording** recording, vellum_error* error) {
  if (recording) *recording = nullptr;
  return guarded(error, [&] {
    require(session, "session");
    require(recording, "recording");
    *recording = new vellum_recording{session->session.bind(to_cpp(inputs, input_count, "inputs"),
                                                            to_cpp(outputs, output_count, "outputs"))};
  });
}

void vellum_binding_init_sized(vellum_binding* binding, size_t size) {
  vellum::c_api::write_defaults(binding, size, binding_defaults());
}

void(vellum_binding_init)(vellum_binding* binding) {
  constexpr size_t end = offsetof(vellum_binding, owner) + sizeof(binding->owner);
  vellum::c_api::write_defaults(binding, vellum::c_api::size_that_ends_at<vellum_binding>(end),
                                binding_defaults());
}

vellum_status vellum_session_bind_all(vellum_session* session, const vellum_binding* inputs,
                                      size_t input_count, const vellum_binding* outputs, size_t output_count,
                                      vellum_recording** recording, vellum_error* error) {
  if (recording) *recording = nullptr;
  return guarded(error, [&] {
    require(session, "session");
    require(recording, "recording");
    const BindingLists in = to_cpp(inputs, input_count, "inputs"),
                       out = to_cpp(outputs, output_count, "outputs");
    *recording = new vellum_recording{session->session.bind({.inputs = in.buffers,
                                                             .outputs = out.buffers,
                                                             .input_images = in.images,
                                                             .output_images = out.images})};
  });
}

vellum_status vellum_recording_record(const vellum_recording* recording, VkCommandBuffer commands,
                                      vellum_error* error) {
  return guarded(error, [&] {
    require(recording, "recording");
    recording->recording.record(commands);
  });
}

vellum_status vellum_recording_submit(const vellum_recording* recording, const vellum_semaphore* wait,
                                      size_t wait_count, const vellum_semaphore* signal, size_t signal_count,
                                      vellum_error* error) {
  return guarded(error, [&] {
    require(recording, "recording");
    const std::vector<vellum::SemaphoreValue> waits = to_cpp(wait, wait_count, "wait"),
                                              signals = to_cpp(signal, signal_count, "signal");
    recording->recording.submit({.wait = waits, .signal = signals});
  });
}

vellum_status vellum_recording_run(const vellum_recording* recording, const vellum_semaphore* wait,
                                   size_t wait_count, const vellum_semaphore* signal, size_t signal_count,
                                   vellum_error* error) {
  return guarded(error, [&] {
    require(recording, "recording");
    const std::vector<vellum::SemaphoreValue> waits = to_cpp(wait, wait_count, "wait"),
                                              signals = to_cpp(signal, signal_count, "signal");
    recording->recording.run({.wait = waits, .signal = signals});
  });
}

vellum_status vellum_session_submit_after(vellum_session* session, const vellum_input_values* inputs,
                                          size_t input_count, const vellum_output_values* outputs,
                                          size_t output_count, const vellum_semaphore* wait,
                                          size_t wait_count, const vellum_semaphore* signal,
                                          size_t signal_count, vellum_run** run, vellum_error* error) {
  if (run) *run = nullptr;
  return guarded(error, [&] {
    require(session, "session");
    require(run, "run");
    const std::vector<vellum::SemaphoreValue> waits = to_cpp(wait, wait_count, "wait"),
                                              signals = to_cpp(signal, signal_count, "signal");
    auto made = std::make_unique<vellum_run>();
    made->run = session->session.submit(vellum::c_api::input_values(inputs, input_count),
                                        vellum::c_api::output_values(outputs, output_count),
                                        vellum::SubmitSemaphores{.wait = waits, .signal = signals});
    *run = made.release();
    session->has_run = true;
  });
}

void vellum_recording_destroy(vellum_recording* recording) { delete recording; }

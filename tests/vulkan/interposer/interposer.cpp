#include "vulkan/interposer.hpp"

#include <string_view>

#include "vulkan/interposer/state.hpp"
#include "vulkan/loader.hpp"

namespace vellum::test {
namespace {

using interposed::state;

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_function(VkDevice device, const char* name) {
  const std::string_view wanted(name);
  if (wanted == "vkGetDeviceProcAddr") return reinterpret_cast<PFN_vkVoidFunction>(get_device_function);
  if (const auto found = interposed::memory_function(device, wanted)) return found;
  if (const auto found = interposed::queue_function(device, wanted)) return found;
  if (const auto found = interposed::shader_function(device, wanted)) return found;
  if (const auto found = interposed::second_queue_family_function(wanted)) return found;
  if (const auto found = interposed::counting_function(device, wanted)) return found;
  return state().device_function(device, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_function(VkInstance instance, const char* name) {
  const std::string_view wanted(name);
  if (instance) state().instance = instance;
  if (wanted == "vkGetInstanceProcAddr") return reinterpret_cast<PFN_vkVoidFunction>(get_instance_function);
  if (wanted == "vkEnumerateInstanceVersion" && state().version_hidden) return nullptr;
  if (wanted == "vkGetDeviceProcAddr") {
    state().device_function =
        reinterpret_cast<PFN_vkGetDeviceProcAddr>(state().instance_function(instance, "vkGetDeviceProcAddr"));
    return reinterpret_cast<PFN_vkVoidFunction>(get_device_function);
  }
  if (const auto found = interposed::memory_instance_function(wanted)) return found;
  if (const auto found = interposed::device_instance_function(wanted)) return found;
  if (const auto found = interposed::second_queue_family_function(wanted)) return found;
  return state().instance_function(instance, name);
}

}  // namespace

Interposer::Interposer() {
  state().loader = open_vulkan_loader();
  state().instance_function =
      reinterpret_cast<PFN_vkGetInstanceProcAddr>(state().loader.symbol("vkGetInstanceProcAddr"));
}

Interposer::~Interposer() { interposed::reset_state(); }

PFN_vkGetInstanceProcAddr Interposer::get_instance_proc_addr() const { return get_instance_function; }

uint32_t Interposer::instances_made() const { return state().instances_made; }
uint32_t Interposer::devices_made() const { return state().devices_made; }
uint32_t Interposer::maps() const { return state().maps; }
uint32_t Interposer::waits() const { return state().waits; }

uint64_t Interposer::allocated_bytes() const {
  const std::lock_guard lock(state().mutex);
  return state().bytes;
}

uint64_t Interposer::peak_bytes() const {
  const std::lock_guard lock(state().mutex);
  return state().peak_bytes;
}

void Interposer::reset_peak() {
  const std::lock_guard lock(state().mutex);
  state().peak_bytes = state().bytes;
}

uint32_t Interposer::allocations() const {
  const std::lock_guard lock(state().mutex);
  return static_cast<uint32_t>(state().allocations.size());
}

std::vector<uint32_t> Interposer::submitted_dispatches() const {
  const std::lock_guard lock(state().mutex);
  return state().submitted_dispatches;
}

std::vector<std::string> Interposer::labels() const {
  const std::lock_guard lock(state().mutex);
  return state().labels;
}

std::vector<std::string> Interposer::object_names() const {
  const std::lock_guard lock(state().mutex);
  return state().object_names;
}

uint32_t Interposer::pipelines_made() const { return state().pipelines_made; }

uint32_t Interposer::objects_made() const { return state().objects_made; }

void Interposer::fail_allocations_after(uint32_t successes) { state().allocations_left = successes; }
void Interposer::fail_submits_after(uint32_t successes) { state().submits_left = successes; }
void Interposer::lose_device() { state().device_lost = true; }
void Interposer::find_device() { state().device_lost = false; }
void Interposer::multiply_timestamps(uint64_t factor) { state().tick_factor = factor; }
void Interposer::delay_queries(uint32_t calls) { state().late_queries = calls; }
void Interposer::hide_devices() { state().devices_hidden = true; }
void Interposer::hide_drivers() { state().drivers_hidden = true; }
void Interposer::make_portability_device() { state().portability_device = true; }
void Interposer::offer_global_priority() { state().offers_global_priority = true; }
VkQueueGlobalPriorityKHR Interposer::global_priority() const { return state().global_priority; }
void Interposer::hide_device_extensions() { state().extensions_hidden = true; }
void Interposer::hide_instance_version() { state().version_hidden = true; }
void Interposer::miscompile(std::string name) { state().miscompiled_name = std::move(name); }
uint32_t Interposer::miscompiled() const { return state().miscompiled; }
void Interposer::skip_dispatches() { state().dispatches_skipped = true; }
void Interposer::fill_mapped_heap() { state().mapped_heap_full = true; }
void Interposer::split_memory() { state().memory_split = true; }
void Interposer::add_transfer_queue() { state().transfer_queue = true; }
uint32_t Interposer::submits() const { return state().submits; }
uint32_t Interposer::waiting_submits() const { return state().waiting_submits; }
void Interposer::hide_coherent_memory() { state().coherent_hidden = true; }
const std::vector<VkMappedMemoryRange>& Interposer::synchronised_ranges() const { return state().ranges; }

}  // namespace vellum::test

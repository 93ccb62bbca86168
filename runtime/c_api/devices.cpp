// Devices and their properties, for C.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "c_api/support.hpp"
#include "platform/utf8_path.hpp"

struct vellum_device_list {
  std::vector<vellum::DeviceInfo> devices;
};

using vellum::c_api::guarded;
using vellum::c_api::make_text;
using vellum::c_api::require;
using vellum::c_api::require_index;
using vellum::c_api::write_result;

namespace {

void write_info(const vellum::DeviceInfo& device, vellum_device_info* info) {
  vellum_device_info found{};
  found.name = device.name.c_str();
  found.type = device.type.c_str();
  found.driver = device.driver.c_str();
  found.api_version = device.api_version.c_str();
  std::ranges::copy(device.uuid, found.uuid);
  found.index = device.index;
  found.vendor_id = device.vendor_id;
  found.device_id = device.device_id;
  found.fp16_arithmetic = device.fp16_arithmetic;
  found.timestamp_period_ns = device.timestamp_period_ns;
  found.luid_known = device.luid.has_value();
  if (device.luid) std::ranges::copy(*device.luid, found.luid);
  found.subgroup_size = device.subgroup_size;
  found.preferred_storage = device.preferred_storage.c_str();
  found.cooperative_matrices = device.cooperative_matrices.c_str();
  found.max_image_dimension_2d = device.max_image_dimension_2d;
  found.max_image_dimension_3d = device.max_image_dimension_3d;
  found.max_storage_buffer_range = device.max_storage_buffer_range;
  write_result(info, found, "info");
}

}  // namespace

vellum_status vellum_device_list_create(vellum_device_list** list, vellum_error* error) {
  if (list) *list = nullptr;
  return guarded(error, [&] {
    require(list, "list");
    auto made = std::make_unique<vellum_device_list>(vellum_device_list{vellum::devices()});
    *list = made.release();
  });
}

void vellum_device_list_destroy(vellum_device_list* list) { delete list; }

size_t vellum_device_list_count(const vellum_device_list* list) { return list ? list->devices.size() : 0; }

vellum_status vellum_device_list_get(const vellum_device_list* list, size_t index, vellum_device_info* info,
                                     vellum_error* error) {
  return guarded(error, [&] {
    require(list, "list");
    require_index(index, list->devices.size(), "device");
    write_info(list->devices[index], info);
  });
}

vellum_status vellum_device_open(const vellum_device_options* options, vellum_device** device,
                                 vellum_error* error) {
  if (device) *device = nullptr;
  return guarded(error, [&] {
    require(device, "device");
    vellum::Device opened = vellum::Device::open(vellum::c_api::device_options(options));
    vellum::DeviceInfo info = opened.info();
    *device = new vellum_device{std::move(opened), std::move(info)};
  });
}

void vellum_device_destroy(vellum_device* device) { delete device; }

vellum_status vellum_device_get_info(const vellum_device* device, vellum_device_info* info,
                                     vellum_error* error) {
  return guarded(error, [&] {
    require(device, "device");
    write_info(device->info, info);
  });
}

vellum_status vellum_device_uuid(const vellum_device* device, uint8_t uuid[16], vellum_error* error) {
  return guarded(error, [&] {
    require(device, "device");
    require(uuid, "uuid");
    std::ranges::copy(device->info.uuid, uuid);
  });
}

const char* vellum_device_name(const vellum_device* device) {
  return device ? device->info.name.c_str() : "";
}

const char* vellum_device_driver(const vellum_device* device) {
  return device ? device->info.driver.c_str() : "";
}

uint64_t vellum_device_validation_messages(const vellum_device* device) {
  return device ? device->device.validation_messages() : 0;
}

void vellum_uuid_text(const uint8_t uuid[16], char text[37]) {
  if (!text) return;
  text[0] = 0;
  guarded(nullptr, [&] {
    require(uuid, "uuid");
    vellum::DeviceUuid id;
    std::copy_n(uuid, id.size(), id.begin());
    const std::string written = vellum::uuid_text(id);
    std::memcpy(text, written.c_str(), std::min(written.size() + 1, size_t{37}));
  });
}

vellum_status vellum_device_caps(const vellum_device* device, vellum_text** caps, vellum_error* error) {
  return make_text(caps, error, [&] { return vellum::c_api::caps_of(device, nullptr).json(); });
}

vellum_status vellum_default_cache_folder(vellum_text** folder, vellum_error* error) {
  return make_text(folder, error, [] { return vellum::platform::to_utf8(vellum::default_cache_folder()); });
}

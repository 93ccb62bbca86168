// The list of devices and their properties, for C.
#include <algorithm>
#include <memory>

#include "api/c_api_support.hpp"

struct vellum_device_list {
  std::vector<vellum::DeviceInfo> devices;
};

using vellum::Error;
using vellum::ErrorCode;
using vellum::c_api::guarded;
using vellum::c_api::require;
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
    if (index >= list->devices.size())
      throw Error(ErrorCode::invalid_argument, "there is no device " + std::to_string(index) +
                                                   "; there are " + std::to_string(list->devices.size()));
    write_info(list->devices[index], info);
  });
}

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

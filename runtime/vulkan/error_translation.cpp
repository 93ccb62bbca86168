#include "vulkan/error_translation.hpp"

namespace vellum::gpu {
namespace {

ErrorCode code_of(vk::Result result) {
  switch (result) {
    case vk::Result::eErrorOutOfHostMemory:
    case vk::Result::eErrorOutOfDeviceMemory:
    case vk::Result::eErrorTooManyObjects:
    case vk::Result::eErrorOutOfPoolMemory:
    case vk::Result::eErrorFragmentedPool:
    case vk::Result::eErrorMemoryMapFailed:
      return ErrorCode::out_of_memory;
    case vk::Result::eErrorDeviceLost:
      return ErrorCode::device_lost;
    case vk::Result::eErrorInitializationFailed:
    case vk::Result::eErrorIncompatibleDriver:
    case vk::Result::eErrorLayerNotPresent:
    case vk::Result::eErrorExtensionNotPresent:
      return ErrorCode::no_device;
    case vk::Result::eErrorFeatureNotPresent:
    case vk::Result::eErrorFormatNotSupported:
      return ErrorCode::unsupported;
    case vk::Result::eErrorInvalidExternalHandle:
      return ErrorCode::invalid_argument;
    default:
      return ErrorCode::internal;
  }
}

}  // namespace

Error translate(const vk::SystemError& error, std::string_view what) {
  const auto result = static_cast<vk::Result>(error.code().value());
  // The function's name and the result's. Users know Vulkan-Hpp's functions without Vellum's namespace.
  std::string said = error.what();
  constexpr std::string_view own = "vellum_vk::";
  if (said.starts_with(own)) said.replace(0, own.size(), "vk::");
  return Error(code_of(result), std::string(what) + ": Vulkan says " + said);
}

}  // namespace vellum::gpu

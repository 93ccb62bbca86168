#include "data_transfer.hpp"

#include <cstring>
#include <memory>
#include <utility>

namespace vellum::ort {
namespace {

// The host can read and write device tensors, and each run flushes what it binds: memcpy() is enough.
void copy(const OrtValue& source, OrtValue& target) {
  const auto bytes = get<size_t>(api().GetTensorSizeInBytes, &source);
  if (get<size_t>(api().GetTensorSizeInBytes, const_cast<const OrtValue*>(&target)) != bytes)
    throw Error(ErrorCode::invalid_argument, "a copy of tensors needs two of the same size");
  if (bytes > 0)
    std::memcpy(get<void*>(api().GetTensorMutableData, &target),
                get<const void*>(api().GetTensorData, &source), bytes);
}

struct DataTransfer : OrtDataTransferImpl {
  explicit DataTransfer(std::function<bool(const OrtMemoryDevice&)> owns)
      : OrtDataTransferImpl{}, is_own(std::move(owns)) {
    ort_version_supported = kApiVersion;
    Release = [](OrtDataTransferImpl* self) noexcept { delete static_cast<DataTransfer*>(self); };
    CanCopy = [](const OrtDataTransferImpl* self, const OrtMemoryDevice* source,
                 const OrtMemoryDevice* target) noexcept {
      const auto* transfer = static_cast<const DataTransfer*>(self);
      const auto on_host = [](const OrtMemoryDevice& memory) {
        return ep_api().MemoryDevice_GetDeviceType(&memory) == OrtMemoryInfoDeviceType_CPU;
      };
      try {
        const bool own_source = transfer->is_own(*source), own_target = transfer->is_own(*target);
        return (own_source && own_target) || (own_source && on_host(*target)) ||
               (on_host(*source) && own_target);
      } catch (...) {
        return false;
      }
    };
    CopyTensors = [](OrtDataTransferImpl*, const OrtValue** sources, OrtValue** targets, OrtSyncStream**,
                     size_t count) noexcept -> OrtStatus* {
      return guarded([&] {
        for (size_t i = 0; i < count; ++i) copy(*sources[i], *targets[i]);
      });
    };
  }

  const std::function<bool(const OrtMemoryDevice&)> is_own;
};

}  // namespace

OrtDataTransferImpl* make_data_transfer(std::function<bool(const OrtMemoryDevice&)> is_own) {
  return std::make_unique<DataTransfer>(std::move(is_own)).release();
}

}  // namespace vellum::ort

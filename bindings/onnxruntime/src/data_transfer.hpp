// Copies of tensors between host memory and device tensors (device_memory.hpp).
#pragma once

#include <functional>

#include "runtime_api.hpp"

namespace vellum::ort {

// Returns an object that the runtime releases. is_own: whether memory is a device tensor's.
OrtDataTransferImpl* make_data_transfer(std::function<bool(const OrtMemoryDevice&)> is_own);

}  // namespace vellum::ort

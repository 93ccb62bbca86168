// The only exception type that Vellum throws.
#pragma once

#include <stdexcept>
#include <string>

#include "vellum/export.h"

namespace vellum {

enum class ErrorCode {
  invalid_argument,  // an argument is invalid: wrong shape, unknown name, bad option
  not_found,         // a file, device or input does not exist
  io,                // reading or writing failed: permission, full disk
  corrupt_model,     // the model file is truncated or contradicts itself
  unsupported,       // a valid model or option that Vellum cannot run; the message names the operator
  no_device,         // no Vulkan loader, driver or usable device
  out_of_memory,     // host or device memory
  device_lost,       // the device stopped answering
  internal,          // a bug in Vellum
  // The caller cancelled: by Run::cancel() or SessionCreation::cancel(), or a callback of the application
  // returned false or threw. The message has the text of the exception.
  cancelled
};

// what() is one line. It names the cause (file, operator, tensor) and the remedy, if there is one. Control
// characters in names are replaced by spaces. Messages longer than 2000 bytes are shortened in the middle.
class VELLUM_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message);
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

VELLUM_API const char* to_string(ErrorCode code) noexcept;

}  // namespace vellum

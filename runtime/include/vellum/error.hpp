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
  // The caller ended it: Run::cancel(), SessionCreation::cancel(), or a function of the application's that
  // Vellum called, which returned false or threw; the message has the text of what it threw.
  cancelled
};

// what() is one line that names the cause (file, operator, tensor) and the remedy, if there is one. Control
// characters of names in it become spaces, and of messages beyond 2000 bytes the middle is left out.
class VELLUM_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message);
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

VELLUM_API const char* to_string(ErrorCode code) noexcept;

}  // namespace vellum

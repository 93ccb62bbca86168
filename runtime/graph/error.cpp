#include "vellum/error.hpp"

namespace vellum {

const char* to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid argument";
    case ErrorCode::not_found:
      return "not found";
    case ErrorCode::io:
      return "input/output error";
    case ErrorCode::corrupt_model:
      return "corrupt model";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::no_device:
      return "no device";
    case ErrorCode::out_of_memory:
      return "out of memory";
    case ErrorCode::device_lost:
      return "device lost";
    case ErrorCode::internal:
      return "internal error";
  }
  return "unknown error";
}

}  // namespace vellum

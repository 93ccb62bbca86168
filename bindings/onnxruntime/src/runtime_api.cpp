#include "runtime_api.hpp"

#include <cstdio>

namespace vellum::ort {
namespace {

const OrtApi* the_api = nullptr;
const OrtEpApi* the_ep_api = nullptr;
uint32_t the_version = kApiVersion;

OrtErrorCode code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return ORT_INVALID_ARGUMENT;
    case ErrorCode::not_found:
      return ORT_NOT_FOUND;
    case ErrorCode::unsupported:
      return ORT_NOT_IMPLEMENTED;
    case ErrorCode::corrupt_model:
      return ORT_INVALID_GRAPH;
    case ErrorCode::device_lost:
      return ORT_DEVICE_RESET;
    case ErrorCode::no_device:
      return ORT_ENGINE_ERROR;
    case ErrorCode::io:
    case ErrorCode::out_of_memory:
    case ErrorCode::internal:
    case ErrorCode::cancelled:
      break;
  }
  return ORT_EP_FAIL;
}

}  // namespace

const OrtApi& api() { return *the_api; }
const OrtEpApi& ep_api() { return *the_ep_api; }

uint32_t supported_version() { return the_version; }

void set_api(const OrtApiBase& base) {
  const OrtApi* found = base.GetApi(kApiVersion);
  if (!found)
    throw Error(ErrorCode::unsupported,
                std::string("Vellum's execution provider needs ONNX Runtime 1.24 or later; this is ") +
                    base.GetVersionString());
  // The runtime writes a line to its log for a version that it does not have.
  int major = 0, minor = 0;
  std::sscanf(base.GetVersionString(), "%d.%d", &major, &minor);
  the_version = major > 1 || minor >= static_cast<int>(kProfilerVersion) ? kProfilerVersion : kApiVersion;
  the_api = found;
  the_ep_api = found->GetEpApi();
}

void check(OrtStatus* status) {
  if (!status) return;
  const std::string message = api().GetErrorMessage(status);
  const ErrorCode code =
      api().GetErrorCode(status) == ORT_INVALID_ARGUMENT ? ErrorCode::invalid_argument : ErrorCode::internal;
  api().ReleaseStatus(status);
  throw Error(code, "ONNX Runtime: " + message);
}

// A host that is out of memory gets the message without its prefix.
OrtStatus* to_status(const Error& error) noexcept {
  const std::string_view prefix = "Vellum: ";
  try {
    return api().CreateStatus(code_of(error.code()), (std::string(prefix) + error.what()).c_str());
  } catch (...) {
    return api().CreateStatus(code_of(error.code()), error.what());
  }
}

void log_line(const OrtLogger* logger, const std::string& line) noexcept {
  if (!logger) return;
#ifdef _WIN32
  const wchar_t* file = L"vellum_onnxruntime";
#else
  const char* file = "vellum_onnxruntime";
#endif
  OrtStatus* status =
      api().Logger_LogMessage(logger, ORT_LOGGING_LEVEL_INFO, line.c_str(), file, 0, "Vellum");
  if (status) api().ReleaseStatus(status);
}

}  // namespace vellum::ort

// Helpers of the C interface: handles, and the translation of exceptions to a status.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include "vellum/vellum.h"
#include "vellum/vellum.hpp"

struct vellum_device {
  vellum::Device device;
  vellum::DeviceInfo info;
};

struct vellum_model {
  vellum::Model model;
};

struct vellum_session {
  vellum::Session session;
  vellum::MemoryReport memory;
  std::vector<std::vector<const char*>> object_tensors;  // pointers into `memory`
  std::vector<vellum::LayerTime> layers;
  bool profile;
  std::vector<vellum::Shape> shapes;  // of the inputs, when `memory` was read

  void refresh();
};

namespace vellum::c_api {

vellum_status fail(vellum_error* error, ErrorCode code, const char* message) noexcept;

template <typename Function>
vellum_status guarded(vellum_error* error, Function&& function) noexcept {
  try {
    function();
    return VELLUM_OK;
  } catch (const Error& thrown) {
    return fail(error, thrown.code(), thrown.what());
  } catch (const std::bad_alloc&) {
    return fail(error, ErrorCode::out_of_memory, "the host is out of memory");
  } catch (const std::exception& thrown) {
    return fail(error, ErrorCode::internal, thrown.what());
  }
}

inline void require(const void* pointer, const char* what) {
  if (!pointer) throw Error(ErrorCode::invalid_argument, std::string(what) + " is NULL");
}

// Converts an enumeration whose values begin at 0 and end with `last`.
template <typename Choice>
Choice checked_choice(int value, int last, const char* option) {
  if (value < 0 || value > last)
    throw Error(ErrorCode::invalid_argument, std::string(option) + " has no value " + std::to_string(value));
  return static_cast<Choice>(value);
}

// The caller may have been compiled with an older and shorter struct, or a newer and longer one.
template <typename Options>
Options given_or_default(const Options* given, const Options& defaults) {
  Options options = defaults;
  if (!given) return options;
  if (given->size < sizeof(size_t) + sizeof(void*))
    throw Error(ErrorCode::invalid_argument,
                "the options' size is not set; fill them with their _init function");
  std::memcpy(&options, given, std::min(given->size, sizeof(Options)));
  return options;
}

// Writes as much of a result as the caller's struct has.
template <typename Result>
void write_result(Result* to, Result result, const char* name) {
  require(to, name);
  if (to->size < sizeof(size_t) + sizeof(void*))
    throw Error(ErrorCode::invalid_argument,
                std::string(name) + ": its size is not set; set it to the size of the struct");
  result.size = std::min(to->size, sizeof(Result));
  std::memcpy(to, &result, result.size);
}

std::filesystem::path utf8_path(const char* text);
// Writes the info of one of a model's or session's inputs or outputs. kind: "input" or "output".
void write_tensor_info(const std::vector<TensorInfo>& tensors, size_t index, const char* kind,
                       vellum_tensor_info* info);
vellum_session* new_session(Session session, bool profile);

// Convert C options; NULL means the defaults.
DeviceOptions device_options(const vellum_device_options* given);
SessionOptions session_options(const vellum_session_options* given);

}  // namespace vellum::c_api

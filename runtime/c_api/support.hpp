// Helpers of the C interface: handles, structs with a size, and the translation of exceptions to a status.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "vellum/caps.hpp"
#include "vellum/frame.hpp"
#include "vellum/picture.hpp"
#include "vellum/vellum.h"
#include "vellum/vellum.hpp"

struct vellum_frame_input;
struct vellum_picture_output;

struct vellum_text {
  std::string text;
};

struct vellum_device {
  vellum::Device device;
  vellum::DeviceInfo info;
};

struct vellum_model {
  vellum::Model model;
};

struct vellum_tensor {
  vellum::TensorInfo info;
  vellum::Tensor tensor;
};

struct vellum_memory_plan {
  explicit vellum_memory_plan(vellum::MemoryReport report);

  vellum::MemoryReport memory;
  std::vector<std::vector<const char*>> object_tensors;  // pointers into `memory`
};

struct vellum_session {
  vellum_session(vellum::Session made, bool has_profile) : session(std::move(made)), profile(has_profile) {}

  vellum::Session session;
  bool profile;
  std::atomic<bool> has_run = false;
  mutable std::vector<vellum::LayerTime> layers;  // set by read_layers()

  // Reads the times of the last run. Clears them before the first run and without `profile`.
  void read_layers() const {
    layers.clear();
    if (profile && has_run) layers = session.layer_times();
  }

  // Returns the plan for the current input shapes. It is read at the first call and kept until drop_plan(),
  // because the caller has pointers into it. Bytes that other sessions can change are updated by each call.
  const vellum_memory_plan& plan() const;
  void drop_plan() { plan_.reset(); }

 private:
  mutable std::unique_ptr<vellum_memory_plan> plan_;
  mutable std::vector<vellum::Shape> planned_shapes_;  // of the inputs, when `plan_` was read
};

struct vellum_memory_pool {
  vellum::MemoryPool pool;
};

struct vellum_run {
  vellum::Run run;
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

// Throws Error(invalid_argument) for an index out of range. `what`: the item's name in the message, "node".
inline void require_index(size_t index, size_t count, const char* what) {
  if (index >= count)
    throw Error(ErrorCode::invalid_argument, "there is no " + std::string(what) + " " +
                                                 std::to_string(index) + "; there are " +
                                                 std::to_string(count));
}

// Converts a C enumeration whose values are 0 to `last`. A C enumeration may hold any number, but in C++ it
// is undefined to read an enumeration that holds another value. Therefore the bytes are copied to an int.
template <typename Choice, typename Given>
Choice checked_choice(const Given& given, int last, const char* option) {
  static_assert(sizeof(Given) == sizeof(int));
  int value = 0;
  std::memcpy(&value, &given, sizeof value);
  if (value < 0 || value > last)
    throw Error(ErrorCode::invalid_argument, std::string(option) + " has no value " + std::to_string(value));
  return static_cast<Choice>(value);
}

// Returns the caller's options, with defaults for members that the caller's struct lacks. The caller may have
// been compiled with an older, shorter struct or a newer, longer one.
template <typename Options>
Options given_or_default(const Options* c_options, const Options& defaults) {
  Options options = defaults;
  if (!c_options) return options;
  if (c_options->size < sizeof(size_t) + sizeof(void*))
    throw Error(ErrorCode::invalid_argument,
                "the options' size is not set; fill them with their _init function");
  std::memcpy(&options, c_options, std::min(c_options->size, sizeof(Options)));
  return options;
}

// Writes the defaults to the caller's options, a struct of `size` bytes.
template <typename Options>
void write_defaults(Options* to, size_t size, Options defaults) noexcept {
  if (!to || size < sizeof(size_t)) return;
  defaults.size = std::min(size, sizeof(Options));
  std::memcpy(to, &defaults, defaults.size);
}

// Returns the size of an older version of a struct whose last member ended at `end`. The size includes the
// padding at the end, in which a member that was added later may be.
template <typename Struct>
constexpr size_t size_that_ends_at(size_t end) {
  return (end + alignof(Struct) - 1) / alignof(Struct) * alignof(Struct);
}

// Writes as many members of a result as fit the caller's struct.
template <typename Result>
void write_result(Result* to, Result result, const char* name) {
  require(to, name);
  if (to->size < sizeof(size_t) + sizeof(void*))
    throw Error(ErrorCode::invalid_argument,
                std::string(name) + ": its size is not set; set it to the size of the struct");
  result.size = std::min(to->size, sizeof(Result));
  std::memcpy(to, &result, result.size);
}

// Stores the string that `make` returns in a new vellum_text.
template <typename Make>
vellum_status make_text(vellum_text** text, vellum_error* error, Make&& make) noexcept {
  if (text) *text = nullptr;
  return guarded(error, [&] {
    require(text, "text");
    *text = new vellum_text{make()};
  });
}

// Returns the caps of the device. If `device` is NULL, parses `caps`, the text of a caps file. If both are
// NULL, returns the Android Baseline 2022 profile.
inline Caps caps_of(const vellum_device* device, const char* caps) {
  if (device) return Caps::of(device->device);
  return caps ? Caps::parse(caps, "the caps given") : Caps::android_baseline_2022();
}

// Calls a function with a const Device*, or if the device is NULL with caps_of(NULL, caps).
template <typename Function>
auto for_target(const vellum_device* device, const char* caps, Function&& function) {
  if (device) return function(&device->device);
  return function(caps_of(nullptr, caps));
}

// Writes the info of an input or output of a model or session. kind: "input" or "output".
void write_tensor_info(const std::vector<TensorInfo>& tensors, size_t index, const char* kind,
                       vellum_tensor_info* info);
void write_tensor_info(const TensorInfo& tensor, vellum_tensor_info* info);
// Returns the bytes of all values; 0 while a dimension is open.
size_t byte_size(const TensorInfo& info);
vellum_tensor* new_tensor(const char* name, Tensor tensor);

InputShapes input_shapes(const vellum_input_shape* c_shapes, size_t count);
InputTensors shape_values(const vellum_shape_values* values, size_t count);  // copies
std::vector<InputValues> input_values(const vellum_input_values* c_inputs, size_t count);
// Returns the caller's values as tensors, which borrow them.
std::map<std::string, Tensor> input_tensors(const Session& session, const vellum_input_values* inputs,
                                            size_t count);
std::vector<OutputValues> output_values(const vellum_output_values* c_outputs, size_t count);

// Converts the frames of an input. Throws Error(invalid_argument) for NULL.
FrameInput frame_input(const vellum_frame_input* c_frame);
PictureOutput picture_output(const vellum_picture_output* c_picture);

// Convert C options; NULL means the defaults.
DeviceOptions device_options(const vellum_device_options* options);
SessionOptions session_options(const vellum_session_options* options);

}  // namespace vellum::c_api

#include "caps/caps_json.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>

#include "vellum/error.hpp"

namespace vellum {
namespace {

using nlohmann::json;

constexpr int kVersion = 3;
constexpr const char* kVersionKey = "vellum_caps";
constexpr const char* kTypes[] = {"other", "integrated GPU", "discrete GPU", "virtual GPU", "CPU"};
constexpr size_t kMostBytes = 1 << 20;
constexpr uint64_t kMostProcessBytes = uint64_t{1} << 40;  // multiples of it stay far from overflow
constexpr uint64_t kMostAlignment = uint64_t{1} << 30;     // what is rounded up to it stays far from overflow

// The one list of fields, for writing and reading.
template <typename Caps, typename Visit>
void visit_fields(Caps& caps, Visit visit) {
#define VELLUM_FIELD(field) visit(#field, caps.field)
  VELLUM_FIELD(name);
  VELLUM_FIELD(driver);
  VELLUM_FIELD(type);
  VELLUM_FIELD(vendor_id);
  VELLUM_FIELD(device_id);
  VELLUM_FIELD(driver_version);
  VELLUM_FIELD(api_version);
  VELLUM_FIELD(pipeline_cache_uuid);
  VELLUM_FIELD(max_image_dimension_2d);
  VELLUM_FIELD(max_image_dimension_3d);
  VELLUM_FIELD(max_image_array_layers);
  VELLUM_FIELD(max_storage_images_per_stage);
  VELLUM_FIELD(max_storage_buffers_per_stage);
  VELLUM_FIELD(max_sampled_images_per_stage);
  VELLUM_FIELD(max_push_constant_bytes);
  VELLUM_FIELD(max_storage_buffer_range);
  VELLUM_FIELD(max_workgroup_invocations);
  VELLUM_FIELD(max_workgroup_size);
  VELLUM_FIELD(max_workgroup_count);
  VELLUM_FIELD(max_shared_memory_bytes);
  VELLUM_FIELD(max_texel_buffer_elements);
  VELLUM_FIELD(min_storage_buffer_offset_alignment);
  VELLUM_FIELD(min_texel_buffer_offset_alignment);
  VELLUM_FIELD(non_coherent_atom_size);
  VELLUM_FIELD(buffer_image_granularity);
  VELLUM_FIELD(max_allocation_bytes);
  VELLUM_FIELD(max_allocation_count);
  VELLUM_FIELD(fp16_arithmetic);
  VELLUM_FIELD(fp16_buffer_storage);
  VELLUM_FIELD(subgroup_arithmetic);
  VELLUM_FIELD(subgroup_size);
  VELLUM_FIELD(unified_memory);
  VELLUM_FIELD(timestamp_period_ns);
  VELLUM_FIELD(memory_budget);
  VELLUM_FIELD(rgba32f_images);
  VELLUM_FIELD(rgba16f_images);
  VELLUM_FIELD(prefers_images);
  VELLUM_FIELD(reads_images_as_storage);
  VELLUM_FIELD(reads_buffers_as_texels);
  VELLUM_FIELD(memory.block_width);
  VELLUM_FIELD(memory.block_height);
  VELLUM_FIELD(memory.row_alignment);
  VELLUM_FIELD(memory.image_alignment);
  VELLUM_FIELD(memory.buffer_alignment);
#undef VELLUM_FIELD
}

// All of them are there, or none is.
template <typename Process, typename Visit>
void visit_process(Process& process, Visit visit) {
  visit("process.driver_bytes", process.driver_bytes);
  visit("process.bytes_per_pipeline", process.bytes_per_pipeline);
  visit("process.bytes_per_unrolled_step", process.bytes_per_unrolled_step);
}

[[noreturn]] void refuse(const std::string& source, const std::string& why) {
  throw Error(ErrorCode::invalid_argument, source + ": " + why);
}

template <typename T>
json written(const T& value) {
  return value;
}
json written(DeviceType type) { return kTypes[static_cast<size_t>(type)]; }

void read(const json& from, std::string& value) {
  if (!from.is_string()) throw std::invalid_argument("is no string");
  value = from.get<std::string>();
}
void read(const json& from, bool& value) {
  if (!from.is_boolean()) throw std::invalid_argument("is neither true nor false");
  value = from.get<bool>();
}
void read(const json& from, float& value) {
  if (!from.is_number() || !(from.get<double>() >= 0) || from.get<double>() > 1e9)
    throw std::invalid_argument("is no number of nanoseconds");
  value = from.get<float>();
}
void read(const json& from, DeviceType& value) {
  for (size_t i = 0; i < std::size(kTypes); ++i)
    if (from == kTypes[i]) {
      value = static_cast<DeviceType>(i);
      return;
    }
  throw std::invalid_argument("is none of other, integrated GPU, discrete GPU, virtual GPU, CPU");
}
template <typename T>
requires std::is_unsigned_v<T>
void read(const json& from, T& value) {
  if (!from.is_number_unsigned() || from.get<uint64_t>() > std::numeric_limits<T>::max())
    throw std::invalid_argument("is no whole number up to " + std::to_string(std::numeric_limits<T>::max()));
  value = from.get<T>();
}
template <typename T, size_t N>
void read(const json& from, std::array<T, N>& values) {
  if (!from.is_array() || from.size() != N) throw std::invalid_argument("is no list of " + std::to_string(N));
  for (size_t i = 0; i < N; ++i) read(from[i], values[i]);
}

// What the planner divides by or rounds up to.
void check_ranges(const DeviceCaps& caps, const std::string& source) {
  const auto power_of_two = [&](const char* name, uint64_t value) {
    if (value == 0 || (value & (value - 1)) != 0 || value > kMostAlignment)
      refuse(source,
             std::string("'") + name + "' is no power of two up to " + std::to_string(kMostAlignment));
  };
  power_of_two("min_storage_buffer_offset_alignment", caps.min_storage_buffer_offset_alignment);
  power_of_two("min_texel_buffer_offset_alignment", caps.min_texel_buffer_offset_alignment);
  power_of_two("non_coherent_atom_size", caps.non_coherent_atom_size);
  power_of_two("buffer_image_granularity", caps.buffer_image_granularity);
  power_of_two("memory.block_width", caps.memory.block_width);
  power_of_two("memory.block_height", caps.memory.block_height);
  power_of_two("memory.row_alignment", caps.memory.row_alignment);
  power_of_two("memory.image_alignment", caps.memory.image_alignment);
  power_of_two("memory.buffer_alignment", caps.memory.buffer_alignment);
  if (caps.process)
    visit_process(*caps.process, [&](const char* name, uint64_t bytes) {
      if (bytes > kMostProcessBytes)
        refuse(source, std::string("'") + name + "' is more than " + std::to_string(kMostProcessBytes));
    });
  const auto at_least_one = [&](const char* name, uint64_t value) {
    if (value == 0) refuse(source, std::string("'") + name + "' is 0");
  };
  at_least_one("max_image_dimension_2d", caps.max_image_dimension_2d);
  at_least_one("max_image_dimension_3d", caps.max_image_dimension_3d);
  at_least_one("max_storage_buffer_range", caps.max_storage_buffer_range);
  at_least_one("max_workgroup_invocations", caps.max_workgroup_invocations);
  at_least_one("max_allocation_bytes", caps.max_allocation_bytes);
  at_least_one("max_allocation_count", caps.max_allocation_count);
  for (size_t i = 0; i < 3; ++i) {
    at_least_one("max_workgroup_size", caps.max_workgroup_size[i]);
    at_least_one("max_workgroup_count", caps.max_workgroup_count[i]);
  }
}

}  // namespace

std::string to_json(const DeviceCaps& caps) {
  nlohmann::ordered_json document;
  document[kVersionKey] = kVersion;
  const auto write = [&](const char* name, const auto& value) { document[name] = written(value); };
  visit_fields(caps, write);
  if (caps.process) visit_process(*caps.process, write);
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

DeviceCaps caps_from_json(std::string_view text, const std::string& source) {
  if (text.size() > kMostBytes) refuse(source, "is too long for a caps file");
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object() || !document.contains(kVersionKey))
    refuse(source, "is no caps file; `vellum devices --save-caps FILE` writes one");
  if (document[kVersionKey] != kVersion)
    refuse(source, "is of version " +
                       document[kVersionKey].dump(-1, ' ', true, json::error_handler_t::replace) +
                       " of caps files, but this Vellum reads version " + std::to_string(kVersion) +
                       "; `vellum devices --save-caps FILE` on the device writes it anew");
  DeviceCaps caps;
  std::set<std::string> known{kVersionKey};
  const auto read_field = [&](const char* name, auto& value) {
    known.insert(name);
    const auto found = document.find(name);
    if (found == document.end()) refuse(source, std::string("lacks '") + name + "'");
    try {
      read(*found, value);
    } catch (const std::invalid_argument& why) {
      refuse(source, std::string("'") + name + "' " + why.what());
    }
  };
  visit_fields(caps, read_field);
  if (document.contains("process.driver_bytes")) visit_process(caps.process.emplace(), read_field);
  for (const auto& [key, value] : document.items())
    if (!known.contains(key)) refuse(source, "has '" + key + "', which no caps file of this version has");
  check_ranges(caps, source);
  return caps;
}

}  // namespace vellum

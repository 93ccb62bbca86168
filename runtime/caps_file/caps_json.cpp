#include "caps_file/caps_json.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <type_traits>

#include "cost/device_traits.hpp"
#include "platform/json_value.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

using platform::JsonValue;

constexpr uint32_t kVersion = 3;
constexpr const char* kVersionKey = "vellum_caps";
constexpr const char* kTraitsKey = "traits";
constexpr const char* kTypes[] = {"other", "integrated GPU", "discrete GPU", "virtual GPU", "CPU"};
constexpr size_t kMostBytes = 1 << 20;
constexpr uint32_t kMostMatrixSide = 4096;
// Upper bounds that keep products with, and sizes rounded up to, these numbers far from overflow.
constexpr uint64_t kMostProcessBytes = uint64_t{1} << 40;
constexpr uint64_t kMostAlignment = uint64_t{1} << 30;

// Calls visit() for each field, for writing and for reading.
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

// Optional members of a file of this version; the defaults apply if they are missing.
template <typename Caps, typename Visit>
void visit_later_fields(Caps& caps, Visit visit) {
  visit("subgroup_broadcast", caps.subgroup_broadcast);
  visit("max_loop_iterations", caps.max_loop_iterations);
  visit("exact_division", caps.exact_division);
  visit("full_subgroups", caps.full_subgroups);
  visit("integer_dot_products", caps.integer_dot_products);
  visit("accelerates_signed_dot_products", caps.accelerates_signed_dot_products);
  visit("accelerates_mixed_dot_products", caps.accelerates_mixed_dot_products);
  visit("cooperative_matrices", caps.cooperative_matrices);
  visit("declares_inf_nan_preserve", caps.declares_inf_nan_preserve);
  visit("packs_halves", caps.packs_halves);
  visit("portability_driver", caps.portability_driver);
}

// The keys of cooperative matrices, for writing and for reading.
template <typename Matrix, typename Visit>
void visit_matrix(Matrix& matrix, Visit visit) {
  visit("extension", matrix.extension);
  visit("scope", matrix.scope);
  visit("m", matrix.m);
  visit("n", matrix.n);
  visit("k", matrix.k);
  visit("a", matrix.a);
  visit("b", matrix.b);
  visit("c", matrix.c);
  visit("result", matrix.result);
}

constexpr const char* kMatrixExtensions[] = {"KHR", "NV"};
constexpr const char* kMatrixElements[] = {"f16", "f32", "f64", "s8",  "s16", "s32",
                                           "s64", "u8",  "u16", "u32", "u64", "other"};
constexpr const char* kMatrixScopes[] = {"device", "workgroup", "subgroup", "queue family"};

std::span<const char* const> words(DeviceType) { return kTypes; }
std::span<const char* const> words(MatrixExtension) { return kMatrixExtensions; }
std::span<const char* const> words(MatrixElement) { return kMatrixElements; }
std::span<const char* const> words(MatrixScope) { return kMatrixScopes; }

template <typename T>
concept Word = std::is_enum_v<T>;

// Calls visit() for the members of `process`. A file has all of them or none.
template <typename Process, typename Visit>
void visit_process(Process& process, Visit visit) {
  visit("process.driver_bytes", process.driver_bytes);
  visit("process.bytes_per_operation", process.bytes_per_operation);
  visit("process.bytes_per_operation_of_largest", process.bytes_per_operation_of_largest);
}

// Optional members of `process`.
template <typename Process, typename Visit>
void visit_later_process(Process& process, Visit visit) {
  visit("process.host", process.host);
  visit("process.fitted_operations", process.fitted_operations);
}

[[noreturn]] void refuse(const std::string& source, const std::string& why) {
  throw Error(ErrorCode::invalid_argument, source + ": " + why);
}

template <typename T>
JsonValue written(const T& value) {
  return value;
}
template <Word T>
JsonValue written(const T& value) {
  return words(value)[static_cast<size_t>(value)];
}
template <typename T, size_t N>
JsonValue written(const std::array<T, N>& values) {
  return JsonValue::Array(values.begin(), values.end());
}
JsonValue written(const std::vector<CooperativeMatrix>& matrices) {
  JsonValue::Array list;
  for (const CooperativeMatrix& matrix : matrices) {
    JsonValue::Object entry;
    visit_matrix(matrix,
                 [&](const char* name, const auto& value) { entry.emplace_back(name, written(value)); });
    // The text has the keys of matrices in alphabetical order.
    std::ranges::sort(entry, {}, &std::pair<std::string, JsonValue>::first);
    list.emplace_back(std::move(entry));
  }
  return list;
}

void read(const JsonValue& from, std::string& value) {
  if (!from.string()) throw std::invalid_argument("is no string");
  value = *from.string();
}
void read(const JsonValue& from, bool& value) {
  if (!from.boolean()) throw std::invalid_argument("is neither true nor false");
  value = *from.boolean();
}
void read(const JsonValue& from, float& value) {
  const std::optional<double> number = from.number();
  if (!number || !(*number >= 0) || *number > 1e9) throw std::invalid_argument("is no number of nanoseconds");
  value = static_cast<float>(*number);
}
template <Word T>
void read(const JsonValue& from, T& value) {
  const std::span<const char* const> known = words(value);
  const auto found =
      std::ranges::find_if(known, [&](const char* word) { return from.string() && *from.string() == word; });
  if (found == known.end()) {
    std::string all;
    for (const char* word : known) all += (all.empty() ? "" : ", ") + std::string(word);
    throw std::invalid_argument("is none of " + all);
  }
  value = static_cast<T>(found - known.begin());
}
template <typename T>
requires std::is_unsigned_v<T>
void read(const JsonValue& from, T& value) {
  if (!from.whole_number() || *from.whole_number() > std::numeric_limits<T>::max())
    throw std::invalid_argument("is no whole number up to " + std::to_string(std::numeric_limits<T>::max()));
  value = static_cast<T>(*from.whole_number());
}
template <typename T, size_t N>
void read(const JsonValue& from, std::array<T, N>& values) {
  if (!from.array() || from.array()->size() != N)
    throw std::invalid_argument("is no list of " + std::to_string(N));
  for (size_t i = 0; i < N; ++i) read((*from.array())[i], values[i]);
}

void read(const JsonValue& from, std::vector<CooperativeMatrix>& matrices) {
  if (!from.array()) throw std::invalid_argument("is no list");
  matrices.clear();
  for (const JsonValue& entry : *from.array()) {
    CooperativeMatrix& matrix = matrices.emplace_back();
    size_t keys = 0;
    visit_matrix(matrix, [&](const char* name, auto& value) {
      const JsonValue* found = entry.find(name);
      if (!found) throw std::invalid_argument("has an entry without '" + std::string(name) + "'");
      read(*found, value);
      ++keys;
    });
    if (entry.object()->size() != keys)
      throw std::invalid_argument("has an entry with more than this version's keys");
    // Tiles consist of whole matrices, so that their sizes must not be 0.
    for (const uint32_t side : {matrix.m, matrix.n, matrix.k})
      if (side == 0 || side > kMostMatrixSide)
        throw std::invalid_argument("has a matrix whose side is not between 1 and " +
                                    std::to_string(kMostMatrixSide));
  }
}

template <typename T>
void read_trait(const JsonValue& from, T& value, const TraitRange& range) {
  if constexpr (std::is_same_v<T, bool>) {
    read(from, value);
  } else {
    const std::optional<double> number = from.number();
    if (!number || !(*number >= range.least && *number <= range.most) ||
        (std::is_integral_v<T> && *number != std::floor(*number)))
      throw std::invalid_argument(std::string("is no ") + (std::is_integral_v<T> ? "whole " : "") +
                                  "number from " + JsonValue(static_cast<uint64_t>(range.least)).text(0) +
                                  " to " + JsonValue(static_cast<uint64_t>(range.most)).text(0));
    value = static_cast<T>(*number);
  }
}

JsonValue written_trait(bool value) { return value; }
JsonValue written_trait(double value) { return value; }
template <std::integral T>
JsonValue written_trait(T value) {
  return static_cast<uint64_t>(value);
}

// Returns the traits that differ from the vendor's.
JsonValue::Object written_traits(const DeviceCaps& caps) {
  std::vector<std::string> usual;
  visit_traits(vendor_traits(caps), [&](const char*, const auto& value, const TraitRange&) {
    usual.push_back(written_trait(value).text(0));
  });
  JsonValue::Object traits;
  auto next = usual.begin();
  visit_traits(*caps.traits, [&](const char* name, const auto& value, const TraitRange&) {
    if (written_trait(value).text(0) != *next++) traits.emplace_back(name, written_trait(value));
  });
  return traits;
}

// Returns the vendor's traits with the values that the file overrides. Null if the file overrides none.
std::shared_ptr<const DeviceTraits> read_traits(const JsonValue& from, const DeviceCaps& caps,
                                                const std::string& source) {
  const auto refuse_trait = [&](const std::string& name, const std::string& why) {
    refuse(source, "'" + std::string(kTraitsKey) + "." + name + "' " + why);
  };
  if (!from.object()) refuse(source, "'" + std::string(kTraitsKey) + "' is no object");
  if (from.object()->empty()) return nullptr;
  auto traits = std::make_shared<DeviceTraits>(vendor_traits(caps));
  std::set<std::string> known;
  visit_traits(*traits, [&](const char* name, auto& value, const TraitRange& range) {
    known.insert(name);
    const JsonValue* found = from.find(name);
    if (!found) return;
    try {
      read_trait(*found, value, range);
    } catch (const std::invalid_argument& why) {
      refuse_trait(name, why.what());
    }
  });
  for (const auto& [key, value] : *from.object())
    if (!known.contains(key)) refuse_trait(key, "is no trait of this version");
  return traits;
}

// Checks the values by which the planner divides, and to which it rounds up.
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
  JsonValue::Object document;
  document.emplace_back(kVersionKey, kVersion);
  const auto write = [&](const char* name, const auto& value) {
    document.emplace_back(name, written(value));
  };
  visit_fields(caps, write);
  visit_later_fields(caps, write);
  if (caps.process) {
    visit_process(*caps.process, write);
    visit_later_process(*caps.process, write);
  }
  if (JsonValue::Object traits = caps.traits ? written_traits(caps) : JsonValue::Object(); !traits.empty())
    document.emplace_back(kTraitsKey, std::move(traits));
  return JsonValue(std::move(document)).text(2) + "\n";
}

DeviceCaps caps_from_json(std::string_view text, const std::string& source) {
  if (text.size() > kMostBytes) refuse(source, "is too long for a caps file");
  const std::optional<JsonValue> parsed = JsonValue::parse(text);
  const JsonValue* version = parsed ? parsed->find(kVersionKey) : nullptr;
  if (!version) refuse(source, "is no caps file; `vellum devices --save-caps FILE` writes one");
  if (!version->whole_number() || *version->whole_number() != kVersion)
    refuse(source, "is of version " + version->text(0) + " of caps files, but this Vellum reads version " +
                       std::to_string(kVersion) +
                       "; `vellum devices --save-caps FILE` on the device writes it anew");
  const JsonValue& document = *parsed;
  DeviceCaps caps;
  std::set<std::string> known{kVersionKey, kTraitsKey};
  const auto read_field = [&](const char* name, auto& value) {
    known.insert(name);
    const JsonValue* found = document.find(name);
    if (!found) refuse(source, std::string("lacks '") + name + "'");
    try {
      read(*found, value);
    } catch (const std::invalid_argument& why) {
      refuse(source, std::string("'") + name + "' " + why.what());
    }
  };
  visit_fields(caps, read_field);
  const auto read_later_field = [&](const char* name, auto& value) {
    if (document.find(name)) read_field(name, value);
  };
  visit_later_fields(caps, read_later_field);
  if (document.find("process.driver_bytes")) {
    visit_process(caps.process.emplace(), read_field);
    visit_later_process(*caps.process, read_later_field);
  }
  for (const auto& [key, value] : *document.object())
    if (!known.contains(key)) refuse(source, "has '" + key + "', which no caps file of this version has");
  check_ranges(caps, source);
  if (const JsonValue* traits = document.find(kTraitsKey)) caps.traits = read_traits(*traits, caps, source);
  return caps;
}

}  // namespace vellum

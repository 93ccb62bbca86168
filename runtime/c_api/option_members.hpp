// Conversion of options between C and C++, for the rows of vellum/*_options.def and vellum/load_limits.def.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>

#include "c_api/support.hpp"
#include "platform/utf8_path.hpp"

namespace vellum::c_api {

// Returns the number of the last choice of an enumeration. A call does not compile if C and C++ number the
// choice differently.
template <typename Cpp, typename C>
consteval int last_choice(Cpp cpp_choice, C c_choice) {
  if (static_cast<int>(cpp_choice) != static_cast<int>(c_choice))
    throw "C and C++ number a choice differently";
  return static_cast<int>(c_choice);
}

template <typename Choice>
inline constexpr int kLastChoice = -1;
template <>
inline constexpr int kLastChoice<Precision> = last_choice(Precision::fp16, VELLUM_FP16);
template <>
inline constexpr int kLastChoice<Arithmetic> = last_choice(Arithmetic::automatic, VELLUM_ARITHMETIC_AUTO);
template <>
inline constexpr int kLastChoice<StatePrecision> = last_choice(StatePrecision::int8,
                                                               VELLUM_STATE_PRECISION_INT8);
template <>
inline constexpr int kLastChoice<StorageChoice> = last_choice(StorageChoice::buffer, VELLUM_STORAGE_BUFFER);
template <>
inline constexpr int kLastChoice<MemoryMode> = last_choice(MemoryMode::offsets, VELLUM_MEMORY_OFFSETS);
template <>
inline constexpr int kLastChoice<Winograd> = last_choice(Winograd::f4, VELLUM_WINOGRAD_F4);
template <>
inline constexpr int kLastChoice<GlobalPriority> = last_choice(GlobalPriority::realtime,
                                                               VELLUM_PRIORITY_REALTIME);
template <>
inline constexpr int kLastChoice<SelfCheck> = last_choice(SelfCheck::on, VELLUM_SELF_CHECK_ON);

// Converts a member of C options. A NULL text leaves the default. Throws Error(invalid_argument) for a choice
// that does not exist.
template <typename C, typename Cpp>
void from_c(const C& from, Cpp& to, const char* name) {
  if constexpr (std::is_same_v<Cpp, bool>) {
    to = from != 0;
  } else if constexpr (std::is_enum_v<Cpp>) {
    static_assert(kLastChoice<Cpp> >= 0, "the enumeration has no line above");
    to = checked_choice<Cpp>(from, kLastChoice<Cpp>, name);
  } else if constexpr (std::is_same_v<Cpp, std::filesystem::path>) {
    if (from) to = platform::utf8_path(from);
  } else if constexpr (std::is_same_v<Cpp, std::string>) {
    if (from) to = from;
  } else if constexpr (std::is_same_v<Cpp, std::optional<uint32_t>>) {
    if (from != UINT32_MAX) to = from;  // VELLUM_SUBMIT_MS_AUTO
  } else {
    static_assert(std::is_same_v<C, Cpp>);
    to = from;
  }
}

// Converts a default value to C. The default of a text is NULL.
template <typename Cpp, typename C>
void to_c(const Cpp& from, C& to) {
  if constexpr (std::is_pointer_v<C>) {
    to = nullptr;
  } else if constexpr (std::is_same_v<Cpp, std::optional<uint32_t>>) {
    to = from.value_or(UINT32_MAX);
  } else {
    to = static_cast<C>(from);
  }
}

}  // namespace vellum::c_api

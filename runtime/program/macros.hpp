// Finds the macros of a dispatch (Dispatch::defines).
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "program/program.hpp"

namespace vellum {

using Macros = decltype(Dispatch::defines);

// Return the value of a macro; null if it is not defined.
inline const std::string* find_macro(const Macros& macros, std::string_view name) {
  const auto found = std::ranges::find(macros, name, &Macros::value_type::first);
  return found == macros.end() ? nullptr : &found->second;
}
inline std::string* find_macro(Macros& macros, std::string_view name) {
  return const_cast<std::string*>(find_macro(static_cast<const Macros&>(macros), name));
}

}  // namespace vellum

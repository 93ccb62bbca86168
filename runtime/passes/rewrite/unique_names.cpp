#include "passes/rewrite/unique_names.hpp"

namespace vellum {

std::string UniqueNames::make(const std::string& base) {
  constexpr int kFirstNumber = 2;
  if (taken_.empty())
    for (const Value& value : graph_.values) taken_.emplace(value.name, kFirstNumber);
  const auto [entry, is_free] = taken_.emplace(base, kFirstNumber);
  if (is_free) return base;
  int& number = entry->second;  // stays valid while the map grows
  for (;;) {
    std::string name = base + "_" + std::to_string(number++);
    if (taken_.emplace(name, kFirstNumber).second) return name;
  }
}

}  // namespace vellum

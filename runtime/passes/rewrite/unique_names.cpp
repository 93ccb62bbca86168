#include "passes/rewrite/unique_names.hpp"

namespace vellum {

std::string UniqueNames::make(const std::string& base) {
  if (taken_.empty())
    for (const Value& value : graph_.values) taken_.insert(value.name);
  std::string name = base;
  for (int i = 2; !taken_.insert(name).second; ++i) name = base + "_" + std::to_string(i);
  return name;
}

}  // namespace vellum

#include "program/parameters.hpp"

#include <algorithm>
#include <string>

#include "vellum/error.hpp"

namespace vellum {

int32_t checked_int32(int64_t value) {
  if (value != static_cast<int32_t>(value))
    throw Error(ErrorCode::unsupported,
                "a kernel parameter of " + std::to_string(value) + " exceeds 32 bits");
  return static_cast<int32_t>(value);
}

void copy_padded(std::span<const int64_t> values, std::span<int32_t> to) {
  if (values.size() > to.size())
    throw Error(ErrorCode::internal, std::to_string(values.size()) + " values for an array of " +
                                         std::to_string(to.size()) + " in a shader's parameters");
  std::ranges::fill(to, 0);
  std::ranges::transform(values, to.begin(), checked_int32);
}

}  // namespace vellum

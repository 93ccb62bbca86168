#include "exec/input_integers.hpp"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "graph/element.hpp"

namespace vellum {
namespace {

// Calls visit(i, integer) for each element; for none of other types than integers.
template <typename Visit>
void for_each_integer(DType dtype, std::span<const std::byte> values, const Visit& visit) {
  visit_element(dtype, [&](auto tag) {
    using Element = typename decltype(tag)::type;
    if constexpr (std::integral<Element>) {
      for (size_t i = 0; i < values.size() / sizeof(Element); ++i) {
        Element element;  // may not be aligned
        std::memcpy(&element, values.data() + i * sizeof element, sizeof element);
        visit(i, static_cast<int64_t>(element));
      }
    }
  });
}

void check_limit(const Port& port, std::span<const std::byte> values) {
  for_each_integer(port.type.dtype, values, [&](size_t, int64_t value) {
    if (value <= port.limit->most && value >= -port.limit->most) return;
    throw Error(ErrorCode::unsupported, "input '" + port.name + "' has the integer " + std::to_string(value) +
                                            ", with which '" + port.limit->node +
                                            "' may exceed the 32 bits of the device's integers; it has no "
                                            "larger result up to " +
                                            std::to_string(port.limit->most));
  });
}

void check_indices(const Port& port, const IndexLimits& limits, std::span<const std::byte> values) {
  for_each_integer(port.type.dtype, values, [&](size_t i, int64_t value) {
    const auto [least, most] = limits.range_of(i);
    if (value >= least && value <= most) return;
    throw Error(ErrorCode::invalid_argument, "input '" + port.name + "' has " + std::to_string(value) +
                                                 ", with which '" + limits.node + "' would " + limits.fault +
                                                 ": it takes " + std::to_string(least) + " to " +
                                                 std::to_string(most));
  });
}

}  // namespace

void check_integers(const Port& port, std::span<const std::byte> values) {
  for (const IndexLimits& limits : port.indices) check_indices(port, limits, values);
  if (port.limit) check_limit(port, values);
}

HostTensor zeros_of(const Port& port) {
  HostTensor zeros(port.type.dtype, port.type.shape);
  if (port.indices.empty()) return zeros;
  std::vector<int64_t> integers(static_cast<size_t>(zeros.elements()), 0);
  for (const IndexLimits& limits : port.indices)
    for (size_t i = 0; i < integers.size(); ++i) {
      const auto [least, most] = limits.range_of(i);
      integers[i] = std::max(std::min(integers[i], most), least);
    }
  return HostTensor::from<int64_t>(port.type.dtype, port.type.shape, integers);
}

}  // namespace vellum

#include "exec/finite_check.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "vellum/error.hpp"

namespace vellum {
namespace {

// The caller's memory need not be aligned.
template <typename Element, typename ToDouble>
void check_elements(const std::string& what, std::span<const std::byte> values, ToDouble&& to_double) {
  for (size_t i = 0; (i + 1) * sizeof(Element) <= values.size(); ++i) {
    Element element;
    std::memcpy(&element, values.data() + i * sizeof(Element), sizeof(Element));
    const double value = to_double(element);
    if (!std::isfinite(value)) {
      throw Error(ErrorCode::invalid_argument, what + " has " + (std::isnan(value) ? "NaN" : "an infinity") +
                                                   " at element " + std::to_string(i));
    }
  }
}

}  // namespace

void check_finite(const std::string& what, DType dtype, std::span<const std::byte> values) {
  switch (dtype) {
    case DType::f32:
      return check_elements<float>(what, values, [](float value) { return static_cast<double>(value); });
    case DType::f64:
      return check_elements<double>(what, values, [](double value) { return value; });
    case DType::f16:
      return check_elements<uint16_t>(
          what, values, [](uint16_t value) { return static_cast<double>(half_to_float(value)); });
    default:
      return;
  }
}

}  // namespace vellum

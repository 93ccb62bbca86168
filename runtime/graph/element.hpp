// The C++ types of tensor elements, conversion between them, and the switch from a DType to its type.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "graph/tensor.hpp"
#include "vellum/error.hpp"

namespace vellum {

struct Half {
  uint16_t bits;
};

// A boolean element. Not C++'s bool, because bytes from a model file may have other values than 0 and 1.
struct Bool {
  uint8_t byte;
};

// Converts an element to a type with arithmetic: Half to float, Bool to 0 or 1. Other types are returned
// unchanged.
template <typename T>
auto widen(T value) {
  if constexpr (std::is_same_v<T, Half>) {
    return half_to_float(value.bits);
  } else if constexpr (std::is_same_v<T, Bool>) {
    return static_cast<uint8_t>(value.byte != 0);
  } else {
    return value;
  }
}
template <typename T>
using Widened = decltype(widen(T{}));

// Converts floating point to an integer: saturates, and NaN becomes 0 (both are undefined in C++ and ONNX's
// Cast).
template <typename To, typename From>
To to_integer(From value) {
  if (std::isnan(value)) return 0;
  // 2^digits is exact in any floating type; the largest integer may not be.
  const From upper = std::ldexp(From{1}, std::numeric_limits<To>::digits);
  if (value >= upper) return std::numeric_limits<To>::max();
  if (value <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  return static_cast<To>(value);
}

// Converts an element to any other element type, as Cast does.
template <typename To, typename From>
To convert(From value) {
  const Widened<From> wide = widen(value);
  if constexpr (std::is_same_v<To, Bool>) {
    return Bool{static_cast<uint8_t>(wide != 0)};
  } else if constexpr (std::is_same_v<To, Half>) {
    return Half{float_to_half(static_cast<float>(wide))};
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<Widened<From>>) {
    return to_integer<To>(wide);
  } else {
    return static_cast<To>(wide);
  }
}

template <typename T>
struct ElementTag {
  using type = T;
};

// Calls visitor(ElementTag<T>) with the C++ type of `dtype`.
template <typename Visitor>
decltype(auto) visit_element(DType dtype, Visitor&& visitor) {
  switch (dtype) {
    case DType::f32:
      return visitor(ElementTag<float>{});
    case DType::f16:
      return visitor(ElementTag<Half>{});
    case DType::f64:
      return visitor(ElementTag<double>{});
    case DType::i64:
      return visitor(ElementTag<int64_t>{});
    case DType::i32:
      return visitor(ElementTag<int32_t>{});
    case DType::i16:
      return visitor(ElementTag<int16_t>{});
    case DType::i8:
      return visitor(ElementTag<int8_t>{});
    case DType::u64:
      return visitor(ElementTag<uint64_t>{});
    case DType::u32:
      return visitor(ElementTag<uint32_t>{});
    case DType::u16:
      return visitor(ElementTag<uint16_t>{});
    case DType::u8:
      return visitor(ElementTag<uint8_t>{});
    case DType::boolean:
      return visitor(ElementTag<Bool>{});
  }
  throw Error(ErrorCode::invalid_argument,
              "DType has no value " + std::to_string(static_cast<unsigned>(dtype)));
}

// Calls visitor(ElementTag<T>) with an unsigned integer of the size of `dtype`, for operators that only move
// elements.
template <typename Visitor>
decltype(auto) visit_element_size(DType dtype, Visitor&& visitor) {
  switch (size_of(dtype)) {
    case 1:
      return visitor(ElementTag<uint8_t>{});
    case 2:
      return visitor(ElementTag<uint16_t>{});
    case 4:
      return visitor(ElementTag<uint32_t>{});
    default:
      return visitor(ElementTag<uint64_t>{});
  }
}

}  // namespace vellum

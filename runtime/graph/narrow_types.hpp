// Element types of ONNX that the graph stores in a wider type: bfloat16, 8-bit and 4-bit floats as float32,
// integers of 4 and 2 bits as 8-bit integers. The wider type represents their values exactly. Cast and
// QuantizeLinear to such a type round to its values; other operators compute in the wider type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "graph/tensor.hpp"

namespace vellum {

// The special values of a floating-point format. ieee: infinities and NaNs; fn: only NaN, with all bits set;
// fnuz: only NaN, encoded as -0; finite: none.
enum class Specials : uint8_t { ieee, fn, fnuz, finite };

struct NarrowFloat {
  int mantissa_bits = 0;
  int lowest_exponent = 0;  // of normal numbers
  float largest = 0.0f;
  Specials specials = Specials::ieee;
  bool operator==(const NarrowFloat&) const = default;
};

struct NarrowType {
  int64_t number;  // TensorProto.DataType
  std::string_view name;
  int bits;
  DType stored;
  std::optional<NarrowFloat> format;  // none for integers
};

// Returns null for a type that is not narrow.
const NarrowType* find_narrow_type(int64_t number);

// The smallest and the largest integer of a narrow type, or of an integer dtype of at most 32 bits.
struct IntegerRange {
  int64_t low, high;
};
IntegerRange integer_range(DType stored, int bits);

// Rounds to nearest, ties to even. A value beyond the largest number becomes that number if `saturate` is set
// or the format has no special values, otherwise infinity or NaN.
double round_to(const NarrowFloat& format, double value, bool saturate);

// Returns the bytes of `elements` elements in a file, which packs them beginning with the least significant
// bit.
uint64_t packed_bytes(const NarrowType& type, uint64_t elements);
HostTensor unpack(const NarrowType& type, const Shape& shape, std::span<const std::byte> packed);

}  // namespace vellum

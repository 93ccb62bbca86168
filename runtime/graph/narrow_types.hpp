// Element types of ONNX that are stored in a wider type of the graph: bfloat16, 8-bit and 4-bit floats as
// float32, integers of 4 and 2 bits as 8-bit integers. Their values are exact there; a Cast or QuantizeLinear
// to such a type rounds to its values, other operators compute in the wider type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "graph/tensor.hpp"

namespace vellum {

// Which values of a floating-point format are not numbers. ieee: infinities and NaNs; fn: NaN alone, all
// ones; fnuz: NaN alone, in the place of -0; finite: none.
enum class Specials : uint8_t { ieee, fn, fnuz, finite };

struct NarrowFloat {
  int mantissa_bits = 0;
  int lowest_exponent = 0;  // of a number with a leading 1
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

// Rounds half to even. Beyond the largest number: that number if `saturate` or the format has nothing else,
// infinity or NaN otherwise.
double round_to(const NarrowFloat& format, double value, bool saturate);

// The size of `elements` elements in a file, which packs them from the least significant bit on.
uint64_t packed_bytes(const NarrowType& type, uint64_t elements);
HostTensor unpack(const NarrowType& type, const Shape& shape, std::span<const std::byte> packed);

}  // namespace vellum

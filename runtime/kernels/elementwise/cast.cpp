// Lowers Cast and CastLike. The device has only floats (of the session's precision) and 32-bit integers.
#include "graph/operators/elementwise/cast.hpp"

#include <limits>

#include "kernels/elementwise/elementwise.hpp"
#include "kernels/framework/elements.hpp"
#include "shaders/elementwise/cast.h"
#include "shaders/elementwise/round_float.h"

namespace vellum {

namespace {

struct Bounds {
  int64_t low, high;
};

// Returns the range of an integer dtype, within the 32 bits of device integers.
Bounds bounds_of(DType dtype) {
  constexpr int64_t kLowest = std::numeric_limits<int32_t>::min(),
                    kHighest = std::numeric_limits<int32_t>::max();
  switch (dtype) {
    case DType::i16:
      return {-32768, 32767};
    case DType::i8:
      return {-128, 127};
    case DType::u16:
      return {0, 65535};
    case DType::u8:
      return {0, 255};
    case DType::boolean:
      return {0, 1};
    case DType::u32:
    case DType::u64:
      return {0, kHighest};
    default:
      return {kLowest, kHighest};
  }
}

// Returns whether integers that fit the device's may not fit them after a conversion: negative ones as
// uint64, and large ones of uint32 as int64.
bool exceeds_device_integers(DType from, DType to) {
  const bool is_signed = from == DType::i64 || from == DType::i32 || from == DType::i16 || from == DType::i8;
  return (is_signed && to == DType::u64) || (from == DType::u32 && to == DType::i64);
}

// Rounds floats to the values of a narrow format.
void round_floats(Lowering& lowering, const NarrowFloat& format, bool saturate) {
  const int64_t count4 = groups_of_four(lowering.output_type().shape);
  const TensorId x = as_floats(lowering, lowering.read(0, Layout::linear)),
                 y = lowering.write(0, Layout::linear);
  Dispatch dispatch =
      make_dispatch("round_float", grid_1d(lowering.caps(), count4), {reads("x", x), writes("y", y)},
                    RoundFloatParameters{.count4 = count4,
                                         .mantissa_bits = format.mantissa_bits,
                                         .lowest_exponent = format.lowest_exponent,
                                         .largest = format.largest});
  if (saturate || format.specials == Specials::finite) {
    define(dispatch, "SATURATE");
  } else if (format.specials == Specials::ieee) {
    define(dispatch, "INFINITE");
  }
  if (format.specials == Specials::finite) define(dispatch, "NO_NAN");
  lowering.dispatch(std::move(dispatch));
}

}  // namespace

void lower_cast(Lowering& lowering) {
  const Cast& op = lowering.op<Cast>();
  if (op.narrow && op.narrow->format)
    return round_floats(lowering, *op.narrow->format, op.saturate && op.narrow->bits == 8);
  const DType from = lowering.input_type(0).dtype, to = lowering.output_type().dtype;
  const bool to_bool = to == DType::boolean && from != DType::boolean;
  const Bounds in = bounds_of(from), out = bounds_of(to);
  const bool widens = out.low <= in.low && in.high <= out.high;
  if (is_float(from) == is_float(to) && !to_bool) {
    if (exceeds_device_integers(from, to))
      return lowering.run_on_host("a Cast that may exceed 32 bits has no kernel");
    // If integers keep their 32 bits, a change between signed and unsigned changes only their interpretation.
    if (is_float(from) || widens || size_of(to) >= 4) return lowering.alias(0, 0);
    const TensorId x = lowering.read(0, Layout::linear);
    return map_integers(lowering, "Identity", to, x, lowering.write(0, Layout::linear));
  }
  const int64_t count4 = groups_of_four(lowering.output_type().shape);
  const TensorId x = lowering.read(0, Layout::linear), y = lowering.write(0, Layout::linear);
  Dispatch dispatch =
      make_dispatch("cast", grid_1d(lowering.caps(), count4), {reads_in_place("x", x), writes("y", y)},
                    CastParameters{.count4 = count4, .low = out.low, .high = out.high});
  if (!is_float(from)) define(dispatch, "FROM_INTEGER");
  if (from == DType::u32 || from == DType::u64) define(dispatch, "FROM_UNSIGNED");
  if (!is_float(to)) define(dispatch, to_bool ? "TO_BOOL" : "TO_INTEGER");
  if (is_float(from) && to == DType::u32) define(dispatch, "TO_UNSIGNED");
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

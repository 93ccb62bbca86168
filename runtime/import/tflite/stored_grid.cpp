#include "import/tflite/stored_grid.hpp"

#include "graph/narrow_types.hpp"
#include "graph/operators/elementwise/quantize.hpp"

namespace vellum::tflite {

bool is_stored_grid(DType stored) { return is_byte(stored) || stored == DType::i16; }

StoredGrid stored_grid(DType stored, float scale, int64_t zero_point) {
  const IntegerRange integers = integer_range(stored, static_cast<int>(8 * size_of(stored)));
  return {scale, static_cast<float>(integers.low - zero_point),
          static_cast<float>(integers.high - zero_point)};
}

Activation rounding(const StoredGrid& grid) {
  return {.step = grid.scale, .least = grid.least, .most = grid.most};
}

}  // namespace vellum::tflite

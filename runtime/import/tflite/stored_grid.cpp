#include "import/tflite/stored_grid.hpp"

#include "graph/narrow_types.hpp"

namespace vellum::tflite {

StoredGrid stored_grid(DType stored, float scale, int64_t zero_point) {
  const IntegerRange integers = integer_range(stored, 8);
  return {scale, static_cast<float>(integers.low - zero_point),
          static_cast<float>(integers.high - zero_point)};
}

Activation rounding(const StoredGrid& grid) {
  return {.step = grid.scale, .least = grid.least, .most = grid.most};
}

}  // namespace vellum::tflite

// The real numbers that the integers of a quantised tensor represent.
#pragma once

#include "graph/graph.hpp"
#include "graph/operators/elementwise/activation.hpp"

namespace vellum::tflite {

// Integers of 8 and 16 bits represent (integer - zero point) * scale.
struct StoredGrid {
  float scale = 0.0f;
  float least = 0.0f, most = 0.0f;  // integer - zero point
  bool operator==(const StoredGrid&) const = default;
};
// Returns whether tensors that an operator computes may be stored in these integers.
bool is_stored_grid(DType stored);
StoredGrid stored_grid(DType stored, float scale, int64_t zero_point);

// Returns the activation that rounds real numbers to those of the grid.
Activation rounding(const StoredGrid& grid);

}  // namespace vellum::tflite

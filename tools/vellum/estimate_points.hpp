// The combinations of input shapes that `vellum estimate` estimates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "vellum/estimate.hpp"

namespace vellum::cli {

// A combination of input shapes with its estimate.
struct Point {
  int64_t batch = 1;
  int64_t x = 1;  // the value that changes from point to point: the batch, or a dimension of --sweep
  InputShapes shapes;
  MemoryEstimate estimate;
  std::optional<MemoryMeasurement> measured;
};

// Returns a point for each batch, or for each value of the sweeps ("INPUT:AXIS=16,32"), which advance
// together. Without batches and sweeps returns a single point. Throws Error(invalid_argument) for an invalid
// sweep.
std::vector<Point> make_points(const std::vector<TensorInfo>& inputs, const InputShapes& shapes,
                               const std::vector<int64_t>& batches, const std::vector<std::string>& sweeps);

// Returns the shapes with this batch as the first dimension of every input.
InputShapes with_batch(const std::vector<TensorInfo>& inputs, InputShapes shapes, int64_t batch);

}  // namespace vellum::cli

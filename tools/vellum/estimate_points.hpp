// The combinations of input shapes that `vellum estimate` looks at, and what each takes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "vellum/estimate.hpp"

namespace vellum::cli {

struct Point {
  int64_t batch = 1;
  int64_t x = 1;  // what changes from point to point: the batch, or a dimension of --sweep
  InputShapes shapes;
  MemoryEstimate estimate;
  std::optional<MemoryMeasurement> measured;
};

// A point for each batch, or for each value of the sweeps ("INPUT:AXIS=16,32"), which go forward together;
// one as the model is where there is neither. Error(invalid_argument) for a sweep that cannot be read.
std::vector<Point> make_points(const std::vector<TensorInfo>& inputs, const InputShapes& given,
                               const std::vector<int64_t>& batches, const std::vector<std::string>& sweeps);

// The given shapes with this batch: the first dimension of every input.
InputShapes with_batch(const std::vector<TensorInfo>& inputs, InputShapes shapes, int64_t batch);

}  // namespace vellum::cli

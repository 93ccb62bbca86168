// Assigns each tensor to an image or a buffer, given the time of each operator with both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vellum {

struct StorageProblem {
  struct Operator {
    std::vector<size_t> inputs, outputs;  // indices of values
    // Milliseconds, indexed by [inputs in images][outputs in images]. If some inputs are in images and some
    // in buffers, the mean is used.
    std::array<std::array<double, 2>, 2> cost{};
  };
  size_t values = 0;
  std::vector<Operator> operators;  // in execution order
};

// Whether each value is in an image.
using InImages = std::vector<bool>;

// Returns the milliseconds of all operators with this assignment.
double cost(const StorageProblem& problem, const InImages& in_images);

// Returns the best assignment that a local search finds, starting from all buffers and from all images. While
// the cost falls, the search flips the values of sequences of consecutive operators, long ones first, and all
// combinations of the values of one operator. (If all costs were submodular, the optimum would be a minimum
// cut, but measured costs are not.)
InImages assign_storages(const StorageProblem& problem);

}  // namespace vellum

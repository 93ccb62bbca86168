// Assigns each tensor an image or a buffer, from the time of each operator with either.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vellum {

struct StorageProblem {
  struct Operator {
    std::vector<size_t> inputs, outputs;  // indices of values
    // Milliseconds by [inputs in images][outputs in images]. With inputs in both, the mean counts.
    std::array<std::array<double, 2>, 2> cost{};
  };
  size_t values = 0;
  std::vector<Operator> operators;  // in execution order
};

// Whether each value is in an image.
using InImages = std::vector<bool>;

double cost(const StorageProblem& problem, const InImages& in_images);

// Returns the best assignment that a local search finds, starting from all buffers and from all images. It
// flips the values of runs of consecutive operators, long runs first, and those of one operator in all
// combinations, as long as the cost falls. (The optimum would be a minimum cut if all pairs of costs were
// submodular, which measured ones are not.)
InImages assign_storages(const StorageProblem& problem);

}  // namespace vellum

// Which tensors should be in images and which in buffers, given what each operator takes with either.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vellum {

struct StorageProblem {
  struct Operator {
    std::vector<size_t> inputs, outputs;  // numbers of values
    // Milliseconds by [inputs in images][outputs in images]. Of inputs in both, the mean counts.
    std::array<std::array<double, 2>, 2> cost{};
  };
  size_t values = 0;
  std::vector<Operator> operators;  // in execution order
};

// For each value whether it is in an image.
using InImages = std::vector<bool>;

double cost(const StorageProblem& problem, const InImages& in_images);

// The least of what a local search finds from all buffers and from all images: it turns over the values of
// runs of consecutive operators, long ones first, and those of one operator in all ways, for as long as that
// helps. (The least of all is a minimum cut where every pair of costs is submodular, which measurements are
// not.)
InImages assign_storages(const StorageProblem& problem);

}  // namespace vellum

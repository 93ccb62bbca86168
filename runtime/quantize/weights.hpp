// Quantises weights and biases to integers.
#pragma once

#include <vector>

#include "graph/graph.hpp"

namespace vellum::quantization {

// Symmetric integers with a scale for each index along `axis`.
struct IntegerWeights {
  HostTensor integers;  // int8
  std::vector<float> scales;
  size_t axis = 0;
};

// `bits`: 8 or 4.
IntegerWeights integer_weights(const HostTensor& weights, size_t axis, int bits);
// Returns the real numbers that the integers represent.
HostTensor real_weights(const IntegerWeights& weights);
// Raises scales until each bias, in steps of input_scale * scale, fits 32 bits, and then computes the
// integers of the weights again. The scale of output channel m is scales[m % scales.size()].
void fit_biases(IntegerWeights& weights, const HostTensor& floats, const HostTensor& bias, float input_scale,
                int bits);
// Returns the biases in steps of input_scale * scale, as int32.
HostTensor integer_biases(const HostTensor& bias, const std::vector<float>& steps);

// Integers of 4 bits with a scale for each block of `block` elements along `axis` of a matrix.
struct BlockedWeights {
  HostTensor integers, scales;
};
BlockedWeights blocked_weights(const HostTensor& matrix, size_t axis, int64_t block);

}  // namespace vellum::quantization

// Random tensors for tests, and comparison of tensors.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "graph/graph.hpp"
#include "graph/tensor.hpp"

namespace vellum::test {

// Returns elements that are uniform in [low, high].
HostTensor random_tensor(const Shape& shape, uint32_t seed, float low = -1.0f, float high = 1.0f);

// 0, 1, 2, ...
HostTensor counting(const Shape& shape);

// Largest |difference| / max(1, |expected|) over the elements of two tensors of one type; infinite where one
// is NaN.
double distance(const HostTensor& actual, const HostTensor& expected);

// Largest |difference| / max(least, largest |expected|) over the elements of two tensors of one shape: for
// sums, which may cancel. Infinite where an element is NaN.
double distance_of_sums(const HostTensor& actual, const HostTensor& expected, double least = 1.0);

// Succeeds if the types are equal and every element is within tolerance * max(1, |expected|). A failure names
// the worst element.
testing::AssertionResult close(const HostTensor& actual, const HostTensor& expected, double tolerance = 1e-4);

// Succeeds if types and bytes are equal.
testing::AssertionResult same_bits(const HostTensor& actual, const HostTensor& expected);

// A random tensor for every graph input. Shapes must be known.
std::vector<HostTensor> random_inputs(const Graph& graph, uint32_t seed, float low = -1.0f,
                                      float high = 1.0f);

}  // namespace vellum::test

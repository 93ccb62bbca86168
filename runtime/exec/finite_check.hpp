// The check of inputs and outputs for values that no network should see: SessionOptions::check_finite.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "graph/tensor.hpp"

namespace vellum {

// Throws Error(invalid_argument) that names the first element which is NaN or infinite. `what`: "input
// 'image'". Elements that are not floats are finite.
void check_finite(const std::string& what, DType dtype, std::span<const std::byte> values);

}  // namespace vellum

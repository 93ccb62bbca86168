// The check of inputs and outputs for NaN and infinities: SessionOptions::check_finite.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "graph/tensor.hpp"

namespace vellum {

// Throws Error(invalid_argument), which names the first element that is NaN or infinite. `what`: the tensor's
// name in the message, "input 'image'". Values of other types than floats pass.
void check_finite(const std::string& what, DType dtype, std::span<const std::byte> values);

}  // namespace vellum

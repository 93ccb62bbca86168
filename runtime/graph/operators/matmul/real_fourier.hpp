// RFFT2D of TFLite: the discrete Fourier transform of real signals in two dimensions.
#pragma once

#include <memory>

#include "graph/operator.hpp"

namespace vellum {

// Inputs x (..., H, W) and the size (h, w) of the transform. x is cut or padded with zeros to (h, w). Output:
// (..., h, w / 2 + 1, 2), the real and imaginary parts of the bins up to the middle.
std::shared_ptr<const Operator> real_fourier_2d();

}  // namespace vellum

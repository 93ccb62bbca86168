// Functions of 16-bit integers, as LiteRT's reference kernels compute them.
#pragma once

#include "import/tflite/byte_tables.hpp"

namespace vellum::tflite {

// Return the integer of the result, whose scale is 2^-15, for an integer of the scale `x_scale`. Both zero
// points are 0. Logistic() and Tanh() in tflite/kernels/internal/reference/integer_ops/, with the parameters
// of SigmoidPrepare() and TanhPrepare() in tflite/kernels/activations.cc.
ByteFunction logistic_of_16_bits(float x_scale);
ByteFunction tanh_of_16_bits(float x_scale);

}  // namespace vellum::tflite

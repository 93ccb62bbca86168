// Shapes of tensors whose file declares none. TensorFlow's converter writes such files for networks whose
// images have any size: each tensor has an empty shape, as a scalar has, and LiteRT finds it in each run.
#pragma once

#include "import/tflite/call.hpp"

namespace vellum::tflite {

// Gives the result of an operator as many dimensions as its inputs and options determine. All are open, but
// for channels that are known. Other tensors stay as they are.
void find_ranks(const Call& call);

}  // namespace vellum::tflite

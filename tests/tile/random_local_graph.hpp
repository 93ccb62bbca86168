// Random networks of operators that are local along the rows of an image, for tiles.
#pragma once

#include <cstdint>

#include "support/onnx_builder.hpp"

namespace vellum::test {

// Equal seeds give equal models on all machines: one input "x", several outputs. Its images are so large that
// strips of them differ.
OnnxModel random_local_graph(uint32_t seed);

}  // namespace vellum::test

// Random networks of operators that are local along the rows of an image, for tiles.
#pragma once

#include <cstdint>

#include "support/onnx_builder.hpp"

namespace vellum::test {

// The same model for the same seed everywhere: one input "x", several outputs. Of large enough images that
// strips of them differ.
OnnxModel random_local_graph(uint32_t seed);

}  // namespace vellum::test

// Cross-layer equalisation: Nagel et al., "Data-free quantization through weight equalization and bias
// correction", ICCV 2019, section 4.1.
#pragma once

#include "graph/graph.hpp"

namespace vellum::quantization {

// Scales the channels between a convolution and the only layer that reads it, so that the weights of both
// have equal ranges. Only a ReLU or a function with slopes may be in between. Results stay the same up to
// rounding.
void equalize(Graph& graph);

}  // namespace vellum::quantization

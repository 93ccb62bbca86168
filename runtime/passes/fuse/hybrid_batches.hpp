// Layers of TFLite files that quantise one image or row in each run (import/tflite/hybrid.hpp).
#pragma once

#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Converts such layers back to floats where they have several images or rows. LiteRT computes a scale for
// each image or row, but DynamicSteps has a single scale. Returns whether it converted any layer.
bool dequantise_batches(GraphEditor& editor);

}  // namespace vellum

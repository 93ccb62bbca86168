// Layers of TFLite files that quantise one image or row in each run (import/tflite/hybrid.hpp).
#pragma once

#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Makes layers of floats of those that have several images or rows: LiteRT gives each a scale of its own, and
// DynamicSteps has one. Returns whether there were any.
bool dequantise_batches(GraphEditor& editor);

}  // namespace vellum

// Scan as a Loop. https://onnx.ai/onnx/operators/onnx__Scan.html
#pragma once

#include <memory>

#include "graph/operators/control/loop.hpp"
#include "import/record.hpp"

namespace vellum::onnx {

struct ScanForm {
  size_t scanned = 0;  // number of scanned inputs; the inputs before them are the states
  std::vector<LoopOperator::Stack> inputs, outputs;
};

// Reads the attributes of a Scan. `inputs`, `outputs`: the numbers of its body's inputs and outputs. Throws
// Error(corrupt_model) for attributes that do not fit these numbers.
ScanForm scan_form(const Attributes& attributes, size_t inputs, size_t outputs);
// Returns the equivalent Loop. Its body reads the scanned inputs from outside and gathers one element of
// each. `body` and `record` are the Scan's; `record` is changed to the Loop's. `opset` is the model's.
std::shared_ptr<LoopOperator> loop_of_scan(Graph body, const ScanForm& form, int opset, GraphRecord& record);

}  // namespace vellum::onnx

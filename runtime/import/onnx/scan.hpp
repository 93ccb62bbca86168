// Scan as a Loop. https://onnx.ai/onnx/operators/onnx__Scan.html
#pragma once

#include <memory>

#include "graph/operators/control/loop.hpp"
#include "import/record.hpp"

namespace vellum::onnx {

struct ScanForm {
  size_t scanned = 0;  // inputs that are scanned; the inputs before them are the states
  std::vector<LoopOperator::Stack> inputs, outputs;
};

// Reads the attributes of a Scan. `inputs`, `outputs`: how many its body has. Throws Error(corrupt_model) for
// attributes that do not fit them.
ScanForm scan_form(const Attributes& attributes, size_t inputs, size_t outputs);
// The Loop whose body gathers its elements from the scanned inputs, which it reads from outside. `body` and
// `record` are those of the Scan; the record becomes the Loop's. `opset` is the model's.
std::shared_ptr<LoopOperator> loop_of_scan(Graph body, const ScanForm& form, int opset, GraphRecord& record);

}  // namespace vellum::onnx

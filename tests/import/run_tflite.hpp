// Runs a TFLite file on the host.
#pragma once

#include <string>
#include <vector>

#include "import/import.hpp"
#include "passes/passes.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {

inline HostTensor tensor(const Shape& shape, const std::vector<float>& elements) {
  return HostTensor::f32(shape, elements);
}

// Returns the outputs of the optimised graph.
inline std::vector<HostTensor> run_tflite(const std::string& bytes, const std::vector<HostTensor>& inputs,
                                   const InputShapes& shapes = {}) {
  return evaluate(optimise(import_model(as_bytes(bytes)), shapes), inputs);
}

}  // namespace vellum::test

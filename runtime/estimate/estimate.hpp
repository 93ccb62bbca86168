// Estimates the memory of a compiled model by category. Needs no device. Start reading here for estimates.
#pragma once

#include <memory>

#include "caps/device_caps.hpp"
#include "compile/compile.hpp"
#include "program/weights.hpp"
#include "vellum/estimate.hpp"
#include "vulkan/shader_compiler.hpp"

namespace vellum {

struct EstimateInputs {
  const CompiledModel& model;
  const Graph& graph;  // as imported
  const DeviceCaps& caps;
  MemoryRules rules;
  uint64_t weights_budget = 0;                                    // 0: all weights on the device
  uint32_t in_flight = 1;                                         // runs, each with its own tensors
  std::shared_ptr<const gpu::CompiledShaders> shaders = nullptr;  // of a bundle; null: shaders are compiled
  StreamRates rates = {};

  const Program& program() const { return model.program; }
};

// Returns the device memory of a buffer of `bytes` bytes; 0 for 0 bytes.
uint64_t buffer_bytes(uint64_t bytes, const MemoryRules& rules);

// Estimates the memory of a session that shares nothing with other sessions. shape_inference_bytes stays 0.
MemoryEstimate estimate_model(const EstimateInputs& inputs);

// Returns the bytes of all tensors of the graph, constants included, with floats in `precision`.
uint64_t shape_inference_bytes(const Graph& imported, const InputShapes& shapes, const InputTensors& values,
                               Precision precision);

}  // namespace vellum

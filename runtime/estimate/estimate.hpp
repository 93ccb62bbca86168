// Compiled model -> bytes by category. Needs no device.
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
  uint32_t in_flight = 1;                                         // runs with tensors of their own
  std::shared_ptr<const gpu::CompiledShaders> shaders = nullptr;  // of a packed model

  const Program& program() const { return model.program; }
};

// Bytes of device memory that a buffer of `bytes` bytes takes; 0 for none.
uint64_t buffer_bytes(uint64_t bytes, const MemoryRules& rules);

// The memory of a session that is alone on its device. shape_inference_bytes is left at 0.
MemoryEstimate estimate_model(const EstimateInputs& inputs);

// The bytes of every tensor of the graph, constants included; floats count in `precision`.
uint64_t shape_inference_bytes(const Graph& graph, const InputShapes& shapes, Precision precision);

}  // namespace vellum

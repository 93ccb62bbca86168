// What the handles of the public interface hold.
#pragma once

#include <memory>

#include "graph/graph.hpp"
#include "kernels/lowering.hpp"
#include "vellum/vellum.hpp"
#include "vulkan/context.hpp"

namespace vellum {

struct Device::Impl {
  std::shared_ptr<gpu::Context> context;
};

struct Model::Impl {
  Graph graph;  // as imported: dimensions may be open
};

// Model -> Program for the given options: the one way from the file to what runs.
Program make_program(const Model& model, const DeviceCaps& caps, const SessionOptions& options);

}  // namespace vellum

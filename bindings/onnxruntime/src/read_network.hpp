// Reads ONNX Runtime's OrtGraph into a Network.
#pragma once

#include "network.hpp"
#include "runtime_api.hpp"

namespace vellum::ort {

enum class Constants : uint8_t {
  borrowed,  // they refer to the runtime's memory, which is valid during the callback
  copied,
};

// Operators are made as the ONNX importer makes them. A node that this refuses has no operator and a refusal.
// The order of nodes is that of Graph_GetNodes(). Throws Error for a graph that is not a model's.
Network read_network(const OrtGraph& graph, Constants constants);

}  // namespace vellum::ort

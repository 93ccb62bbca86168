// Reads ONNX Runtime's OrtGraph into a Network.
#pragma once

#include "network.hpp"
#include "runtime_api.hpp"

namespace vellum::ort {

enum class Constants : uint8_t {
  borrowed,  // they refer to the runtime's memory, which is valid during the callback
  copied,
};

// Reads a graph of the runtime. Operators are created as in the ONNX importer. A node that the importer
// refuses has a null operator and a refusal. Nodes are in the order of Graph_GetNodes(). Throws Error for a
// graph that is not a model's.
Network read_network(const OrtGraph& graph, Constants constants);

}  // namespace vellum::ort

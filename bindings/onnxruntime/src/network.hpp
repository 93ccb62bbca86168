// A network as the runtime passes it to the provider: all nodes, also those that Vellum cannot run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "import/record.hpp"

namespace vellum::ort {

// A dimension of a value as the runtime has inferred it: a size, a name ("batch"), or neither.
struct Dimension {
  int64_t size = kUnknownDim;
  std::string symbol;
};

struct Network {
  // The operator of a node that Vellum cannot run is null. Nodes are in execution order, and their names
  // differ from each other. Values that nodes compute have types where `dimensions` does.
  Graph graph;
  // Per value: the runtime's type. Nothing if the value is no tensor or its rank is unknown.
  std::vector<std::optional<std::vector<Dimension>>> dimensions;
  std::vector<std::string> refusals;  // per node: why its operator is null, else empty
  std::vector<std::string> types;     // per node: ONNX's operator type, with its domain unless that is ONNX's
  GraphRecord record;                 // per node
};

// Returns the graph of the nodes for which `taken` is true. Its inputs are values that other nodes compute or
// that are inputs of the network; its outputs are values that other nodes read or that are outputs of the
// network. Throws Error for an input of unknown rank.
Graph part_of(const Network& network, const std::vector<bool>& taken);

}  // namespace vellum::ort

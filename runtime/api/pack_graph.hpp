// Makes a bundle of a graph that was not imported from a file.
#pragma once

#include "graph/graph.hpp"
#include "import/record.hpp"
#include "vellum/pack.hpp"

namespace vellum {

// Writes a bundle as pack() of vellum/pack.hpp does. `record`: the record of the graph's operators.
PackSummary pack_graph(Graph graph, GraphRecord record, const PackSink& sink, const Caps& caps,
                       const SessionOptions& options);

}  // namespace vellum

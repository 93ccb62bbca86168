// Makes a bundle of a graph that was imported by other means than from a file.
#pragma once

#include "graph/graph.hpp"
#include "import/record.hpp"
#include "vellum/pack.hpp"

namespace vellum {

// Does what pack() of vellum/pack.hpp does. `record`: of the graph's operators.
PackSummary pack_graph(Graph graph, GraphRecord record, const PackSink& sink, const Caps& caps,
                       const SessionOptions& options);

}  // namespace vellum

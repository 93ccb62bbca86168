// The graph of a bundle.
#pragma once

#include "graph/graph.hpp"
#include "import/record.hpp"
#include "pack/file.hpp"

namespace vellum::packfile {

// Returns the graph as the importer of the model's format returned it. Its constants refer to the mapped
// file. Operators are created from their attributes, which are checked as in a model file. Throws
// Error(corrupt_model) or Error(unsupported).
Graph read_graph(const std::shared_ptr<const File>& file, const LoadLimits& limits = {});

// Returns the ids of constants by the address of their bytes: the input of portable_weight_key().
std::map<const std::byte*, ValueId> constants_by_address(const Graph& graph);

}  // namespace vellum::packfile

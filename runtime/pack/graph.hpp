// The graph of a packed model.
#pragma once

#include "graph/graph.hpp"
#include "import/record.hpp"
#include "pack/file.hpp"

namespace vellum::packfile {

// The graph as the importer of the model's format gave it, whose constants are those in the file. Every
// operator is made anew from its attributes, which are checked as those of a model file are.
// Error(corrupt_model) or Error(unsupported) as for these.
Graph read_graph(const std::shared_ptr<const File>& file);

// The ids of constants by their bytes: how weights that are packed are told apart, see portable_weight_key().
std::map<const std::byte*, ValueId> constants_by_address(const Graph& graph);

}  // namespace vellum::packfile

// Storage that tuning chose for the tensors of a network: how a TuningTable names networks and storages.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "kernels/framework/choice.hpp"
#include "vellum/options.hpp"

namespace vellum {

// Identifies a network in TuningTable::storages. `graph` is optimised and all its shapes are known. The
// fingerprint covers operators, names and types of values, where these come from, and the precision; it
// ignores the contents of weights.
std::string network_fingerprint(const Graph& graph, Precision precision);

// The storage of each value, by ValueId; empty if the table has no entry for the network, or one of another
// size.
std::vector<StorageChoice> tuned_storages(const TuningTable& table, const Graph& graph, Precision precision);

}  // namespace vellum

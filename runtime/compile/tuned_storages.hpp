// The storages that tuning chose for the tensors of a network, as a TuningTable holds them.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "kernels/framework/choice.hpp"
#include "vellum/options.hpp"

namespace vellum {

// Returns the key of a network in TuningTable::storages. `graph` is optimised and all its shapes are known.
// The key covers the operators, the names, types and producers of values, and the precision. It ignores the
// contents of weights.
std::string network_fingerprint(const Graph& graph, Precision precision);

// Returns the storage of each value, by ValueId. Empty if the table has no entry for the network, or an entry
// for another number of values.
std::vector<StorageChoice> tuned_storages(const TuningTable& table, const Graph& graph, Precision precision);

}  // namespace vellum

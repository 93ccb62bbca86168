// Which network a TuningTable speaks of, and what holds its tensors then.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "kernels/framework/choice.hpp"
#include "vellum/options.hpp"

namespace vellum {

// Of an optimised graph with all its shapes: operators, names and types of values and where they come from,
// and the precision; values of weights do not count.
std::string network_fingerprint(const Graph& graph, Precision precision);

// What holds each value, by ValueId, as TuningTable::storages has it; empty where the table says nothing of
// the network, or nothing that could be meant for it.
std::vector<StorageChoice> tuned_storages(const TuningTable& table, const Graph& graph, Precision precision);

// As TuningTable::storages holds them: b for buffer, i for image2d, v (volume) for image3d.
std::string to_letters(const std::vector<StorageChoice>& storages);

}  // namespace vellum

// Storage of the tensors that are joined to, or split from, others along their channels: in buffers they are
// views of one another, in images each part is copied (plan/views.hpp).
#pragma once

#include <vector>

#include "graph/graph.hpp"
#include "vellum/options.hpp"

namespace vellum {

// The storage of each value, by ValueId: buffers for inputs and outputs of concatenations, splits and slices
// that take whole slices of channels of one image, automatic for others. Empty if there are none.
std::vector<StorageChoice> joined_storages(const Graph& graph);

}  // namespace vellum

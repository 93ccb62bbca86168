// Storage of the tensors that would be copied in images, and in buffers are views of one another
// (plan/views.hpp): those that are joined to, or split from, others along their channels, and those whose
// bytes are the same in both layouts.
#pragma once

#include <vector>

#include "graph/graph.hpp"
#include "vellum/options.hpp"

namespace vellum {

// The storage of each value, by ValueId: buffers for inputs and outputs of concatenations, splits and slices
// that take whole slices of channels of one image, automatic for others. Empty if there are none.
std::vector<StorageChoice> joined_storages(const Graph& graph);

// Adds buffers for float values of one pixel or one row, such as the means before a classifier.
void put_vectors_in_buffers(const Graph& graph, std::vector<StorageChoice>& storages);
// Adds buffers for what 1x1 convolutions alone read of images whose rows are no whole tiles of eight pixels:
// the pixels of a tile follow one another in a buffer then (CONTIGUOUS in conv_pointwise.comp).
void put_products_in_buffers(const Graph& graph, std::vector<StorageChoice>& storages);
// Adds buffers for float matrices, such as tokens. Kernels load them as quickly from images or quicker.
void put_matrices_in_buffers(const Graph& graph, std::vector<StorageChoice>& storages);

}  // namespace vellum

// Chooses buffers for tensors that are better stored there, on devices that prefer images. In buffers,
// concatenations and splits along channels, and layout conversions of tensors with the same bytes in both
// layouts, are views (plan/views.hpp); in images they are copies.
#pragma once

#include <vector>

#include "graph/graph.hpp"
#include "vellum/options.hpp"

namespace vellum {

// Returns the storage of each value, by ValueId: buffers for the inputs and outputs of concatenations, splits
// and slices that take whole slices of channels of one image, automatic for other values. Empty if no value
// needs a buffer.
std::vector<StorageChoice> joined_storages(const Graph& graph);

// The next functions set values in `storages`, which may be empty, to buffers.
//
// Float values of one pixel or one row, such as the means before a classifier.
void put_vectors_in_buffers(const Graph& graph, std::vector<StorageChoice>& storages);

// Float pictures that only 1x1 convolutions read and whose rows are not whole tiles of eight pixels. In a
// buffer the pixels of each tile are contiguous (CONTIGUOUS in conv_pointwise.comp).
void use_buffers_for_products(const Graph& graph, std::vector<StorageChoice>& storages);

// Float matrices, such as tokens. Kernels load them from images at least as fast, so this only saves copies.
void put_matrices_in_buffers(const Graph& graph, std::vector<StorageChoice>& storages);

}  // namespace vellum

// How kernels read the elements of a strided view.
#pragma once

#include <cstddef>
#include <cstdint>

#include "graph/operators/matmul/attention.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// Returns whether four elements of the view along `axis` are always one texel of a channels4 tensor that has
// `plane` pixels in each image and `channels` channels; or of a linear tensor (plane 1, channels 4),
// contiguous from a multiple of four on. The view counts elements of the tensor in row-major order.
bool reads_quads(const StridedView& view, size_t axis, int64_t plane, int64_t channels);

// Returns the layout of input i to read for a kernel that reads views of both: linear where that exists, so
// that the other one need not stay for the kernel.
Layout layout_of_view(const Lowering& lowering, size_t i);

}  // namespace vellum

#include "kernels/movement/copy_region.hpp"

#include <optional>

#include "kernels/framework/elements.hpp"
#include "program/divide.hpp"
#include "shaders/movement/copy_region.h"

namespace vellum {

namespace {

enum Slot : size_t { kN, kC, kH, kW };

// Returns dimensions in the order of texels in a buffer: N, slices, H, W, or with rows_first N, H, slices, W.
// `nchw`: N, C, H, W with slices in place of channels.
std::array<int64_t, 4> in_memory(std::array<int64_t, 4> nchw, const TensorDesc& desc) {
  if (desc.rows_first) std::swap(nchw[kC], nchw[kH]);
  return nchw;
}

std::array<int64_t, 4> texel_dims(const TensorDesc& desc) {
  std::array<int64_t, 4> dims = nchw(desc.shape);
  dims[kC] = slices(dims[kC]);
  return in_memory(dims, desc);
}

// Returns whether both tensors have the texels of an image of these sizes in the same order.
bool texels_are_identical(const TensorDesc& a, const TensorDesc& b, const std::array<int64_t, 4>& size) {
  return a.rows_first == b.rows_first || size[kC] <= 4 || size[kH] == 1;
}

// Returns the first texel of the box [begin, begin + size) of `dims` if the box is contiguous in memory: it
// has one index of each outer dimension, a range of one dimension, and all of each inner dimension. Otherwise
// returns nothing.
std::optional<int64_t> run_start(const std::array<int64_t, 4>& begin, const std::array<int64_t, 4>& size,
                                 const std::array<int64_t, 4>& dims) {
  int64_t start = 0;
  bool cut = false;
  for (size_t d = 4; d-- > 0;) {
    if (cut && size[d] != 1) return std::nullopt;
    cut = cut || size[d] != dims[d];
  }
  for (size_t d = 0; d < 4; ++d) start = start * dims[d] + begin[d];
  return start;
}

// Returns the copy as a plain copy of bytes, if both tensors are buffers and it moves whole texels that are
// contiguous in both.
std::optional<PlainCopy> plain_copy(const Lowering& lowering, TensorId x, TensorId y, const Region& region) {
  const TensorDesc &from = lowering.tensor(x).desc, &to = lowering.tensor(y).desc;
  if (from.storage != Storage::buffer || to.storage != Storage::buffer || !from.has_elements_of(to) ||
      !texels_are_identical(from, to, region.size))
    return std::nullopt;
  if (region.step != std::array<int64_t, 4>{1, 1, 1, 1}) return std::nullopt;
  const std::array<int64_t, 4> x_dims = nchw(from.shape), y_dims = nchw(to.shape);
  std::array<int64_t, 4> x_begin, y_begin = region.begin, size = region.size;
  for (size_t d = 0; d < 4; ++d) {
    x_begin[d] = y_begin[d] + region.offset[d];
    if (x_begin[d] < 0 || x_begin[d] + size[d] > x_dims[d]) return std::nullopt;
  }
  // The last texel may hold further channels, which must not be copied.
  if (x_begin[kC] % 4 != 0 || y_begin[kC] % 4 != 0) return std::nullopt;
  const bool whole_texels = size[kC] % 4 == 0;
  const bool ends_both = x_begin[kC] + size[kC] == x_dims[kC] && y_begin[kC] + size[kC] == y_dims[kC];
  if (!whole_texels && !ends_both) return std::nullopt;
  x_begin[kC] /= 4;
  y_begin[kC] /= 4;
  size[kC] = slices(size[kC]);
  const std::optional<int64_t> x_start =
      run_start(in_memory(x_begin, from), in_memory(size, from), texel_dims(from));
  const std::optional<int64_t> y_start =
      run_start(in_memory(y_begin, to), in_memory(size, to), texel_dims(to));
  if (!x_start || !y_start) return std::nullopt;
  const uint64_t texel = 4 * size_of(to.element);
  const auto texels = static_cast<uint64_t>(size[0] * size[1] * size[2] * size[3]);
  return PlainCopy{x, y, static_cast<uint64_t>(*x_start) * texel, static_cast<uint64_t>(*y_start) * texel,
                   texels * texel};
}

}  // namespace

Region whole_region(const Shape& y) {
  Region region;
  region.size = nchw(y);
  return region;
}

void copy_region(Lowering& lowering, TensorId x, TensorId y, const Region& region) {
  const auto& [offset, step, mode, fill, begin, size] = region;
  const Shape &x_shape = lowering.tensor(x).desc.shape, &y_shape = lowering.tensor(y).desc.shape;
  const int64_t channels = nchw(x_shape)[kC];
  // Earlier channels of y may share the first texel, which must be kept in part.
  const bool keep = begin[kC] % 4 != 0;
  const bool fills_shared_texel =
      fill != 0.0f && channels % 4 != 0 && begin[kC] + size[kC] + offset[kC] > channels;
  const bool unaligned = offset[kC] % 4 != 0 || keep || fills_shared_texel;
  const int64_t first_slice = begin[kC] / 4, end_slice = (begin[kC] + size[kC] + 3) / 4;
  const Shape texels{size[kN], 4 * (end_slice - first_slice), size[kH], size[kW]};
  Dispatch dispatch =
      make_dispatch("copy_region", grid_of_texels(lowering.caps(), texels),
                    {reads("x", x), keep ? reads_and_writes("y", y) : writes("y", y)},
                    CopyRegionParameters{.x_shape = texel_shape(x_shape),
                                         .y_shape = texel_shape(y_shape),
                                         .origin = {begin[kW], begin[kH], first_slice, begin[kN]},
                                         .size = texel_shape(texels),
                                         .offset = {offset[kW], offset[kH], offset[kC], offset[kN]},
                                         .step = {step[kW], step[kH], step[kC], step[kN]},
                                         .fill = fill,
                                         .mode = mode});
  if (unaligned) define(dispatch, "UNALIGNED");
  if (keep) define(dispatch, "KEEP");
  dispatch.copy = plain_copy(lowering, x, y, region);
  lowering.dispatch(std::move(dispatch));
}

bool copies_bytes(const Lowering& lowering, TensorId x, TensorId y, const Region& region) {
  return plain_copy(lowering, x, y, region).has_value();
}

}  // namespace vellum

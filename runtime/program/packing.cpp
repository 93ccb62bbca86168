#include "program/packing.hpp"

#include <cstring>
#include <limits>

#include "graph/halves.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

// Index of the texel of (n, slice, h, w) in the order in which an image's or buffer's bytes are uploaded.
int64_t texel_index(const TensorDesc& desc, const std::array<int64_t, 4>& dims, int64_t n, int64_t slice, int64_t h,
                    int64_t w) {
  const auto [N, C, H, W] = dims;
  const int64_t S = (C + 3) / 4;
  if (desc.storage == Storage::buffer) return ((n * S + slice) * H + h) * W + w;
  // Rows are N * W texels wide; slices follow one another along y (image2d) or z (image3d), which is the same order.
  return (slice * H + h) * N * W + n * W + w;
}

}  // namespace

std::vector<std::byte> pack_elements(const TensorDesc& desc, std::span<const float> elements) {
  std::vector<std::byte> bytes(desc.byte_size());
  if (elements.size() * size_of(desc.element) > bytes.size())
    throw Error(ErrorCode::internal, "more packed elements than the tensor holds");
  if (desc.element == ElementType::f32) {
    std::memcpy(bytes.data(), elements.data(), elements.size_bytes());
  } else {
    to_halves(elements, reinterpret_cast<uint16_t*>(bytes.data()));
  }
  return bytes;
}

std::vector<std::byte> pack(const TensorDesc& desc, std::span<const float> row_major) {
  if (desc.layout == Layout::linear) return pack_elements(desc, row_major);
  const auto dims = nchw(desc.shape);
  const auto [N, C, H, W] = dims;
  std::vector<float> elements(static_cast<size_t>(desc.byte_size() / size_of(desc.element)));
  size_t i = 0;
  for (int64_t n = 0; n < N; ++n)
    for (int64_t c = 0; c < C; ++c)
      for (int64_t h = 0; h < H; ++h)
        for (int64_t w = 0; w < W; ++w)
          elements[static_cast<size_t>(texel_index(desc, dims, n, c / 4, h, w) * 4 + c % 4)] = row_major[i++];
  return pack_elements(desc, elements);
}

std::vector<std::byte> pack_ints(const TensorDesc& desc, std::span<const int64_t> row_major) {
  std::vector<std::byte> bytes(desc.byte_size());
  auto* out = reinterpret_cast<int32_t*>(bytes.data());
  for (size_t i = 0; i < row_major.size(); ++i) {
    if (row_major[i] > std::numeric_limits<int32_t>::max() || row_major[i] < std::numeric_limits<int32_t>::min())
      throw Error(ErrorCode::unsupported,
                  "integer " + std::to_string(row_major[i]) + " does not fit the 32 bits of device integers");
    out[i] = static_cast<int32_t>(row_major[i]);
  }
  return bytes;
}

}  // namespace vellum

#include "graph/operators/matmul/rotation_tables.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace vellum {

Ints rotation_partners(int64_t channels, int64_t half, bool interleaved) {
  if (2 * half > channels) return {};
  const int64_t step = interleaved ? 1 : half;
  Ints partner(static_cast<size_t>(channels));
  std::iota(partner.begin(), partner.end(), int64_t{0});
  for (int64_t i = 0; i < half; ++i) {
    const int64_t first = interleaved ? 2 * i : i;
    std::swap(partner[static_cast<size_t>(first)], partner[static_cast<size_t>(first + step)]);
  }
  return partner;
}

HostTensor rotation_tables(const HostTensor& cosines, const HostTensor& sines, const Ints& partner,
                           bool interleaved) {
  const Shape& shape = cosines.shape();
  const auto positions = static_cast<size_t>(shape[0]), half = static_cast<size_t>(shape[1]);
  const size_t channels = partner.size();
  const std::vector<float> cosine = cosines.to_floats(), sine = sines.to_floats();
  std::vector<float> table(2 * positions * channels, 0.0f);
  for (size_t row = 0; row < positions; ++row)
    for (size_t c = 0; c < channels; ++c) {
      const auto other = static_cast<size_t>(partner[c]);
      const size_t pair = row * half + (interleaved ? c / 2 : std::min(c, other));
      table[row * channels + c] = other == c ? 1.0f : cosine[pair];
      if (other != c) table[(positions + row) * channels + c] = other < c ? sine[pair] : -sine[pair];
    }
  return HostTensor::from<float>(cosines.dtype(), {2, 1, shape[0], static_cast<int64_t>(channels)}, table);
}

}  // namespace vellum

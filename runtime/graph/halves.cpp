#include "graph/halves.hpp"

namespace vellum {

void to_halves(std::span<const float> floats, uint16_t* halves) {
  for (const float value : floats) *halves++ = nearest_half(value);
}

}  // namespace vellum

// y[row, sample, class] = x[row, class] + G, where G are independent numbers of the standard Gumbel distribution: a hash of the
// seed, the bits of x, the class and the sample (runtime/graph/operators/generators/multinomial.cpp).
#version 450
#extension GL_GOOGLE_include_directive : require

#include "gumbel_noise.h"
#include "inf_nan.glsl"
#include "tensor.glsl"
#include "divide.glsl"

LINEAR_IN(x)
SCALARS_OUT(y)

// The finaliser of MurmurHash3.
uint mixed(uint h) {
  h = (h ^ (h >> 16)) * 0x85ebca6bu;
  h = (h ^ (h >> 13)) * 0xc2b2ae35u;
  return h ^ (h >> 16);
}

// Returns -log(1 - w). Vulkan's logarithm may be off by 2^-21 near 1, where the result is near 0: there it is a series.
float exponential(float w) {
  if (w >= 0.25) return -log(1.0 - w);
  float sum = 0.0;
  for (int k = 12; k > 0; --k) sum = w * (1.0 / float(k) + sum);
  return sum;
}

void main() {
  int i = flat_index();
  if (i >= count) return;
  ivec2 by_class = divide(i, classes);
  ivec2 by_sample = divide(by_class.x, samples);
  int index = by_sample.x * classes + by_class.y;
  float value = load_x(index);
  uint h = mixed(uint(seed) ^ 0x9e3779b9u);
  h = mixed(h ^ floatBitsToUint(value));
  h = mixed(h + 0x9e3779b9u * uint(index));
  h = mixed(h + 0x85ebca6bu * uint(by_sample.y));
  float w = (float(h >> 9) + 0.5) * 1.1920928955078125e-7;
  set_y(i, value - log(exponential(w)));
}

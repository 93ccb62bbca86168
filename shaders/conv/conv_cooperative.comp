// Convolution without groups, or matrix product whose rows are pixels, with cooperative matrices: rows are
// pixels, columns are output channels, and for each tap of the window sums run over input channels.
//
// Weights as in conv_tile.glsl.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "cooperative.glsl"

#include "conv_cooperative.h"
#include "tensor.glsl"
#include "activation.glsl"
#include "divide.glsl"

TENSOR_IN(x)
TEXELS_IN(w)
TENSOR_OUT(y)
#ifdef RESIDUAL
TENSOR_IN(residual)
#endif
#include "residual.glsl"
#include "scale.glsl"

#include "cooperative_block.glsl"

int first_pixel, first_output;  // of the workgroup; outputs in slices
int pixels, input_slices, output_slices, taps;
int tap = 0, slice = 0;  // of the next step

// (x, y, batch) of an output pixel.
ivec3 pixel_at(int pixel) {
  ivec2 row_column = divide(pixel, y_shape.x);
  ivec2 batch_row = divide(row_column.x, y_shape.y);
  return ivec3(row_column.y, batch_row.y, batch_row.x);
}

// What is outside is loaded from inside and left out: loads behind branches would wait for one another.
uvec2 halves_of_x(ivec2 at, int slice, int n, bool wanted) {
  ivec3 there = ivec3(clamp(at, ivec2(0), x_shape.xy - 1), min(slice, input_slices - 1));
  vec4 v = load_x(ivec4(there, n));
#ifdef SCALE
  v *= scale_of(there.z, n);
#endif
  return mix(uvec2(0), pack_half4(v), bvec2(wanted && there == ivec3(at, slice)));
}
uvec2 halves_of_w(int channel, int output_slice, int tap) {
  int width = 4 * input_slices;
  ivec2 there = min(ivec2(channel, output_slice), ivec2(width, output_slices) - 1);
  vec4 v = load_w(there.x, there.y * taps + tap, width);
  return mix(uvec2(0), pack_half4(v), bvec2(there == ivec2(channel, output_slice)));
}

ivec3 pixel_a[LOADS_A];  // for each of this invocation's loads of A: (x, y) of the first tap, batch
bool wanted_a[LOADS_A];

void locate_pixels() {
  [[unroll]] for (int i = 0; i < LOADS_A; ++i) {
    int pixel = first_pixel + place_a(i).x;
    wanted_a[i] = pixel < pixels;
    ivec3 at = pixel_at(min(pixel, pixels - 1));
    pixel_a[i] = ivec3(at.xy * stride - padding, at.z);
  }
}

bool fetch() {
  if (slice >= input_slices) {
    slice = 0;
    ++tap;
  }
  if (tap >= taps) return false;
  ivec2 row_column = divide(tap, kernel_size.x);
  ivec2 shift = ivec2(row_column.y, row_column.x) * dilation;
  [[unroll]] for (int i = 0; i < LOADS_A; ++i) {
    int slice_a = slice + 2 * place_a(i).y;
    ivec2 at = pixel_a[i].xy + shift;
    next_a[i] = uvec4(halves_of_x(at, slice_a, pixel_a[i].z, wanted_a[i]),
                      halves_of_x(at, slice_a + 1, pixel_a[i].z, wanted_a[i]));
  }
  [[unroll]] for (int i = 0; i < LOADS_B; ++i) {
    ivec2 place = place_b(i);
    int channel = 4 * slice + place.x, output_slice = first_output + 2 * place.y;
    next_b[i] = uvec4(halves_of_w(channel, output_slice, tap), halves_of_w(channel, output_slice + 1, tap));
  }
  slice += STEP_K / 4;
  return true;
}

// Adds bias and residual to the four sums of a pixel, and stores them.
void finish(int row, int quad, vec4 v) {
  int pixel = first_pixel + row, slice = first_output + quad;
  if (pixel >= pixels || slice >= output_slices) return;
  ivec3 at = pixel_at(pixel);
  int grid_width = 4 * input_slices;
  ivec2 bias_at = divide(slice, grid_width);
  v += load_w(bias_at.y, output_slices * taps + bias_at.x, grid_width);
  ivec4 p = ivec4(at.xy, slice, at.z);
  store_y(p, activate(with_residual(v, p)));
}

bool start() {
  pixels = y_shape.x * y_shape.y * y_shape.w;
  input_slices = slices(x_shape.z);
  output_slices = slices(y_shape.z);
  taps = kernel_size.x * kernel_size.y;
  int blocks_m = (pixels + BLOCK_M - 1) / BLOCK_M;
  ivec2 block = divide(workgroup_index(), blocks_m);
  first_pixel = block.y * BLOCK_M;
  first_output = block.x * (BLOCK_N / 4);
  if (first_output >= output_slices) return false;
  locate_pixels();
  return true;
}

#include "cooperative_main.glsl"

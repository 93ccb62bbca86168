// Converts values of a network to a picture in bytes: RAMP, STEPS, CLASSES (LARGEST: the channel with the
// largest value) or RGB, with OVER blended over a frame. Picture in
// runtime/graph/operators/movement/picture.hpp defines the values.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "picture.h"
#include "tensor.glsl"
#include "divide.glsl"

TENSOR_IN(x)
TEXELS_IN(palette)  // one row of red, green, blue, alpha in 0..255
#ifdef OVER
#include "frame_image.glsl"
#ifndef FROM_IMAGE
LINEAR_IN(frame)      // bytes
#endif
LINEAR_IN(transform)  // two rows of three
#include "frame_pixels.glsl"
#endif
LINEAR_OUT(y)  // four bytes for each pixel

vec4 color(int i) { return load_palette(clamp(i, 0, colors - 1), 0, colors); }

// Returns four channels of the values at a position in pixels of the values.
vec4 values(vec2 at, int slice) {
  ivec2 last = x_shape.xy - 1;
#ifdef NEAREST
  return load_x(ivec4(clamp(ivec2(floor(at)), ivec2(0), last), slice, 0));
#else
  vec2 lower = floor(at - 0.5), share = at - 0.5 - lower;
  ivec2 first = clamp(ivec2(lower), ivec2(0), last), second = clamp(ivec2(lower) + 1, ivec2(0), last);
  vec4 above = mix(load_x(ivec4(first, slice, 0)), load_x(ivec4(second.x, first.y, slice, 0)), share.x);
  vec4 below = mix(load_x(ivec4(first.x, second.y, slice, 0)), load_x(ivec4(second, slice, 0)), share.x);
  return mix(above, below, share.y);
#endif
}

#ifdef LARGEST
int largest_channel(vec2 at) {
  int best = 0;
  float most = 0.0;
  for (int slice = 0; slice < slices(x_shape.z); ++slice) {
    vec4 four = values(at, slice);
    for (int i = 0; i < min(4, x_shape.z - 4 * slice); ++i) {
      int channel = 4 * slice + i;
      if (channel > 0 && !(four[i] > most)) continue;
      best = channel;
      most = four[i];
    }
  }
  return best;
}
#endif

vec4 painted(vec2 at) {
#if defined(LARGEST)
  return color(largest_channel(at) % colors);
#elif defined(CLASSES)
  return color(int(clamp(floor(values(at, 0).x + 0.5), 0.0, 1e9)) % colors);
#else
  vec4 share = clamp((values(at, 0) - low) * scale, 0.0, 1.0);
#if defined(RGB)
  return 255.0 * (x_shape.z == 4 ? share : vec4(share.rgb, 1.0));
#elif defined(STEPS)
  return color(int(share.x * float(colors)));
#elif defined(RAMP)
  float position = share.x * float(colors - 1);
  int first = clamp(int(position), 0, max(colors - 2, 0));
  return mix(color(first), color(first + 1), position - float(first));
#endif
#endif
}

#ifdef OVER
vec4 frame_at(vec2 at) {
#ifdef SAME_SIZE
  return frame_pixel(ivec2(at));
#else
  ivec2 last = size - 1;
  vec2 lower = floor(at - 0.5), share = at - 0.5 - lower;
  ivec2 first = clamp(ivec2(lower), ivec2(0), last), second = clamp(ivec2(lower) + 1, ivec2(0), last);
  vec4 above = mix(frame_pixel(first), frame_pixel(ivec2(second.x, first.y)), share.x);
  vec4 below = mix(frame_pixel(ivec2(first.x, second.y)), frame_pixel(second), share.x);
  return mix(above, below, share.y);
#endif
}

vec4 blended(vec2 in_frame) {
  vec4 below = frame_at(in_frame);
  vec3 rows[2] = transform_rows();
  float area = rows[0].x * rows[1].y - rows[0].y * rows[1].x;
  if (abs(area) >= 1e-30) {
    vec2 p = in_frame - vec2(rows[0].z, rows[1].z);
    vec2 at = vec2(rows[1].y * p.x - rows[0].y * p.y, rows[0].x * p.y - rows[1].x * p.x) / area / vec2(network);
    if (all(greaterThanEqual(at, vec2(0))) && all(lessThanEqual(at, vec2(1)))) {
      vec4 above = painted(at * vec2(x_shape.xy));
      below = mix(below, above, above.a / 255.0);
    }
  }
  return vec4(below.rgb, 255.0);
}
#endif

void main() {
  ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
  if (any(greaterThanEqual(pixel, picture))) return;
  vec2 at = vec2(pixel) + 0.5;
#if defined(OVER) && defined(SAME_SIZE)
  vec4 result = blended(at);
#elif defined(OVER)
  vec4 result = blended(exact_halves(at * vec2(size), vec2(picture)));
#else
  vec4 result = painted(exact_halves(at * vec2(x_shape.xy), vec2(picture)));
#endif
  store_y(pixel.y * picture.x + pixel.x, ivec4(clamp(result, 0.0, 255.0) + 0.5));
}

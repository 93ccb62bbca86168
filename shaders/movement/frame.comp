// Samples a frame of bytes at a transformed position and converts its colours: Frame in graph/operators/movement/frame.hpp
// defines the values.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "frame.h"
#include "frame_image.glsl"
#include "tensor.glsl"
#include "texel.glsl"

#ifndef FROM_IMAGE
LINEAR_IN(frame)      // bytes
#endif
LINEAR_IN(transform)  // two rows of three
TENSOR_OUT(y)

// The largest number of pixels along an axis that FrameFilter::area averages: kMostAveraged in
// graph/operators/movement/frame.hpp.
const float MOST_AVERAGED = 64.0;

#include "frame_pixels.glsl"

// The pixels that one sample combines along an axis: the pixels that it covers if it has an extent (of at
// least one), else the two nearest to its centre.
int first_pixel(float centre, float extent) { return int(floor(centre - (extent > 0.0 ? extent / 2.0 : 0.5))); }
int pixel_count(float centre, float extent, int first) {
  if (extent <= 0.0) return 2;
  return clamp(int(ceil(centre + extent / 2.0)) - first, 1, int(MOST_AVERAGED) + 2);  // int() of a NaN is undefined
}
float weight(float centre, float extent, int at) {
  float begin = float(at);
  if (extent == 0.0) return 1.0 - abs(begin + 0.5 - centre);
  return max(min(begin + 1.0, centre + extent / 2.0) - max(begin, centre - extent / 2.0), 0.0) / extent;
}

vec4 filtered(vec2 centre, vec2 extent) {
  ivec2 first = ivec2(first_pixel(centre.x, extent.x), first_pixel(centre.y, extent.y));
  ivec2 end = first + ivec2(pixel_count(centre.x, extent.x, first.x), pixel_count(centre.y, extent.y, first.y));
  vec4 sum = vec4(0);
  for (int y = first.y; y < end.y; ++y) {
    vec4 row_sum = vec4(0);
    int inside = clamp(y, 0, size.y - 1);
    for (int x = first.x; x < end.x; ++x)
      row_sum += weight(centre.x, extent.x, x) * frame_pixel(ivec2(clamp(x, 0, size.x - 1), inside));
    sum += weight(centre.y, extent.y, y) * row_sum;
  }
  return sum;
}

vec2 to_frame(vec2 p, vec3 rows[2]) {
  // Positions far outside are clamped; they read the border like nearer ones.
  vec2 at = vec2(dot(rows[0], vec3(p, 1)), dot(rows[1], vec3(p, 1)));
  return clamp(at, vec2(-2.0 * MOST_AVERAGED), vec2(size) + 2.0 * MOST_AVERAGED);
}

// Returns the filtered frame at pixel p of the network.
vec4 sampled(vec2 p, vec3 rows[2]) {
  vec2 extent = vec2(0);
  ivec2 samples = ivec2(1);
#ifdef AREA
  mat2 step = mat2(rows[0].x, rows[1].x, rows[0].y, rows[1].y);  // columns: the step to the next column, to the next row
  if ((rows[0].y == 0.0 && rows[1].x == 0.0) || (rows[0].x == 0.0 && rows[1].y == 0.0)) {
    extent = min(abs(step[0]) + abs(step[1]), vec2(MOST_AVERAGED));
    extent = mix(vec2(0), extent, greaterThanEqual(extent, vec2(1)));
  } else {
    samples = ivec2(clamp(ceil(vec2(length(step[0]), length(step[1])) - 1e-3), vec2(1), vec2(MOST_AVERAGED)));
  }
#endif
  vec4 sum = vec4(0);
  for (int j = 0; j < samples.y; ++j)
    for (int i = 0; i < samples.x; ++i)
      sum += filtered(to_frame(p + (vec2(i, j) + 0.5) / vec2(samples), rows), extent);
  return sum / float(samples.x * samples.y);
}

bool is_in_frame(vec2 at) { return all(greaterThanEqual(at, vec2(0))) && all(lessThanEqual(at, vec2(size))); }

void main() {
  ivec4 p;
  if (!output_texel(y_shape, p)) return;
  vec3 rows[2] = transform_rows();
#ifdef FILL
  vec4 pixel = fill;
  if (is_in_frame(to_frame(vec2(p.xy) + 0.5, rows))) pixel = sampled(vec2(p.xy), rows);
#else
  vec4 pixel = sampled(vec2(p.xy), rows);
#endif
#if defined(LUMA)
  pixel = vec4(dot(pixel.rgb, vec3(0.299, 0.587, 0.114)));
#elif defined(BGR)
  pixel = pixel.bgra;
#endif
  store_y(p, (pixel - mean) * scale);
}

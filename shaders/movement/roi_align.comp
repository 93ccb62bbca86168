// RoiAlign: each bin of a region is the average (or with MAX the largest weighted element) of samples.
// https://onnx.ai/onnx/operators/onnx__RoiAlign.html
#version 450
#extension GL_GOOGLE_include_directive : require

#include "roi_align.h"
#include "inf_nan.glsl"
#include "tensor.glsl"
#include "texel.glsl"

TENSOR_IN(x)
LINEAR_IN(rois)     // (regions, 4): x1, y1, x2, y2
LINEAR_IN(batches)  // (regions)
TENSOR_OUT(y)

// A region cannot make an invocation run for ever: beyond this many samples per axis, bins are sampled more coarsely.
const float kMostSamples = 4096.0;

void main() {
  ivec4 p;
  if (!output_texel(y_shape, p)) return;
  int n = clamp(load_batches(p.w), 0, x_shape.w - 1);
  float offset = half_pixel != 0 ? 0.5 : 0.0;
  vec4 roi = vec4(load_rois(4 * p.w), load_rois(4 * p.w + 1), load_rois(4 * p.w + 2), load_rois(4 * p.w + 3)) *
                 spatial_scale - offset;
  vec2 extent = roi.zw - roi.xy;
  if (half_pixel == 0) extent = max(extent, vec2(1));
  vec2 bin = extent / vec2(y_shape.xy);
  ivec2 samples = sampling_ratio > 0 ? ivec2(sampling_ratio) : ivec2(clamp(ceil(bin), vec2(0), vec2(kMostSamples)));
  vec2 size = vec2(x_shape.xy), start = roi.xy + vec2(p.xy) * bin, step = bin / vec2(max(samples, ivec2(1)));
  vec4 sum = vec4(0), largest = vec4(uintBitsToFloat(0xff800000u));
  for (int row = 0; row < samples.y; ++row) {
    for (int column = 0; column < samples.x; ++column) {
      vec2 v = start + (vec2(column, row) + 0.5) * step;
      bool inside = all(greaterThanEqual(v, vec2(-1))) && all(lessThanEqual(v, size));
      v = inside ? clamp(v, vec2(0), size - 1.0) : vec2(0);
      ivec2 low = ivec2(v), high = min(low + 1, x_shape.xy - 1);
      vec2 t = v - vec2(low);
      for (int corner = 0; corner < 4; ++corner) {
        bvec2 far = bvec2((corner & 1) != 0, (corner & 2) != 0);
        vec2 w = mix(1.0 - t, t, far);
        vec4 term = load_x(ivec4(mix(low, high, far), p.z, n)) * (inside ? w.x * w.y : 0.0);
        sum += term;
        largest = max(largest, term);
      }
    }
  }
#ifdef MAX
  store_y(p, samples.x * samples.y > 0 ? largest : vec4(0));
#else
  store_y(p, sum / float(max(samples.x * samples.y, 1)));
#endif
}

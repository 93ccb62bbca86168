// RoiAlign: each bin of a region is the average (or with MAX the largest weighted element) of samples.
// AT_ONCE: how many samples of a row one iteration computes. https://onnx.ai/onnx/operators/onnx__RoiAlign.html
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "roi_align.h"
#include "inf_nan.glsl"
#include "tensor.glsl"
#include "texel.glsl"
#include "divide.glsl"

TENSOR_IN(x)
LINEAR_IN(rois)     // (regions, 4): x1, y1, x2, y2
LINEAR_IN(batches)  // (regions)
TENSOR_OUT(y)

// The host refuses regions with more samples per axis.
const float kMostSamples = 65536.0;

// Returns (first, end) of the samples of an axis that may be within the `size` elements of x, of `count` samples in
// all. The first sample is at start + step / 2. With this range a region of any size takes no more iterations
// than x has elements.
ivec2 samples_inside(float start, float step, int count, float size) {
  vec2 bounds = (vec2(-1, size) - start) / step - 0.5;
  return ivec2(clamp(floor(bounds) + vec2(-1, 3), vec2(0), vec2(count)));
}

void main() {
  ivec4 p;
  if (!output_texel(y_shape, p)) return;
  int n = clamp(load_batches(p.w), 0, x_shape.w - 1);
  float offset = half_pixel != 0 ? 0.5 : 0.0;
  vec4 roi = vec4(load_rois(4 * p.w), load_rois(4 * p.w + 1), load_rois(4 * p.w + 2), load_rois(4 * p.w + 3)) *
                 spatial_scale - offset;
  vec2 extent = roi.zw - roi.xy;
  if (half_pixel == 0) extent = max(extent, vec2(1));
  vec2 bin = exact_halves(extent, vec2(y_shape.xy));
  ivec2 samples = sampling_ratio > 0 ? ivec2(sampling_ratio) : ivec2(clamp(ceil(bin), vec2(0), vec2(kMostSamples)));
  vec2 size = vec2(x_shape.xy), start = roi.xy + vec2(p.xy) * bin, step = exact_halves(bin, vec2(max(samples, ivec2(1))));
  ivec2 columns = ivec2(0, samples.x), rows = ivec2(0, samples.y);
  if (sampling_ratio == 0 && samples.x > 0 && samples.y > 0) {
    columns = samples_inside(start.x, step.x, samples.x, size.x);
    rows = samples_inside(start.y, step.y, samples.y, size.y);
  }
  vec4 sum = vec4(0), largest = vec4(uintBitsToFloat(0xff800000u));
  for (int row = rows.x; row < rows.y; ++row) {
    for (int column = columns.x; column < columns.y; column += AT_ONCE) {
      [[unroll]] for (int ahead = 0; ahead < AT_ONCE; ++ahead) {
        vec2 v = start + (vec2(column + ahead, row) + 0.5) * step;
        bool counts = column + ahead < columns.y;
        bool inside = counts && all(greaterThanEqual(v, vec2(-1))) && all(lessThanEqual(v, size));
        v = inside ? clamp(v, vec2(0), size - 1.0) : vec2(0);
        ivec2 low = clamp(ivec2(v), ivec2(0), x_shape.xy - 1), high = min(low + 1, x_shape.xy - 1);
        vec2 t = v - vec2(low);
        [[unroll]] for (int corner = 0; corner < 4; ++corner) {
          bvec2 far = bvec2((corner & 1) != 0, (corner & 2) != 0);
          vec2 w = mix(1.0 - t, t, far);
          vec4 term = load_x(ivec4(mix(low, high, far), p.z, n)) * (inside ? w.x * w.y : 0.0);
          sum += term;
          if (counts) largest = max(largest, term);
        }
      }
    }
  }
#ifdef MAX
  // Samples outside of x are zeros.
  if ((rows.y - rows.x) * (columns.y - columns.x) < samples.x * samples.y) largest = max(largest, vec4(0));
  store_y(p, samples.x * samples.y > 0 ? largest : vec4(0));
#else
  store_y(p, sum / (float(max(samples.x, 1)) * float(max(samples.y, 1))));
#endif
}

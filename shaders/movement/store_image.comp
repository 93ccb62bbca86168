// Stores a linear tensor in an image of the application. Channels are red, green, blue and alpha; missing
// colours are 0, missing alpha is 1. BYTES: values are in 0..255. FORMAT: the image's format qualifier;
// without it the device converts to the image's format.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "store_image.h"
#include "tensor.glsl"

LINEAR_IN(x)
#ifdef FORMAT
layout(set = 0, binding = BINDING_image, FORMAT) uniform writeonly highp image2D image;
#else
layout(set = 0, binding = BINDING_image) uniform writeonly highp image2D image;
#endif

void main() {
  ivec2 at = ivec2(gl_GlobalInvocationID.xy);
  if (any(greaterThanEqual(at, size))) return;
  int first = at.x * steps.x + at.y * steps.y;
  vec4 pixel = vec4(0, 0, 0, 1);
  for (int c = 0; c < steps.w; ++c) {
    float value = float(load_x(first + c * steps.z));
#ifdef BYTES
    value /= 255.0;
#endif
    pixel[c] = value;
  }
  imageStore(image, at, pixel);
}

// With SCALE: vec4 scale_of(int slice, int n) returns the factors by which x is multiplied before the
// convolution, from the tensor `scale`: one for each channel, or with SCALE_OF_IMAGES one for each channel of
// each image. scaled_x() multiplies; with SCALE_ROUNDED it rounds the products by the appended parameters
// scale_step, scale_least and scale_most. Include it after TENSOR_IN(x) and activation.glsl.
#ifdef SCALE
#ifdef SCALE_OF_IMAGES
#define scale_shape ivec4(1, 1, x_shape.zw)
#else
#define scale_shape ivec4(1, 1, x_shape.z, 1)
#endif
TENSOR_IN(scale)

#ifdef SCALE_OF_IMAGES
vec4 scale_of(int slice, int n) { return load_scale(ivec4(0, 0, slice, n)); }
#else
vec4 scale_of(int slice, int n) { return load_scale(ivec4(0, 0, slice, 0)); }
#endif

vec4 scaled_x(vec4 x, vec4 scale) {
#ifdef SCALE_ROUNDED
  precise vec4 product = x * scale;
  return round_to_steps(product, scale_step, scale_least, scale_most);
#else
  return x * scale;
#endif
}
#endif

// The texel of a channels4 tensor that an invocation computes, in a grid of grid_of_texels()
// (runtime/kernels/framework/elements.hpp): x runs over N * W, the order of texels in memory, y over H, z over slices.

// p = (w, h, slice, n) in a tensor of shape (W, H, C, N); false beyond its end.
bool output_texel(ivec4 shape, out ivec4 p) {
  ivec3 id = ivec3(gl_GlobalInvocationID);
  int n = shape.w == 1 ? 0 : id.x / shape.x;
  p = ivec4(id.x - n * shape.x, id.y, id.z, n);
  return all(lessThan(p, ivec4(shape.xy, slices(shape.z), shape.w)));
}

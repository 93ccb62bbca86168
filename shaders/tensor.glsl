// How kernels reach tensors, whatever their storage, layout and precision. The runtime defines for each binding i
//   TENSOR_i   <storage>_<access>_<element>, e.g. IMAGE2D_STORAGE_F32, IMAGE2D_SAMPLED_F16, BUFFER_F32, LINEAR_F16
// and the kernel declares `ivec4 <name>_shape` (W, H, C, N; in its push constants) before
//   TENSOR_IN(i, name)    vec4 load_<name>(ivec4 whsn)        texel at w, h, slice, batch; no bounds check
//   TENSOR_OUT(i, name)   void store_<name>(ivec4 whsn, vec4) zeroes the unused channels of the last slice
//   LINEAR_IN(i, name)    float load_<name>(int index)        element of a linear tensor
//   LINEAR_OUT(i, name)   void store_<name>(int index4, vec4) elements 4*index4 ... 4*index4+3
//   TEXELS_IN(i, name)    vec4 load_<name>(int x, int y, int width)   texel of a packed weight grid

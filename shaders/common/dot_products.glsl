// Dot products of four bytes with four bytes (SPV_KHR_integer_dot_product), for kernels with the macro DOT_PRODUCTS
// (byte_words.glsl): the first are signed bytes, the second signed or unsigned ones. Devices have instructions for one of these,
// or for both (DeviceCaps).
//   int dot_product(uint a, uint b)   the sum of the four products
#include "byte_words.glsl"

// glslang 12 has no function for the instruction, but can be given its number. 0: vectors are packed in words of four bytes.
#define DOT_PRODUCT_SPIRV_(number)                                                                                \
  spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019], id = number)
#if DOT_PRODUCTS == 1
DOT_PRODUCT_SPIRV_(4450) int packed_dot_product(uint a, uint b, spirv_literal int format);  // OpSDot
#else
DOT_PRODUCT_SPIRV_(4452) int packed_dot_product(uint a, uint b, spirv_literal int format);  // OpSUDot
#endif
int dot_product(uint a, uint b) { return packed_dot_product(a, b, 0); }

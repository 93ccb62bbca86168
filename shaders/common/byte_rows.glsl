// Rows of signed bytes with a scale each (runtime/graph/byte_rows.hpp).

// Returns the numbers of four bytes.
vec4 signed_bytes(uvec4 bytes) { return vec4(ivec4(bytes << 24) >> 24); }

// Returns the word of four values that are within -127 and 127.
int word_of_bytes(vec4 values) {
  ivec4 bytes = ivec4(roundEven(values)) & 255;
  return bytes.x | bytes.y << 8 | bytes.z << 16 | bytes.w << 24;
}

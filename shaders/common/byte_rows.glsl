// Rows of bytes (runtime/graph/byte_rows.hpp): signed bytes with a scale each; WITHOUT_SCALES: without; NIBBLES: numbers of 4
// bits plus 8, so that a word has two slices of four channels.

// Returns the numbers of four bytes.
vec4 signed_bytes(uvec4 bytes) { return vec4(ivec4(bytes << 24) >> 24); }

// Returns the word of four values that are within -127 and 127.
int word_of_bytes(vec4 values) {
  ivec4 bytes = ivec4(roundEven(values)) & 255;
  return bytes.x | bytes.y << 8 | bytes.z << 16 | bytes.w << 24;
}

#ifdef NIBBLES
// Returns the numbers of a slice, which is the lower or the upper half of a word.
vec4 numbers_of_slice(uvec4 bytes, int slice) {
  uvec2 pair = (slice & 1) == 0 ? bytes.xy : bytes.zw;
  return vec4(pair.x & 15u, pair.x >> 4, pair.y & 15u, pair.y >> 4) - 8.0;
}
int word_of_slice(int slice) { return slice >> 1; }
#else
vec4 numbers_of_slice(uvec4 bytes, int slice) { return signed_bytes(bytes); }
int word_of_slice(int slice) { return slice; }
#endif

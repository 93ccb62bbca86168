// Reads the pixels of a frame from bytes or from an image. Before including this file, a shader includes
// frame_image.glsl and declares LINEAR_IN(frame) (unless FROM_IMAGE) and LINEAR_IN(transform). The file reads the
// parameters plane, size, row and those of ColorConversion (frame.h).
// runtime/kernels/movement/frame_pixels.hpp and frame_image.hpp define the macros.

#if defined(FROM_IMAGE)
// Pixels come from the image; there is no function of bytes.
#elif defined(CHROMA_PAIRS)
// Returns U and V. CHROMA_PAIRS: 1, U is before V; 2, V is before U. Both are in the same 32-bit word.
vec2 chroma_at(int offset) {
  int first = (CHROMA_PAIRS == 1 ? plane.x : plane.y) + offset;
  ivec4 word = load4_frame(first >> 2);
  ivec2 pair = (first & 2) == 0 ? word.xy : word.zw;
  return vec2(CHROMA_PAIRS == 1 ? pair : pair.yx);
}
#elif defined(WITH_CHROMA)
vec2 chroma_at(int offset) { return vec2(load_frame(plane.x + offset), load_frame(plane.y + offset)); }
#endif

vec4 converted(float y, vec2 uv) {
  float luma = (y - luma_offset) * luma_scale;
  uv -= 128.0;
  vec3 rgb = vec3(luma) + vec3(red_v * uv.y, green_u * uv.x + green_v * uv.y, blue_u * uv.x);
  return vec4(clamp(rgb, 0.0, 255.0), 255.0);
}

// Returns red, green, blue and alpha in 0..255 of a pixel inside the frame.
vec4 frame_pixel(ivec2 at) {
#if defined(IMAGE_PLANES)
  vec4 yuv = stored_pixel(at, size);
  return converted(yuv.x, yuv.yz);
#elif defined(FROM_IMAGE)
  return stored_pixel(at, size);
#elif defined(WITH_CHROMA)
  int chroma = (at.y >> 1) * plane.z + (at.x >> 1) * plane.w;
  return converted(float(load_frame(at.y * row + at.x)), chroma_at(chroma));
#elif defined(PIXEL_WORDS)
  vec4 pixel = vec4(load4_frame((at.y * row >> 2) + at.x));
  return PIXEL_WORDS == 1 ? pixel : pixel.bgra;
#else
  int i = at.y * row + at.x * plane.x;
  return vec4(load_frame(i + plane.y), load_frame(i + plane.z), load_frame(i + plane.w),
              plane.x == 4 ? load_frame(i + 3) : 255);
#endif
}

// Returns an element of the matrix, or 0 if it is not finite: a wrong value of the application must not keep
// the device in a loop. It is detected by its bits, because drivers may assume that all values are finite.
float transform_element(int i) {
  float value = load_transform(i);
  bool finite = (floatBitsToUint(value) & 0x7f800000u) != 0x7f800000u;
  return finite ? clamp(value, -1e9, 1e9) : 0.0;
}

// Returns the rows of FrameTransform::to_frame().
vec3[2] transform_rows() {
  vec3 rows[2];
  for (int i = 0; i < 2; ++i)
    rows[i] = vec3(transform_element(3 * i), transform_element(3 * i + 1), transform_element(3 * i + 2));
  return rows;
}

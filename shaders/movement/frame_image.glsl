// Reads an image of the application instead of a frame's bytes. One of three macros is defined:
//   IMAGE_BYTES    colours in normalised bytes
//   IMAGE_NUMBERS  colours in any other numbers
//   IMAGE_PLANES   Y, U and V in normalised bytes, as green, blue and red
#if defined(IMAGE_BYTES) || defined(IMAGE_NUMBERS) || defined(IMAGE_PLANES)
#define FROM_IMAGE
layout(set = 0, binding = BINDING_frame) uniform highp sampler2D frame_image;

// Returns values in 0..255. Bytes are rounded, so that a driver's inexact conversion to floats has no effect.
vec4 stored(ivec2 at, ivec2 image_size) {
#if defined(IMAGE_PLANES)
  // Vulkan has no texelFetch for images of several planes. The even pixel of a block has the block's chroma
  // for every chroma location.
  vec2 extent = vec2(image_size);
  vec4 luma = textureLod(frame_image, (vec2(at) + 0.5) / extent, 0.0);
  vec4 chroma = textureLod(frame_image, (vec2(at & ~1) + 0.5) / extent, 0.0);
  return round(255.0 * vec4(chroma.r, luma.g, chroma.ba));
#elif defined(IMAGE_BYTES)
  return round(255.0 * texelFetch(frame_image, at, 0));
#else
  return 255.0 * texelFetch(frame_image, at, 0);
#endif
}

// Returns Y, U and V; or red, green, blue and alpha.
vec4 stored_pixel(ivec2 at, ivec2 image_size) {
  vec4 pixel = stored(at, image_size);
#if defined(IMAGE_PLANES) && defined(V_BEFORE_U)
  return pixel.grba;
#elif defined(IMAGE_PLANES)
  return pixel.gbra;
#elif defined(GREY)
  return vec4(pixel.rrr, 255.0);
#elif defined(OPAQUE)
  return vec4(pixel.rgb, 255.0);
#else
  return pixel;
#endif
}
#endif

package io.vellum;

/**
 * How the bytes of a frame are ordered, top row first. In the last three a plane of luma is followed by chroma at half the
 * width and half the height, both rounded up.
 */
public enum FrameFormat {
  RGBA8,
  BGRA8,
  RGB8,
  GREY8,
  /** U and V alternating. */
  NV12,
  /** V and U alternating. */
  NV21,
  /** A plane of U and then a plane of V. */
  I420
}

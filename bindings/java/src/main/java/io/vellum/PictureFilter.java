package io.vellum;

/** Which of the network's values a pixel of a picture takes. Class numbers always take the nearest. */
public enum PictureFilter {
  /** Between the four nearest values. */
  BILINEAR,
  NEAREST
}

package io.vellum;

/** How values become colours. t is (value - low) / (high - low), limited to 0..1. */
public enum PictureColors {
  /** t runs through the palette, whose colours are evenly spaced and linear between. */
  RAMP,
  /** The colour floor(t * n) of n: two colours are below and above the middle of low and high. */
  STEPS,
  /**
   * The colour of the channel with the largest value, the first of equal ones. With one channel the value itself, rounded, is
   * the class. Classes beyond the palette begin again at its first colour.
   */
  CLASSES,
  /** The channels are red, green, blue and perhaps alpha: 255 * t. */
  RGB
}

package io.vellum;

/** Whether luma is 16..235 or 0..255. */
public enum ColorRange {
  LIMITED,
  FULL
}

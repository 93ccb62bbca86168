package io.vellum;

/** How frames are resized; both interpolate where the frame is enlarged. */
public enum FrameFilter {
  /** Between the four nearest pixels; skips pixels where the frame is reduced to less than half. */
  BILINEAR,
  /** Averages where the frame is reduced. */
  AREA
}

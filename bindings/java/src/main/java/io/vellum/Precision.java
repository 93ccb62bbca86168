package io.vellum;

/** Of stored intermediates and weights; in the order of {@code vellum_precision}. */
public enum Precision {
  FP32,
  FP16
}

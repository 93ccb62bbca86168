package io.vellum;

/** How operators with constant weights multiply halves; accumulators are fp32 in any case. */
public enum Arithmetic {
  FP32,
  /** As halves: only with {@link Precision#FP16}, on devices with shaderFloat16. */
  FP16,
  /** As halves where {@link Device#tune} measured it to be faster. */
  AUTO
}

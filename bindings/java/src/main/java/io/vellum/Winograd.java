package io.vellum;

/** How 3x3 convolutions of stride 1 are computed; in the order of {@code vellum_winograd}. */
public enum Winograd {
  /** Either of the two below, in convolutions where {@link Device#tune} measured it to be faster. */
  AUTO,
  OFF,
  /** 2.25 times fewer multiplications, 1.8 times the weights, where that should be faster. */
  F2,
  /** 4 times fewer multiplications, 4 times the weights, less accurate; only in fp32. */
  F4
}

package io.vellum;

/** Precision of states that are caches of keys and values. */
public enum StatePrecision {
  /** That of other tensors. */
  AUTO,
  /** 8 bits with a scale for each token and head. */
  INT8
}

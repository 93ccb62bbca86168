package io.vellum;

/** What {@link Session#trim} frees. */
public enum TrimLevel {
  /** The memory of intermediate tensors, and all that belongs to earlier input shapes. */
  INTERMEDIATES,
  /** That, and the weights, unless they stream or another session has them. */
  WEIGHTS
}

package io.vellum;

/** Whether kernels are checked against the host at their first use on a device; in the order of {@code vellum_self_check}. */
public enum SelfCheck {
  /** On GPUs, not on drivers that compute on the CPU. */
  AUTO,
  OFF,
  ON
}

package io.vellum;

import org.jetbrains.annotations.NotNull;

/** One small operator, computed by one kernel on the device and compared with the host. A plain value. */
public final class KernelCheck {
  // Set by native code.
  private String operation;
  private String kernel;
  private int precision;
  private int arithmetic;
  private int storage;
  private boolean passed;
  private double difference;
  private double bound;
  private String failure;

  KernelCheck() {}

  /** "Conv 3x3". */
  public @NotNull String operation() {
    return operation;
  }

  /** The kernel that was made to compute it: "winograd 2x2"; empty where there is but one. */
  public @NotNull String kernel() {
    return kernel;
  }

  public @NotNull Precision precision() {
    return Precision.values()[precision];
  }

  public @NotNull Arithmetic arithmetic() {
    return Arithmetic.values()[arithmetic];
  }

  /** Of its tensors. */
  public @NotNull Storage storage() {
    return Storage.values()[storage];
  }

  /** It was computed, and {@link #difference} is at most {@link #bound}. */
  public boolean passed() {
    return passed;
  }

  /** The largest from the host, divided by the largest magnitude of the host's result or 1; may be NaN. */
  public double difference() {
    return difference;
  }

  public double bound() {
    return bound;
  }

  /** Why it could not be computed; empty: it was. */
  public @NotNull String failure() {
    return failure;
  }
}

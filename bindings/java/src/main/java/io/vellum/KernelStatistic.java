package io.vellum;

import org.jetbrains.annotations.NotNull;

/** A figure of a driver's compiler, by the driver's own name. A plain value. */
public final class KernelStatistic {
  // Set by native code.
  private String name;
  private String description;
  private double value;

  KernelStatistic() {}

  public @NotNull String name() {
    return name;
  }

  public @NotNull String description() {
    return description;
  }

  /** A flag is 0 or 1. */
  public double value() {
    return value;
  }
}

package io.vellum;

import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/** The memory of a session before it is made, in bytes; docs/estimate.md. A plain value. */
public final class MemoryEstimate {
  // Set by native code.
  private long weights;
  private long inOut;
  private long intermediates;
  private long workspace;
  private long staging;
  private long resident;
  private long total;
  private boolean driverKnown;
  private long allocatedPeak;
  private long shapeInferenceTotal;

  MemoryEstimate() {}

  /** Estimates with the sizes of a device. @param options {@code null}: the defaults */
  public static @NotNull MemoryEstimate of(@NotNull Model model, @Nullable SessionOptions options, @NotNull Device device) {
    Check.notNull(device, "device");
    return device.handle.get(d -> estimate(model, options, d, null));
  }

  /**
   * Estimates with the sizes of a device that is not there.
   *
   * @param options {@code null}: the defaults
   * @param caps the text of a caps file ({@code vellum devices --save-caps}); {@code null}: Android Baseline 2022
   */
  public static @NotNull MemoryEstimate of(@NotNull Model model, @Nullable SessionOptions options, @Nullable String caps) {
    return estimate(model, options, 0, caps);
  }

  private static MemoryEstimate estimate(Model model, SessionOptions options, long device, String caps) {
    Check.notNull(model, "model");
    SessionOptions given = options != null ? options : new SessionOptions();
    return model.handle.get(m -> Native.estimateMemory(m, given, device, caps));
  }

  public long weights() {
    return weights;
  }

  public long inOut() {
    return inOut;
  }

  public long intermediates() {
    return intermediates;
  }

  public long workspace() {
    return workspace;
  }

  public long staging() {
    return staging;
  }

  public long resident() {
    return resident;
  }

  /** The sum of the six above. */
  public long total() {
    return total;
  }

  /** False: {@link #resident} excludes a CPU driver's own memory, which the caps lack. */
  public boolean driverKnown() {
    return driverKnown;
  }

  /** The peak of allocations from Vulkan, padding included. */
  public long allocatedPeak() {
    return allocatedPeak;
  }

  /** The estimate from shapes alone. */
  public long shapeInferenceTotal() {
    return shapeInferenceTotal;
  }
}

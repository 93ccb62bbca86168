package io.vellum;

import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/** The memory of a session before it is made, in bytes; docs/estimate.md. A plain value. */
public final class MemoryEstimate {
  // Set by native code.
  private long weights;
  private long inOut;
  private long state;
  private long intermediates;
  private long workspace;
  private long staging;
  private long resident;
  private long total;
  private boolean driverKnown;
  private long allocatedPeak;
  private long shapeInferenceTotal;
  private long padding;
  private long host;
  private long driverCode;
  private long pipelineCode;
  private long allocatedWeights;
  private long allocatedInOut;
  private long allocatedState;
  private long allocatedIntermediates;
  private long allocatedStaging;
  private long dispatches;
  private long pipelines;
  private double runMs;
  private long streamedBytes;
  private long totalLeast;
  private long totalMost;

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

  /** Inputs and outputs that stay on the device. */
  public long state() {
    return state;
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

  /** The sum of the seven above. */
  public long total() {
    return total;
  }

  /**
   * The lower bound of {@link #total}: the same number, unless a CPU driver's own memory was not measured on this processor
   * ({@code vellum devices --calibrate}), or only for much smaller or larger networks.
   */
  public long totalLeast() {
    return totalLeast;
  }

  /** The upper bound of {@link #total}, likewise. */
  public long totalMost() {
    return totalMost;
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

  /** Of {@link #resident}: alignment and padding. */
  public long padding() {
    return padding;
  }

  /** Of {@link #resident}: constants and copies in a host memory that the device shares. */
  public long host() {
    return host;
  }

  /** Of {@link #resident}: a CPU driver's own code and data; 0 where {@link #driverKnown} is false. */
  public long driverCode() {
    return driverCode;
  }

  /** Of {@link #resident}: the machine code of all pipelines of a CPU driver; 0 likewise. */
  public long pipelineCode() {
    return pipelineCode;
  }

  /** For weights, as passed to vkAllocateMemory. */
  public long allocatedWeights() {
    return allocatedWeights;
  }

  /** For inputs and outputs, likewise. */
  public long allocatedInOut() {
    return allocatedInOut;
  }

  /** For states, likewise. */
  public long allocatedState() {
    return allocatedState;
  }

  /** For intermediates and workspace, likewise. */
  public long allocatedIntermediates() {
    return allocatedIntermediates;
  }

  /** For staging, at its peak. */
  public long allocatedStaging() {
    return allocatedStaging;
  }

  /** Dispatches of one run. */
  public long dispatches() {
    return dispatches;
  }

  /** Milliseconds of one run by the performance model, with the waits for streamed weights. */
  public double runMs() {
    return runMs;
  }

  /** The bytes of weights that a run copies to the device. */
  public long streamedBytes() {
    return streamedBytes;
  }

  /** Pipelines that differ. */
  public long pipelines() {
    return pipelines;
  }
}

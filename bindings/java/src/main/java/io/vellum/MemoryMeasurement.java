package io.vellum;

import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/** The measured memory of a session, in bytes, by the categories of {@link MemoryEstimate}. A plain value. */
public final class MemoryMeasurement {
  // Set by native code.
  private long weights;
  private long inOut;
  private long state;
  private long intermediates;
  private long workspace;
  private long staging;
  private long resident;
  private long total;
  private long allocatedPeak;
  private boolean driverIncluded;
  private boolean heapKnown;
  private boolean processKnown;
  private long heapBytes;
  private long processBytes;

  MemoryMeasurement() {}

  /**
   * Measures: opens the device, loads the model, runs it twice with zeros and closes everything.
   *
   * @param model a file
   * @param options {@code null}: the defaults
   * @param device {@code null}: the defaults
   */
  public static @NotNull MemoryMeasurement of(
      @NotNull String model, @Nullable SessionOptions options, @Nullable DeviceOptions device) {
    Check.notNull(model, "model");
    SessionOptions given = options != null ? options : new SessionOptions();
    return Native.measureMemory(model, given, device != null ? device : new DeviceOptions());
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

  /** Of the seven. */
  public long total() {
    return total;
  }

  /** The peak of allocations from Vulkan, padding included. */
  public long allocatedPeak() {
    return allocatedPeak;
  }

  /** Whether {@link #resident} includes the driver itself. */
  public boolean driverIncluded() {
    return driverIncluded;
  }

  /** Whether the driver reports {@link #heapBytes}. */
  public boolean heapKnown() {
    return heapKnown;
  }

  /** Whether the system reports {@link #processBytes}. */
  public boolean processKnown() {
    return processKnown;
  }

  /** Of the process in the driver's heaps, at the end of a run. */
  public long heapBytes() {
    return heapBytes;
  }

  /** The growth of the whole process at its peak. */
  public long processBytes() {
    return processBytes;
  }
}

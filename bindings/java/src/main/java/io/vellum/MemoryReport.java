package io.vellum;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jetbrains.annotations.NotNull;

/** The memory of a session, in bytes. A plain value. */
public final class MemoryReport {
  // Set by native code.
  private long naiveBytes;
  private long plannedBytes;
  private long lowerBoundBytes;
  private long allocatedBytes;
  private long weightsBytes;
  private long inOutBytes;
  private long streamedWeightsBytes;
  private int inFlight;
  private ObjectReport[] objects;

  MemoryReport() {}

  /** Every intermediate tensor in memory of its own. */
  public long naiveBytes() {
    return naiveBytes;
  }

  /** The sum of all allocations that hold objects. */
  public long plannedBytes() {
    return plannedBytes;
  }

  /** No plan of this mode can be smaller. */
  public long lowerBoundBytes() {
    return lowerBoundBytes;
  }

  /** For intermediates, as passed to vkAllocateMemory. */
  public long allocatedBytes() {
    return allocatedBytes;
  }

  /** For weights, as passed to vkAllocateMemory. */
  public long weightsBytes() {
    return weightsBytes;
  }

  /** For inputs and outputs, as passed to vkAllocateMemory. */
  public long inOutBytes() {
    return inOutBytes;
  }

  /** Weights that are copied to the device in every run; 0 without a weights budget. */
  public long streamedWeightsBytes() {
    return streamedWeightsBytes;
  }

  /** {@link #allocatedBytes} and {@link #inOutBytes} are for this many runs together. */
  public int inFlight() {
    return inFlight;
  }

  /** The device images and buffers that hold intermediate tensors. */
  public @NotNull List<ObjectReport> objects() {
    return Collections.unmodifiableList(Arrays.asList(objects));
  }
}

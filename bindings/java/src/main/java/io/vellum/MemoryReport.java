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
  private long stateBytes;
  private long streamedWeightsBytes;
  private int inFlight;
  private String mode;
  private String strategy;
  private long[] arenas;
  private long peakWeightsBytes;
  private long totalWeightsBytes;
  private long memoryBudget;
  private long budgetUsedBytes;
  private long budgetPeakBytes;
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

  /** For states, as passed to vkAllocateMemory. */
  public long stateBytes() {
    return stateBytes;
  }

  /** Weights that are copied to the device in every run; 0 without a weights budget. */
  public long streamedWeightsBytes() {
    return streamedWeightsBytes;
  }

  /** {@link #allocatedBytes} and {@link #inOutBytes} are for this many runs together. */
  public int inFlight() {
    return inFlight;
  }

  /** "shared-objects", "offsets" or "naive"; empty before the session is prepared. */
  public @NotNull String mode() {
    return mode;
  }

  /** Of the planner, a name from docs/planner.md. */
  public @NotNull String strategy() {
    return strategy;
  }

  /** Returns the bytes of each allocation that holds objects. */
  public long @NotNull [] arenas() {
    return arenas.clone();
  }

  /** The peak of {@link #weightsBytes}. */
  public long peakWeightsBytes() {
    return peakWeightsBytes;
  }

  /** All weights, on the device at once or not, without padding. */
  public long totalWeightsBytes() {
    return totalWeightsBytes;
  }

  /** {@link SessionOptions#memoryBudget}. */
  public long memoryBudget() {
    return memoryBudget;
  }

  /** Of the budget allocated now; 0 without a budget. */
  public long budgetUsedBytes() {
    return budgetUsedBytes;
  }

  /** The peak of {@link #budgetUsedBytes}, staging included. */
  public long budgetPeakBytes() {
    return budgetPeakBytes;
  }

  /** The device images and buffers that hold intermediate tensors. */
  public @NotNull List<ObjectReport> objects() {
    return Collections.unmodifiableList(Arrays.asList(objects));
  }
}

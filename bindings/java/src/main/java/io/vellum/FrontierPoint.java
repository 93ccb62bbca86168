package io.vellum;


/** A budget of memory, and how fast a model runs within it. A plain value. */
public final class FrontierPoint {
  // Set by native code.
  private long budget;
  private long bytes;
  private long weightsBytes;
  private long streamedBytes;
  private double predictedMs;

  FrontierPoint() {}

  /** Bytes, for {@link SessionOptions#memoryBudget}. */
  public long budget() {
    return budget;
  }

  /** The most that a session within this budget allocates from Vulkan at a time. */
  public long bytes() {
    return bytes;
  }

  /** Of these, for weights. */
  public long weightsBytes() {
    return weightsBytes;
  }

  /** Of weights, copied to the device in every run; 0: all weights are resident. */
  public long streamedBytes() {
    return streamedBytes;
  }

  /** A run; for comparing points, the device's rates are published or assumed. */
  public double predictedMs() {
    return predictedMs;
  }
}

package io.vellum;

import org.jetbrains.annotations.NotNull;

/** What {@link Device#tune} measured. A plain value. */
public final class TuneResult {
  // Set by native code.
  private double untunedMs;
  private double tunedMs;
  private long untunedWeightsBytes;
  private long tunedWeightsBytes;
  private double seconds;
  private boolean complete;
  private boolean kept;
  private String storage;
  private long operatorCount;
  private long measuredCount;

  TuneResult() {}

  /** Wall time of one inference. */
  public double untunedMs() {
    return untunedMs;
  }

  public double tunedMs() {
    return tunedMs;
  }

  /** Of device memory. */
  public long untunedWeightsBytes() {
    return untunedWeightsBytes;
  }

  public long tunedWeightsBytes() {
    return tunedWeightsBytes;
  }

  /** The time that tuning took. */
  public double seconds() {
    return seconds;
  }

  /** False: {@link TuneOptions#seconds} ran out. */
  public boolean complete() {
    return complete;
  }

  /** False: the network became slower as a whole; nothing is kept. */
  public boolean kept() {
    return kept;
  }

  /** Of the tensors now: "buffer", "image2d", "image3d" or "mixed". */
  public @NotNull String storage() {
    return storage;
  }

  /** The operators that differ from one another. */
  public long operatorCount() {
    return operatorCount;
  }

  /** Those of them that this call measured. */
  public long measuredCount() {
    return measuredCount;
  }
}

package io.vellum;

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
}

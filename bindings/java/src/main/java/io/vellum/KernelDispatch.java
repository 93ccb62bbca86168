package io.vellum;

import org.jetbrains.annotations.NotNull;

/** A dispatch of a {@link KernelReport}. Times are microseconds, NaN if the rates are not known. A plain value. */
public final class KernelDispatch {
  // Set by native code.
  private String name;
  private String op;
  private int pipeline;
  private int[] workgroups;
  private boolean barrier;
  private long invocations;
  private long subgroups;
  private long macs;
  private long bytes;
  private double computeUs;
  private double memoryUs;
  private double predictedUs;
  private double latencyUs;
  private double overheadUs;
  private double steps;
  private double busy;
  private double waves;
  private double efficiency;

  KernelDispatch() {}

  /** Of the node. */
  public @NotNull String name() {
    return name;
  }

  /** The operator type; "Convert" for a layout conversion. */
  public @NotNull String op() {
    return op;
  }

  /** An index into {@link KernelReport#pipelines}. */
  public int pipeline() {
    return pipeline;
  }

  public int @NotNull [] workgroups() {
    return workgroups.clone();
  }

  /** It waits for dispatches before it. */
  public boolean barrier() {
    return barrier;
  }

  public long invocations() {
    return invocations;
  }

  /** 0 if the subgroup size is not known. */
  public long subgroups() {
    return subgroups;
  }

  /** Multiply-accumulates without padding. */
  public long macs() {
    return macs;
  }

  /** Of the tensors that it binds, each once. */
  public long bytes() {
    return bytes;
  }

  /** At the device's rates, which no dispatch can beat. */
  public double computeUs() {
    return computeUs;
  }

  /** Likewise. */
  public double memoryUs() {
    return memoryUs;
  }

  /** That it should take; docs/gpu_compilers.md has the model. */
  public double predictedUs() {
    return predictedUs;
  }

  /** Of loads that wait for one another. */
  public double latencyUs() {
    return latencyUs;
  }

  /** Of launch and barrier. */
  public double overheadUs() {
    return overheadUs;
  }

  /** Loads that wait for one another. */
  public double steps() {
    return steps;
  }

  /** The share of the units that has work. */
  public double busy() {
    return busy;
  }

  /** Subgroups among which a unit switches. */
  public double waves() {
    return waves;
  }

  /** The share of the peak rate that the kernel's loop is taken to reach. */
  public double efficiency() {
    return efficiency;
  }
}

package io.vellum;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jetbrains.annotations.NotNull;

/** Machine code of a pipeline. Figures that the driver does not give are NaN. A plain value. */
public final class KernelCode {
  // Set by native code.
  private String name;
  private int subgroupSize;
  private double registers;
  private double spills;
  private double residentSubgroups;
  private double sharedMemoryBytes;
  private double instructions;
  private double cycles;
  private KernelStatistic[] statistics;
  private KernelRepresentation[] representations;

  KernelCode() {}

  /** The driver's: "Compute Shader", "SIMD16 compute". */
  public @NotNull String name() {
    return name;
  }

  /** 0: not known. */
  public int subgroupSize() {
    return subgroupSize;
  }

  /** Of an invocation, as the driver counts them. */
  public double registers() {
    return registers;
  }

  /** Registers, or instructions that store them, that did not fit. */
  public double spills() {
    return spills;
  }

  /** The most that a SIMD unit, core or multiprocessor holds at a time. */
  public double residentSubgroups() {
    return residentSubgroups;
  }

  /** Of a workgroup. */
  public double sharedMemoryBytes() {
    return sharedMemoryBytes;
  }

  /** In the code, not executed. */
  public double instructions() {
    return instructions;
  }

  /** The driver's own estimate. */
  public double cycles() {
    return cycles;
  }

  /** All that the driver gives. */
  public @NotNull List<KernelStatistic> statistics() {
    return Collections.unmodifiableList(Arrays.asList(statistics));
  }

  /** If they were asked for. */
  public @NotNull List<KernelRepresentation> representations() {
    return Collections.unmodifiableList(Arrays.asList(representations));
  }
}

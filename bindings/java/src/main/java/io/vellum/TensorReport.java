package io.vellum;

import org.jetbrains.annotations.NotNull;

/** An intermediate or workspace tensor and its memory. A plain value. */
public final class TensorReport {
  // Set by native code.
  private String name;
  private String op;
  private String role;
  private long[] shape;
  private int object;
  private long offset;
  private long firstTask;
  private long lastTask;
  private long bytes;

  TensorReport() {}

  public @NotNull String name() {
    return name;
  }

  /** The operator type of the task that writes it first. */
  public @NotNull String op() {
    return op;
  }

  /** "intermediate" or "workspace". */
  public @NotNull String role() {
    return role;
  }

  /** Returns a copy of the dimensions, outermost first. */
  public long @NotNull [] shape() {
    return shape.clone();
  }

  /** The index of its object in {@link MemoryReport#objects}. */
  public int object() {
    return object;
  }

  /** Bytes from the start of that object. */
  public long offset() {
    return offset;
  }

  /** An index as of {@link Session#layerTimes}. */
  public long firstTask() {
    return firstTask;
  }

  /** Inclusive. */
  public long lastTask() {
    return lastTask;
  }

  /** Without the device's padding. */
  public long bytes() {
    return bytes;
  }
}

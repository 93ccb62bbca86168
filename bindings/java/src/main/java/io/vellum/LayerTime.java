package io.vellum;

import org.jetbrains.annotations.NotNull;

/** A task of a session's last run. A plain value. */
public final class LayerTime {
  // Set by native code.
  private String name;
  private String op;
  private String shader;
  private String storage;
  private double gpuMs;
  private double beginMs;
  private int[] workgroups;

  LayerTime() {}

  /** The name of the node. */
  public @NotNull String name() {
    return name;
  }

  /** The type of the operator; "Convert" for a layout conversion. */
  public @NotNull String op() {
    return op;
  }

  /** Empty: it ran on the host. */
  public @NotNull String shader() {
    return shader;
  }

  /** What holds its output: "image2d", "image3d", "buffer"; empty on the host. */
  public @NotNull String storage() {
    return storage;
  }

  /** NaN if the device has no timestamps, and on the host. */
  public double gpuMs() {
    return gpuMs;
  }

  /** Relative to the first task; NaN likewise. */
  public double beginMs() {
    return beginMs;
  }

  /** Returns the dispatched workgroups in x, y and z; 0 on the host. */
  public int @NotNull [] workgroups() {
    return workgroups.clone();
  }
}

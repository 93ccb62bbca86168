package io.vellum;

import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/** Limits on what a model file may ask of the machine; one that exceeds them is refused. The setters return the object. */
public final class LoadLimits {
  // Read by native code, which also sets the defaults.
  private long nodes;
  private long elements;
  private long foldedBytes;
  private long foldedWork;
  private int nesting;
  private boolean trustsShaders;
  private String linksWithin;

  /** Makes the defaults. */
  public LoadLimits() {
    Native.loadDefaults(this);
  }

  /** Nodes of all graphs of the file. */
  public @NotNull LoadLimits nodes(long count) {
    nodes = Check.notNegative(count, "nodes");
    return this;
  }

  /** Elements of one tensor. */
  public @NotNull LoadLimits elements(long count) {
    elements = Check.notNegative(count, "elements");
    return this;
  }

  /** Bytes of constants that are computed. */
  public @NotNull LoadLimits foldedBytes(long bytes) {
    foldedBytes = Check.notNegative(bytes, "foldedBytes");
    return this;
  }

  /** Elementary operations on constants. */
  public @NotNull LoadLimits foldedWork(long operations) {
    foldedWork = Check.notNegative(operations, "foldedWork");
    return this;
  }

  /** Nesting of graphs. */
  public @NotNull LoadLimits nesting(int depth) {
    nesting = Check.notNegative(depth, "nesting");
    return this;
  }

  /**
   * Says that the app has made sure where the file comes from, as a part of its signed package or by a signature of the bytes.
   * SPIR-V of a bundle is not validated then, which saves two milliseconds a shader at the first load.
   */
  public @NotNull LoadLimits trustsShaders(boolean trusted) {
    trustsShaders = trusted;
    return this;
  }

  /**
   * A folder whose files the model may read: external data of an ONNX file may be symbolic links to files below it, as in caches
   * of model hubs. Null, the default: links must stay in the model's own folder.
   */
  public @NotNull LoadLimits linksWithin(@Nullable String folder) {
    linksWithin = folder;
    return this;
  }
}

package io.vellum;

import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/** Limits on what a model file may ask of the machine; one that exceeds them is refused. The setters return the object. */
public final class LoadLimits {
  // Read by native code, which also sets the defaults.
  // Generated from vellum/load_limits.def: fields.
  private long nodes;
  private long elements;
  private long foldedBytes;
  private long foldedWork;
  private int nesting;
  private boolean trustsShaders;
  private String linksWithin;
  // End of generated fields.

  /** Makes the defaults. */
  public LoadLimits() {
    Native.loadDefaults(this);
  }

  // Generated from vellum/load_limits.def: setters.
  /** Nodes of all graphs of the file. */
  public @NotNull LoadLimits nodes(long nodes) {
    this.nodes = Check.notNegative(nodes, "nodes");
    return this;
  }

  /** Elements of one tensor. */
  public @NotNull LoadLimits elements(long elements) {
    this.elements = Check.notNegative(elements, "elements");
    return this;
  }

  /** Bytes of constants that are computed while the model is loaded. */
  public @NotNull LoadLimits foldedBytes(long foldedBytes) {
    this.foldedBytes = Check.notNegative(foldedBytes, "foldedBytes");
    return this;
  }

  /** Elementary operations on constants. 2000000000 by default. */
  public @NotNull LoadLimits foldedWork(long foldedWork) {
    this.foldedWork = Check.notNegative(foldedWork, "foldedWork");
    return this;
  }

  /** Graphs within graphs. 16 by default. */
  public @NotNull LoadLimits nesting(int nesting) {
    this.nesting = Check.notNegative(nesting, "nesting");
    return this;
  }

  /** The SPIR-V of a bundle is not validated, because the app knows the origin of the file. */
  public @NotNull LoadLimits trustsShaders(boolean trustsShaders) {
    this.trustsShaders = trustsShaders;
    return this;
  }

  /**
   * External data of an ONNX file may be symbolic links to files below this folder, as in caches of model hubs; without one links
   * must stay in the model's own folder.
   */
  public @NotNull LoadLimits linksWithin(@Nullable String linksWithin) {
    this.linksWithin = linksWithin;
    return this;
  }
  // End of generated setters.
}

package io.vellum;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jetbrains.annotations.NotNull;

/** A node of a model, with shapes for given input shapes. A plain value. */
public final class NodeInfo {
  // Set by native code.
  private String name;
  private String op;
  private String attributes;
  private String[] inputs;
  private String[] outputs;
  private long[][] outputShapes;
  private long parameters;
  private long macs;

  NodeInfo() {}

  public @NotNull String name() {
    return name;
  }

  /** The type of the operator. */
  public @NotNull String op() {
    return op;
  }

  /** As text. */
  public @NotNull String attributes() {
    return attributes;
  }

  /** Names of tensors. */
  public @NotNull List<String> inputs() {
    return Collections.unmodifiableList(Arrays.asList(inputs));
  }

  public @NotNull List<String> outputs() {
    return Collections.unmodifiableList(Arrays.asList(outputs));
  }

  /** Elements of constant inputs. */
  public long parameters() {
    return parameters;
  }

  /** Multiply-accumulates; 0 if shapes are data-dependent. */
  public long macs() {
    return macs;
  }

  /** Returns a shape for each output; -1 for a dimension that is not known. */
  public long @NotNull [] @NotNull [] outputShapes() {
    long[][] copy = outputShapes.clone();
    for (int i = 0; i < copy.length; ++i) copy[i] = copy[i].clone();
    return copy;
  }
}

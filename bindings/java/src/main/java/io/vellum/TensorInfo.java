package io.vellum;

import java.util.Arrays;
import org.jetbrains.annotations.NotNull;

/** An input or output of a model or session. A plain value. */
public final class TensorInfo {
  // Set by native code.
  private String name;
  private int type;
  private long[] shape;
  private long byteSize;
  private boolean decidesShapes;

  TensorInfo() {}

  public @NotNull String name() {
    return name;
  }

  public @NotNull DataType type() {
    return DataType.ofCode(type);
  }

  /** Returns a copy of the dimensions, outermost first; -1 for one that is open, or that only a run determines. */
  public long @NotNull [] shape() {
    return shape.clone();
  }

  /** Returns the bytes of all values; 0 while a dimension is open. */
  public long byteSize() {
    return byteSize;
  }

  /**
   * Returns whether shapes depend on the values of this input, such as the sizes of a Resize. A session
   * prepares itself for such values as for the shapes of inputs.
   */
  public boolean decidesShapes() {
    return decidesShapes;
  }

  @Override
  public String toString() {
    return name + " " + type() + Arrays.toString(shape);
  }
}

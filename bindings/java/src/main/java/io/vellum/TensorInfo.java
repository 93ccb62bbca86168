package io.vellum;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/** An input or output of a model or session. A plain value. */
public final class TensorInfo {
  // Set by native code.
  private String name;
  private int type;
  private long[] shape;
  private long byteSize;
  private boolean decidesShapes;
  private String signatureName;
  private byte[] initialValue;

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

  /**
   * Returns what the signature of a TFLite file calls it, such as "output_0": methods take it as well as {@link #name}. Empty
   * without one.
   */
  public @NotNull String signatureName() {
    return signatureName;
  }

  /**
   * Returns what an input that is a variable of the network begins with, as values in native byte order: the output "NAME.next" is
   * its value for the next run. {@code null} for others.
   */
  public @Nullable ByteBuffer initialValue() {
    return initialValue == null
        ? null
        : ByteBuffer.wrap(initialValue).asReadOnlyBuffer().order(ByteOrder.nativeOrder());
  }

  boolean hasName(String wanted) {
    return name.equals(wanted) || (!signatureName.isEmpty() && signatureName.equals(wanted));
  }

  @Override
  public String toString() {
    return name + " " + type() + Arrays.toString(shape);
  }
}

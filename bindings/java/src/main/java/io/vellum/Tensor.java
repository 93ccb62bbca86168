package io.vellum;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jetbrains.annotations.NotNull;

/**
 * A dense, row-major tensor in direct memory, which the runtime reads and writes itself. It refers to its memory; nothing
 * has to be closed.
 */
public final class Tensor {
  private final DataType type;
  private final long[] shape;
  private final ByteBuffer values;

  private Tensor(DataType type, long[] shape, ByteBuffer values) {
    this.type = type;
    this.shape = shape;
    this.values = values;
  }

  /** Makes a tensor of zeros in memory of its own. */
  public static @NotNull Tensor allocate(@NotNull DataType type, long @NotNull ... shape) {
    Check.notNull(type, "type");
    long[] dims = Check.notNull(shape, "shape").clone();
    return new Tensor(type, dims, Buffers.allocate(byteSize(type, dims)));
  }

  /** For native code. */
  static @NotNull Tensor ofType(int type, long @NotNull [] shape) {
    return allocate(DataType.ofCode(type), shape);
  }

  /** Copies an array. */
  public static @NotNull Tensor of(float @NotNull [] values, long @NotNull ... shape) {
    Tensor tensor = allocate(DataType.F32, shape);
    requireCount(Check.notNull(values, "values").length, tensor);
    tensor.values.asFloatBuffer().put(values);
    return tensor;
  }

  /** Rounds an array to a tensor of type {@code F16}, to nearest even. */
  public static @NotNull Tensor ofHalves(float @NotNull[] values, long @NotNull... shape) {
    Tensor tensor = allocate(DataType.F16, shape);
    requireCount(Check.notNull(values, "values").length, tensor);
    Native.halvesFromFloats(values, tensor.values);
    return tensor;
  }

  /** Copies an array of a type of one byte: {@code U8}, {@code I8}, {@code BOOL}. */
  public static @NotNull Tensor of(@NotNull DataType type, byte @NotNull [] values, long @NotNull ... shape) {
    if (Check.notNull(type, "type").byteSize() != 1) throw Check.invalid("bytes are no values of type " + type);
    Tensor tensor = allocate(type, shape);
    requireCount(Check.notNull(values, "values").length, tensor);
    tensor.values.duplicate().put(values);
    return tensor;
  }

  /** Copies an array of integers of 32 bits. */
  public static @NotNull Tensor of(int @NotNull [] values, long @NotNull ... shape) {
    Tensor tensor = allocate(DataType.I32, shape);
    requireCount(Check.notNull(values, "values").length, tensor);
    tensor.values.asIntBuffer().put(values);
    return tensor;
  }

  /** Copies an array of integers of 64 bits. */
  public static @NotNull Tensor of(long @NotNull [] values, long @NotNull [] shape) {
    Tensor tensor = allocate(DataType.I64, shape);
    requireCount(Check.notNull(values, "values").length, tensor);
    tensor.values.asLongBuffer().put(values);
    return tensor;
  }

  /**
   * Makes a tensor of the bytes from position to limit of a direct buffer, without copying them: later changes of the
   * buffer's content are the tensor's. The values are in the machine's byte order.
   */
  public static @NotNull Tensor wrap(@NotNull DataType type, @NotNull ByteBuffer values, long @NotNull ... shape) {
    Check.notNull(type, "type");
    long[] dims = Check.notNull(shape, "shape").clone();
    if (!Check.notNull(values, "values").isDirect())
      throw Check.invalid("the buffer is not direct; allocate it with ByteBuffer.allocateDirect()");
    long expected = byteSize(type, dims);
    if (values.remaining() != expected)
      throw Check.invalid(
          "the buffer has " + values.remaining() + " bytes; " + type + Arrays.toString(dims) + " has " + expected);
    return new Tensor(type, dims, values.slice().order(ByteOrder.nativeOrder()));
  }

  public @NotNull DataType type() {
    return type;
  }

  /** Returns a copy of the dimensions, outermost first. */
  public long @NotNull [] shape() {
    return shape.clone();
  }

  public long elementCount() {
    return values.capacity() / type.byteSize();
  }

  public long byteSize() {
    return values.capacity();
  }

  /** Returns a view of the tensor's memory, from its begin to its end, in the machine's byte order. */
  public @NotNull ByteBuffer buffer() {
    return values.duplicate().order(ByteOrder.nativeOrder());
  }

  /** Returns a copy of the values; of types {@code F32} and {@code F16} only. */
  public float @NotNull[] toFloats() {
    float[] copy = new float[(int) elementCount()];
    if (type == DataType.F16) {
      Native.floatsFromHalves(values, copy);
      return copy;
    }
    require(DataType.F32, "floats");
    values.asFloatBuffer().get(copy);
    return copy;
  }

  /** Returns a copy of the bytes, whatever the type. */
  public byte @NotNull [] toBytes() {
    byte[] copy = new byte[values.capacity()];
    values.duplicate().get(copy);
    return copy;
  }

  @Override
  public String toString() {
    return type + Arrays.toString(shape);
  }

  /** For native code, which changes neither position nor limit. */
  ByteBuffer memory() {
    return values;
  }

  long[] dims() {
    return shape;
  }

  private void require(DataType wanted, String what) {
    if (type != wanted) throw Check.invalid("the tensor's values are " + type + ", not " + what);
  }

  private static void requireCount(int count, Tensor tensor) {
    if (count != tensor.elementCount())
      throw Check.invalid(tensor + " has " + tensor.elementCount() + " values, not " + count);
  }

  private static long byteSize(DataType type, long[] shape) {
    long bytes = type.byteSize();
    for (long dim : shape) {
      if (dim < 0) throw Check.invalid("the shape " + Arrays.toString(shape) + " has a negative dimension");
      if (dim != 0 && bytes > Integer.MAX_VALUE / dim)
        throw Check.invalid(type + Arrays.toString(shape) + " has more bytes than a ByteBuffer holds");
      bytes *= dim;
    }
    return bytes;
  }
}

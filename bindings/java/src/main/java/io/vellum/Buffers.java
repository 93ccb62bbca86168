package io.vellum;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ReadOnlyBufferException;
import org.jetbrains.annotations.NotNull;

/** Memory that native code can use: direct buffers as they are, others by one copy. */
final class Buffers {
  private Buffers() {}

  static @NotNull ByteBuffer allocate(long bytes) {
    if (bytes > Integer.MAX_VALUE) throw Check.invalid(bytes + " bytes are more than a ByteBuffer holds");
    return ByteBuffer.allocateDirect((int) bytes).order(ByteOrder.nativeOrder());
  }

  /** Returns the bytes from position to limit in direct memory; the position of `values` stays. */
  static @NotNull ByteBuffer readable(@NotNull ByteBuffer values) {
    if (values.isDirect()) return values;
    ByteBuffer copy = allocate(values.remaining());
    copy.put(values.duplicate());
    copy.flip();
    return copy;
  }

  static @NotNull ByteBuffer copyOf(float @NotNull [] values) {
    ByteBuffer copy = allocate(4L * values.length);
    copy.asFloatBuffer().put(values);
    return copy;
  }

  /** Does nothing; a callback that calls it keeps the buffer from the garbage collector. */
  static void reachable(@NotNull ByteBuffer values) {}

  static void requireWritable(@NotNull ByteBuffer values) {
    if (values.isReadOnly()) throw new ReadOnlyBufferException();
  }
}

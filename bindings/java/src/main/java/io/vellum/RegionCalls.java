package io.vellum;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/**
 * What native code calls while a {@link LargePicture} runs. Regions are copied to memory of Java's: the library's own lives
 * only as long as the call, and an application may keep the buffer.
 */
final class RegionCalls {
  private final RegionReader reader;
  private final RegionWriter writer;
  private final @Nullable TileListener progress;
  private ByteBuffer memory = Buffers.allocate(0);

  RegionCalls(@NotNull RegionReader reader, @NotNull RegionWriter writer, @Nullable TileListener progress) {
    this.reader = reader;
    this.writer = writer;
    this.progress = progress;
  }

  /** Returns direct memory of at least this size in bytes, which the next read() or write() passes on. */
  ByteBuffer memory(long bytes) {
    if (memory.capacity() < bytes) memory = Buffers.allocate(bytes);
    return memory;
  }

  private ByteBuffer values(long bytes) {
    ByteBuffer values = memory.duplicate().order(ByteOrder.nativeOrder());
    values.limit((int) bytes);
    return values;
  }

  void read(int tensor, int rowsAxis, long top, long left, long height, long width, long bytes) {
    reader.read(new PictureRegion(tensor, rowsAxis, top, left, height, width), values(bytes));
  }

  void write(int tensor, int rowsAxis, long top, long left, long height, long width, long bytes) {
    writer.write(new PictureRegion(tensor, rowsAxis, top, left, height, width), values(bytes));
  }

  boolean goOn(long done, long total) {
    return progress == null || progress.progress(done, total);
  }
}

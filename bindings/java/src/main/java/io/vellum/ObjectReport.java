package io.vellum;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jetbrains.annotations.NotNull;

/**
 * One device image or buffer that holds intermediate tensors; with {@link MemoryMode#OFFSETS} it has one tensor. A plain
 * value.
 */
public final class ObjectReport {
  // Set by native code.
  private String kind;
  private String format;
  private int width;
  private int height;
  private int depth;
  private long bytes;
  private String[] tensors;
  private int arena;
  private long arenaOffset;

  ObjectReport() {}

  /** "image2d", "image3d" or "buffer". */
  public @NotNull String kind() {
    return kind;
  }

  /** "rgba32f", "rgba16f"; empty for buffers. */
  public @NotNull String format() {
    return format;
  }

  /** Texels; images only. */
  public int width() {
    return width;
  }

  public int height() {
    return height;
  }

  public int depth() {
    return depth;
  }

  /** Bytes of device memory, padding included. */
  public long bytes() {
    return bytes;
  }

  /** The index of its allocation in {@link MemoryReport#arenas}. */
  public int arena() {
    return arena;
  }

  /** Bytes from the start of that allocation. */
  public long arenaOffset() {
    return arenaOffset;
  }

  /** The tensors that it holds in one inference, in order of first use. */
  public @NotNull List<String> tensors() {
    return Collections.unmodifiableList(Arrays.asList(tensors));
  }
}

package io.vellum.android;

import android.view.Surface;
import java.nio.ByteBuffer;
import org.jetbrains.annotations.NotNull;

/** Pictures on a surface, by a copy on the host. */
public final class Surfaces {
  private Surfaces() {}

  /**
   * Copies a picture in RGBA, from the position of a direct buffer on, to the next frame of a surface and shows it, scaled to
   * the surface. Nothing else may draw on the surface. Returns false if the surface is gone.
   *
   * @param rowBytes from row to row, at least 4 * width
   */
  public static boolean draw(@NotNull Surface surface, @NotNull ByteBuffer rgba, int width, int height, int rowBytes) {
    if (surface == null) throw new NullPointerException("surface is null");
    if (rgba == null) throw new NullPointerException("rgba is null");
    if (!rgba.isDirect()) throw new IllegalArgumentException("the buffer is not direct");
    if (width <= 0 || height <= 0 || rowBytes / 4 < width)
      throw new IllegalArgumentException(width + " x " + height + " pixels in rows of " + rowBytes + " bytes");
    long bytes = (long) rowBytes * (height - 1) + 4L * width;
    if (rgba.remaining() < bytes)
      throw new IllegalArgumentException("the buffer has " + rgba.remaining() + " bytes; the picture has " + bytes);
    return Native.draw(surface, rgba, rgba.position(), width, height, rowBytes);
  }
}

package io.vellum.android;

import io.vellum.ColorMatrix;
import io.vellum.ColorRange;
import io.vellum.FrameFormat;
import io.vellum.FrameInput;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jetbrains.annotations.NotNull;

/**
 * A camera image in YUV_420_888 as a frame in {@link FrameFormat#NV12}, in one buffer that is used again for each image. The
 * three planes of such an image need not be in one piece of memory, so that {@link #set} copies them on the host. Not for
 * several threads at once.
 */
public final class YuvFrame {
  private final int width;
  private final int height;
  private final ByteBuffer frame;

  /** For images of this size, in pixels. */
  public YuvFrame(int width, int height) {
    if (width <= 0 || height <= 0) throw new IllegalArgumentException("an image of " + width + " x " + height + " pixels");
    this.width = width;
    this.height = height;
    frame = ByteBuffer.allocateDirect(rowBytes() * (height + chromaHeight())).order(ByteOrder.nativeOrder());
  }

  /** The input for these frames: BT.601, full range, as Android's cameras produce. */
  public @NotNull FrameInput input() {
    return new FrameInput(FrameFormat.NV12, width, height)
        .rowBytes(rowBytes())
        .colors(ColorMatrix.BT601, ColorRange.FULL);
  }

  /** The frame's memory, direct, for {@link io.vellum.Session#setInput} or a tensor. */
  public @NotNull ByteBuffer buffer() {
    return frame.duplicate().order(ByteOrder.nativeOrder());
  }

  /**
   * Copies an image: the planes, row strides and pixel strides of {@code android.media.Image}. Throws
   * IllegalArgumentException if a plane is too small.
   */
  public void set(@NotNull ByteBuffer y, int yRowStride, @NotNull ByteBuffer u, @NotNull ByteBuffer v, int uvRowStride,
      int uvPixelStride) {
    require(y, yRowStride, 1, width, height, "Y");
    require(u, uvRowStride, uvPixelStride, chromaWidth(), chromaHeight(), "U");
    require(v, uvRowStride, uvPixelStride, chromaWidth(), chromaHeight(), "V");
    for (int row = 0; row < height; ++row) copy(y, row * yRowStride, width, row * rowBytes());
    for (int row = 0; row < chromaHeight(); ++row) setChroma(u, v, row * uvRowStride, uvPixelStride, row);
  }

  private void setChroma(ByteBuffer u, ByteBuffer v, int from, int pixelStride, int row) {
    int to = (height + row) * rowBytes();
    for (int x = 0; x < chromaWidth(); ++x) {
      frame.put(to + 2 * x, u.get(u.position() + from + x * pixelStride));
      frame.put(to + 2 * x + 1, v.get(v.position() + from + x * pixelStride));
    }
  }

  private void copy(ByteBuffer plane, int from, int count, int to) {
    ByteBuffer source = plane.duplicate();
    source.position(plane.position() + from);
    source.limit(plane.position() + from + count);
    ByteBuffer target = frame.duplicate();
    target.position(to);
    target.put(source);
  }

  private static void require(ByteBuffer plane, int rowStride, int pixelStride, int width, int height, String name) {
    if (plane == null) throw new NullPointerException("the plane " + name + " is null");
    long bytes = (long) rowStride * (height - 1) + (long) pixelStride * (width - 1) + 1;
    if (pixelStride < 1 || rowStride < (width - 1) * pixelStride + 1 || plane.remaining() < bytes)
      throw new IllegalArgumentException("the plane " + name + " has " + plane.remaining() + " bytes in rows of " + rowStride
          + "; " + bytes + " are needed");
  }

  private int chromaWidth() {
    return (width + 1) / 2;
  }

  private int chromaHeight() {
    return (height + 1) / 2;
  }

  /** Whole pairs of U and V. */
  private int rowBytes() {
    return 2 * chromaWidth();
  }
}

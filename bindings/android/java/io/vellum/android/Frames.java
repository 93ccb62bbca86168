package io.vellum.android;

import android.graphics.Bitmap;
import android.hardware.HardwareBuffer;
import io.vellum.FrameFormat;
import io.vellum.FrameInput;
import io.vellum.Session;
import io.vellum.Status;
import io.vellum.VellumException;
import java.nio.ByteBuffer;
import org.jetbrains.annotations.NotNull;

/**
 * Bitmaps and hardware buffers as frames of a model made by {@link io.vellum.Model#withFrames}. Their pixels are locked and read
 * where they are; the runtime's copy to the device is the only one. The runtime does not import hardware buffers into Vulkan.
 */
public final class Frames {
  private Frames() {}

  /** The input for bitmaps of this one's size, configuration ARGB_8888 (RGBA in memory). */
  public static @NotNull FrameInput inputOf(@NotNull Bitmap bitmap) {
    return rgba(Native.bitmapSize(notNull(bitmap, "bitmap")));
  }

  /** The input for hardware buffers like this one: RGBA_8888 or RGBX_8888, one layer, usage USAGE_CPU_READ_OFTEN. */
  public static @NotNull FrameInput inputOf(@NotNull HardwareBuffer buffer) {
    return rgba(Native.hardwareBufferSize(notNull(buffer, "buffer")));
  }

  /** Sets a session's input, which {@link #inputOf(Bitmap)} describes, to a bitmap's pixels. */
  public static void setInput(@NotNull Session session, @NotNull String input, @NotNull Bitmap bitmap) {
    notNull(session, "session");
    ByteBuffer pixels = locked(Native.lockBitmap(notNull(bitmap, "bitmap")), "bitmap");
    try {
      session.setInput(input, pixels);
    } finally {
      Native.unlockBitmap(bitmap);
    }
  }

  /**
   * Sets a session's input, which {@link #inputOf(HardwareBuffer)} describes, to a hardware buffer's pixels. Waits until the
   * producer has written them.
   */
  public static void setInput(@NotNull Session session, @NotNull String input, @NotNull HardwareBuffer buffer) {
    notNull(session, "session");
    ByteBuffer pixels = locked(Native.lockHardwareBuffer(notNull(buffer, "buffer")), "hardware buffer");
    try {
      session.setInput(input, pixels);
    } finally {
      Native.unlockHardwareBuffer(buffer);
    }
  }

  private static FrameInput rgba(int[] size) {
    return new FrameInput(FrameFormat.RGBA8, size[0], size[1]).rowBytes(size[2]);
  }

  private static ByteBuffer locked(ByteBuffer pixels, String what) {
    if (pixels == null) throw new VellumException(Status.INVALID_ARGUMENT, "the pixels of the " + what + " cannot be locked");
    return pixels;
  }

  private static <T> T notNull(T value, String name) {
    if (value == null) throw new NullPointerException(name + " is null");
    return value;
  }
}

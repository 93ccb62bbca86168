package io.vellum.android;

import android.graphics.Bitmap;
import android.hardware.HardwareBuffer;
import io.vellum.FrameFormat;
import io.vellum.FrameInput;
import io.vellum.HardwareFrames;
import io.vellum.Session;
import io.vellum.Status;
import io.vellum.VellumException;
import java.nio.ByteBuffer;
import org.jetbrains.annotations.NotNull;

/**
 * Bitmaps and hardware buffers as frames of a model made by {@link io.vellum.Model#withFrames}. {@link #run}
 * imports a hardware buffer into Vulkan, where the device reads it without a copy. {@link #setInput} locks
 * the pixels and reads them where they are; the runtime's copy to the device is the only one.
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

  /**
   * Runs an inference on a hardware buffer, without a copy, and returns when it is done; then the buffer may
   * be closed and go back to its producer. The buffer has one layer, the usage {@code
   * USAGE_GPU_SAMPLED_IMAGE} and the size of the {@link FrameInput}: RGBA_8888 or RGBX_8888 for {@link
   * FrameFormat#RGBA8}, YCBCR_420_888 and a camera's private format of Y, U and V for {@link
   * FrameFormat#NV12}. The producer must be done: from Android 13 on wait for {@code Image.getFence()}
   * before.
   *
   * <p>Throws {@link Status#UNSUPPORTED}, with the reason, for a format that the device does not read.
   *
   * @param frames of {@link HardwareFrames#create}, which throws where the device imports no hardware buffers
   */
  public static void run(@NotNull HardwareFrames frames, @NotNull HardwareBuffer buffer) {
    notNull(frames, "frames");
    int[] size = new int[2];
    long address = Native.acquireHardwareBuffer(notNull(buffer, "buffer"), size);
    try {
      frames.run(address, size[0], size[1]);
    } finally {
      Native.releaseHardwareBuffer(address);
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

package io.vellum;

import org.jetbrains.annotations.NotNull;

/**
 * Frames in hardware buffers of Android, such as those of a camera, as an input of a session: the device reads them where they
 * are, without a copy. A buffer is imported when it comes for the first time, and stays imported while it is one of the last
 * that came; each import holds a reference to its buffer, and what the session needs, also after {@link Session#trim}. {@code
 * io.vellum.android.Frames} has the calls for Android's classes.
 */
public final class HardwareFrames extends NativeObject {
  private final Session session;

  private HardwareFrames(long address, @NotNull Session session) {
    super("hardware frames", address, Native::hardwareFramesDestroy, session.handle, null);
    this.session = session;
  }

  /**
   * Makes them for a session of {@link Model#withFrames}. Throws {@link Status#UNSUPPORTED}, naming the extension, where the
   * device imports no hardware buffers: then {@link Session#setInput} takes a copy of the frame.
   *
   * @param input the name of the input
   * @param most how many buffers stay imported, at least 1; a camera has about as many as its ImageReader has images
   */
  public static @NotNull HardwareFrames create(@NotNull Session session, @NotNull String input, int most) {
    Check.notNull(session, "session");
    Check.notNull(input, "input");
    if (most < 1) throw Check.invalid("most is " + most + ": one buffer at least must stay imported");
    return new HardwareFrames(session.alone(s -> Native.hardwareFramesCreate(s, input, most)), session);
  }

  /**
   * Runs one inference on the frame in a buffer and returns when it is done; then the buffer may go back to its producer. Other
   * inputs have the values of {@link Session#setInput}, {@link Session#output} reads the outputs.
   *
   * @param buffer the address of an AHardwareBuffer, which lives during the call and which its producer has written
   */
  public void run(long buffer, int width, int height) {
    Check.notNegative(width, "width");
    Check.notNegative(height, "height");
    session.alone(
        s -> {
          handle.use(frames -> Native.hardwareFramesRun(frames, buffer, width, height));
          return null;
        });
  }
}

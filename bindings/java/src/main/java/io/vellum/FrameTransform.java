package io.vellum;

import java.util.Arrays;
import org.jetbrains.annotations.NotNull;

/**
 * Which part of a frame the network sees: (x, y) in pixels of the network's input is at (a x + b y + c, d x + e y + f) in
 * pixels of the frame. Both begin at the corner of the first pixel, and y is down.
 *
 * <p>A plain value. The functions throw {@link Status#INVALID_ARGUMENT} for sizes that are not positive and values that are
 * not finite.
 */
public final class FrameTransform {
  /** a, b, c, d, e, f, then the width and the height of the network's input; native code takes it as one array. */
  private final double[] values;

  private FrameTransform(double[] values) {
    this.values = values;
  }

  /** The whole frame, whatever its proportions. */
  public static @NotNull FrameTransform stretch(
      double frameWidth, double frameHeight, double networkWidth, double networkHeight) {
    return new FrameTransform(Native.frameStretch(frameWidth, frameHeight, networkWidth, networkHeight));
  }

  /** The whole frame without distortion, centred; what is beside it is {@link FrameInput#fill}. */
  public static @NotNull FrameTransform letterbox(
      double frameWidth, double frameHeight, double networkWidth, double networkHeight) {
    return new FrameTransform(Native.frameLetterbox(frameWidth, frameHeight, networkWidth, networkHeight));
  }

  /** The largest part with the network's proportions from the middle of the frame. */
  public static @NotNull FrameTransform centerCrop(
      double frameWidth, double frameHeight, double networkWidth, double networkHeight) {
    return new FrameTransform(Native.frameCenterCrop(frameWidth, frameHeight, networkWidth, networkHeight));
  }

  /** A rectangle of the frame around a centre, rotated clockwise by `angle` radians; 0: an upright crop. */
  public static @NotNull FrameTransform rotated(double centerX, double centerY, double width, double height, double angle,
      double networkWidth, double networkHeight) {
    return new FrameTransform(
        Native.frameRotated(centerX, centerY, width, height, angle, networkWidth, networkHeight));
  }

  /** The parallelogram with these corners, in pixels of the frame; throws if it has no area. */
  public static @NotNull FrameTransform region(double cornerX, double cornerY, double rightX, double rightY, double downX,
      double downY, double networkWidth, double networkHeight) {
    return new FrameTransform(
        Native.frameRegion(cornerX, cornerY, rightX, rightY, downX, downY, networkWidth, networkHeight));
  }

  /** The same part of the frame, mirrored for the network. */
  public @NotNull FrameTransform flippedHorizontally() {
    return new FrameTransform(Native.frameFlip(values, true));
  }

  public @NotNull FrameTransform flippedVertically() {
    return new FrameTransform(Native.frameFlip(values, false));
  }

  /** Maps a point from pixels of the network's input to {x, y} in pixels of the frame. */
  public double @NotNull [] toFrame(double x, double y) {
    return Native.frameMap(values, x, y, true);
  }

  /** Maps a point from pixels of the frame to {x, y} in pixels of the network's input. */
  public double @NotNull [] toNetwork(double x, double y) {
    return Native.frameMap(values, x, y, false);
  }

  /** Returns a, b, c, d, e, f. */
  public double @NotNull [] matrix() {
    return Arrays.copyOf(values, 6);
  }

  public double networkWidth() {
    return values[6];
  }

  public double networkHeight() {
    return values[7];
  }

  /** The value of the input "NAME.transform". */
  public @NotNull Tensor tensor() {
    return Tensor.of(Native.frameValues(values), 2, 3);
  }

  double[] values() {
    return values;
  }
}

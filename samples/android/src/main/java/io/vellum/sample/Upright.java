package io.vellum.sample;

import io.vellum.FrameTransform;

/** A camera's frame and the upright picture that people see: the frame turned clockwise by 0, 90, 180 or 270 degrees. */
final class Upright {
  final int width;
  final int height;
  final int degrees;

  /** @param width of the frame, not of the upright picture */
  Upright(int width, int height, int degrees) {
    if (degrees % 90 != 0 || degrees < 0 || degrees >= 360) throw new IllegalArgumentException(degrees + " degrees");
    this.width = width;
    this.height = height;
    this.degrees = degrees;
  }

  /** What a network sees: the upright picture, whole. */
  FrameTransform transform(boolean keepsProportions, int networkWidth, int networkHeight) {
    if (degrees == 0)
      return keepsProportions
          ? FrameTransform.letterbox(width, height, networkWidth, networkHeight)
          : FrameTransform.stretch(width, height, networkWidth, networkHeight);
    boolean sideways = degrees % 180 != 0;
    double seenWidth = sideways ? height : width;
    double seenHeight = sideways ? width : height;
    if (keepsProportions) {
      double scale = Math.max(seenWidth / networkWidth, seenHeight / networkHeight);
      seenWidth = scale * networkWidth;
      seenHeight = scale * networkHeight;
    }
    return FrameTransform.rotated(
        width / 2.0, height / 2.0, seenWidth, seenHeight, Math.toRadians(-degrees), networkWidth, networkHeight);
  }

  /** Maps a point in pixels of the frame to {x, y} in fractions of the upright picture. */
  float[] fractions(double[] frame) {
    double x = frame[0] / width;
    double y = frame[1] / height;
    switch (degrees) {
      case 90:
        return new float[] {(float) (1 - y), (float) x};
      case 180:
        return new float[] {(float) (1 - x), (float) (1 - y)};
      case 270:
        return new float[] {(float) y, (float) (1 - x)};
      default:
        return new float[] {(float) x, (float) y};
    }
  }
}

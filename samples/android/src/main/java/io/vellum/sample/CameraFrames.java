package io.vellum.sample;

import io.vellum.ColorMatrix;
import io.vellum.ColorRange;
import io.vellum.FrameFormat;
import io.vellum.FrameInput;
import java.nio.ByteBuffer;

/** Frames in NV12 without padding, of even width and height, BT.601 in full range: those of io.vellum.android.YuvFrame. */
final class CameraFrames implements Frames {
  private final int width;
  private final int height;

  CameraFrames(int width, int height) {
    this.width = width;
    this.height = height;
  }

  @Override
  public FrameInput get() {
    return new FrameInput(FrameFormat.NV12, width, height).colors(ColorMatrix.BT601, ColorRange.FULL);
  }

  @Override
  public int rgb(ByteBuffer frame, int x, int y) {
    int chroma = (height + y / 2) * width + x / 2 * 2;
    float luma = frame.get(y * width + x) & 0xFF;
    float cb = (frame.get(chroma) & 0xFF) - 128;
    float cr = (frame.get(chroma + 1) & 0xFF) - 128;
    return to8bit(luma + 1.402f * cr) << 16 | to8bit(luma - 0.344136f * cb - 0.714136f * cr) << 8 | to8bit(luma + 1.772f * cb);
  }

  private static int to8bit(float value) {
    return Math.round(Math.min(Math.max(value, 0), 255));
  }
}

package io.vellum.sample;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** Cuts a parallelogram out of a frame on the host, into planes of blue, green and red as PP-OCR reads them. */
final class Cutout {
  private final Frames frames;
  private final int frameWidth;
  private final int frameHeight;

  Cutout(Frames frames, int frameWidth, int frameHeight) {
    this.frames = frames;
    this.frameWidth = frameWidth;
    this.frameHeight = frameHeight;
  }

  /**
   * Fills the first `columns` columns of planes [3][height][width] with (pixel - mean) * scale; the others stay as they are.
   *
   * @param corners x, y of the top left, the top right and the bottom left corner, in pixels of the frame
   */
  void cut(ByteBuffer frame, float[] corners, float[] planes, int width, int height, int columns, float[] mean, float[] scale) {
    float[] rgb = new float[3];
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < columns; ++x) {
        float across = (x + 0.5f) / columns;
        float down = (y + 0.5f) / height;
        sample(frame, corners[0] + across * (corners[2] - corners[0]) + down * (corners[4] - corners[0]),
            corners[1] + across * (corners[3] - corners[1]) + down * (corners[5] - corners[1]), rgb);
        for (int plane = 0; plane < 3; ++plane)
          planes[(plane * height + y) * width + x] = (rgb[2 - plane] - mean[plane]) * scale[plane];
      }
  }

  /** Linear between pixel centres, the border repeated. */
  private void sample(ByteBuffer frame, float pointX, float pointY, float[] rgb) {
    float x = Math.min(Math.max(pointX - 0.5f, 0), frameWidth - 1);
    float y = Math.min(Math.max(pointY - 0.5f, 0), frameHeight - 1);
    int left = (int) x;
    int top = (int) y;
    int right = Math.min(left + 1, frameWidth - 1);
    int bottom = Math.min(top + 1, frameHeight - 1);
    float u = x - left;
    float v = y - top;
    Arrays.fill(rgb, 0);
    add(frames.rgb(frame, left, top), (1 - u) * (1 - v), rgb);
    add(frames.rgb(frame, right, top), u * (1 - v), rgb);
    add(frames.rgb(frame, left, bottom), (1 - u) * v, rgb);
    add(frames.rgb(frame, right, bottom), u * v, rgb);
  }

  private static void add(int pixel, float weight, float[] rgb) {
    rgb[0] += weight * (pixel >> 16 & 0xFF);
    rgb[1] += weight * (pixel >> 8 & 0xFF);
    rgb[2] += weight * (pixel & 0xFF);
  }
}

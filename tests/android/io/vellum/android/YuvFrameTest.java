package io.vellum.android;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.Test;

/** Camera images of every arrangement that Android documents become the same frame. */
public class YuvFrameTest {
  /** A plane of `width` x `height` values, `pixelStride` and `rowStride` bytes apart, that ends with its last value. */
  private static ByteBuffer plane(byte[][] values, int rowStride, int pixelStride) {
    int height = values.length;
    int width = values[0].length;
    ByteBuffer plane = ByteBuffer.allocateDirect(rowStride * (height - 1) + pixelStride * (width - 1) + 1);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) plane.put(y * rowStride + x * pixelStride, values[y][x]);
    return plane;
  }

  private static byte[][] random(int width, int height, long seed) {
    Random random = new Random(seed);
    byte[][] values = new byte[height][width];
    for (byte[] row : values) random.nextBytes(row);
    return values;
  }

  @Test
  public void planesBecomeNv12() {
    int[][] sizes = {{8, 6}, {7, 5}, {2, 2}, {1, 1}};
    for (int[] size : sizes)
      for (int pixelStride = 1; pixelStride <= 2; ++pixelStride)
        for (int padding = 0; padding <= 5; padding += 5) {
          int width = size[0];
          int height = size[1];
          int chromaWidth = (width + 1) / 2;
          byte[][] y = random(width, height, 1);
          byte[][] u = random(chromaWidth, (height + 1) / 2, 2);
          byte[][] v = random(chromaWidth, (height + 1) / 2, 3);
          int chromaStride = chromaWidth * pixelStride + padding;
          YuvFrame frame = new YuvFrame(width, height);
          frame.set(plane(y, width + padding, 1), width + padding, plane(u, chromaStride, pixelStride),
              plane(v, chromaStride, pixelStride), chromaStride, pixelStride);
          ByteBuffer bytes = frame.buffer();
          int rowBytes = 2 * chromaWidth;
          assertEquals(frame.input().byteSize(), bytes.remaining());
          for (int row = 0; row < height; ++row)
            for (int x = 0; x < width; ++x) assertEquals(y[row][x], bytes.get(row * rowBytes + x));
          for (int row = 0; row < u.length; ++row)
            for (int x = 0; x < chromaWidth; ++x) {
              assertEquals(u[row][x], bytes.get((height + row) * rowBytes + 2 * x));
              assertEquals(v[row][x], bytes.get((height + row) * rowBytes + 2 * x + 1));
            }
        }
  }

  @Test
  public void planesThatAreTooSmallAreRefused() {
    YuvFrame frame = new YuvFrame(8, 8);
    ByteBuffer y = ByteBuffer.allocateDirect(64);
    ByteBuffer chroma = ByteBuffer.allocateDirect(16);
    frame.set(y, 8, chroma, chroma, 4, 1);
    assertThrows(IllegalArgumentException.class, () -> frame.set(y, 9, chroma, chroma, 4, 1));
    assertThrows(IllegalArgumentException.class, () -> frame.set(y, 8, chroma, chroma, 4, 2));
    assertThrows(IllegalArgumentException.class, () -> frame.set(y, -8, chroma, chroma, 4, 1));
    assertThrows(NullPointerException.class, () -> frame.set(y, 8, null, chroma, 4, 1));
    assertThrows(IllegalArgumentException.class, () -> new YuvFrame(0, 4));
  }
}

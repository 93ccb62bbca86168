package io.vellum;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import java.util.HashMap;
import java.util.Map;
import org.junit.Test;

/** Frames and their transforms. */
public class FrameTest {
  private static final double NEAR = 1e-9;

  @Test
  public void pointsAreMappedToTheFrameAndBack() {
    FrameTransform letterbox = FrameTransform.letterbox(1280, 720, 128, 128);
    assertEquals(128, letterbox.networkWidth(), 0);
    assertArrayEquals(new double[] {640, 360}, letterbox.toFrame(64, 64), NEAR);
    double[] point = letterbox.toFrame(10, 20);
    assertArrayEquals(new double[] {10, 20}, letterbox.toNetwork(point[0], point[1]), NEAR);
    FrameTransform mirrored = letterbox.flippedHorizontally();
    assertArrayEquals(letterbox.toFrame(128 - 10, 20), mirrored.toFrame(10, 20), NEAR);
    assertArrayEquals(letterbox.toFrame(10, 128 - 20), letterbox.flippedVertically().toFrame(10, 20), NEAR);
    assertArrayEquals(new double[] {0, 0}, FrameTransform.stretch(200, 100, 10, 10).toFrame(0, 0), NEAR);
    assertArrayEquals(new double[] {50, 0}, FrameTransform.centerCrop(200, 100, 10, 10).toFrame(0, 0), NEAR);
    double[] corner = FrameTransform.rotated(100, 50, 20, 10, Math.PI / 2, 10, 10).toFrame(0, 0);
    assertArrayEquals(new double[] {105, 40}, corner, NEAR);
    assertArrayEquals(corner, FrameTransform.region(105, 40, 105, 60, 95, 40, 10, 10).toFrame(0, 0), NEAR);
    assertArrayEquals(new double[] {95, 60}, FrameTransform.region(105, 40, 105, 60, 95, 40, 10, 10).toFrame(10, 10), NEAR);
    assertThrows(VellumException.class, () -> FrameTransform.region(0, 0, 1, 1, 2, 2, 10, 10));
    double[] matrix = letterbox.matrix();
    float[] values = letterbox.tensor().toFloats();
    for (int i = 0; i < 6; ++i) assertEquals((float) matrix[i], values[i], 0);
  }

  /** A frame of the network's size, letterboxed to all of it, is read pixel by pixel. */
  @Test
  public void aFrameIsReadAsItsPixels() {
    byte[] pixels = new byte[3 * 128 * 128];
    for (int i = 0; i < pixels.length; ++i) pixels[i] = (byte) (i * 7);
    float[] normalised = new float[pixels.length];
    try (Device device = Device.open();
        Model model = Model.load(Data.model(Data.FACES))) {
      TensorInfo input = model.inputs().get(0);
      boolean channelsLast = input.shape()[3] == 3;
      for (int pixel = 0; pixel < 128 * 128; ++pixel)
        for (int channel = 0; channel < 3; ++channel)
          normalised[channelsLast ? 3 * pixel + channel : channel * 128 * 128 + pixel] =
              ((pixels[3 * pixel + channel] & 0xFF) - 127.5f) * (1 / 127.5f);
      FrameInput frame = new FrameInput(FrameFormat.RGB8, 128, 128).normalise(127.5f, 1 / 127.5f);
      assertEquals(pixels.length, frame.byteSize());
      try (Model framed = model.withFrames(input.name(), frame);
          Session plain = Session.create(device, model);
          Session camera = Session.create(device, framed)) {
        assertEquals(2, camera.inputs().size());
        Map<String, Tensor> frames = new HashMap<>();
        frames.put(input.name(), Tensor.of(DataType.U8, pixels, pixels.length));
        frames.put(input.name() + ".transform", FrameTransform.letterbox(128, 128, 128, 128).tensor());
        Map<String, Tensor> values = new HashMap<>();
        values.put(input.name(), Tensor.of(normalised, input.shape()));
        Map<String, Tensor> expected = plain.run(values);
        for (Map.Entry<String, Tensor> output : camera.run(frames).entrySet())
          assertArrayEquals(output.getKey(), expected.get(output.getKey()).toFloats(), output.getValue().toFloats(), 1e-3f);
      }
    }
  }

  @Test
  public void framesWithAFixedPartHaveOneInput() {
    try (Model model = Model.load(Data.model(Data.FACES))) {
      FrameInput frame =
          new FrameInput(FrameFormat.NV12, 640, 480)
              .rowBytes(704)
              .colors(ColorMatrix.BT709, ColorRange.FULL)
              .filter(FrameFilter.AREA)
              .fill(1, 2, 3)
              .bgr(true)
              .normalise(new float[] {1, 2, 3}, new float[] {1, 1, 1})
              .transform(FrameTransform.centerCrop(640, 480, 128, 128));
      assertEquals(704 * 480 * 3 / 2, frame.byteSize());
      try (Model framed = model.withFrames(model.inputs().get(0).name(), frame)) {
        assertEquals(1, framed.inputs().size());
        assertEquals(DataType.U8, framed.inputs().get(0).type());
        assertEquals(frame.byteSize(), framed.inputs().get(0).byteSize());
      }
    }
  }
}

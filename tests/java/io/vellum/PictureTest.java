package io.vellum;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import java.util.Random;
import org.junit.Test;

/** Pictures of outputs have the bytes that the same pictures have in C (tests/bindings/pictures.c). */
public class PictureTest {
  private static final String PERSON = "selfie_segmentation.tflite";
  private static final int WIDTH = 90;
  private static final int HEIGHT = 64;

  /** Smooth, so that the mask has all values. */
  private static byte[] frame() {
    Random random = new Random(7);
    byte[] pixels = new byte[3 * WIDTH * HEIGHT];
    for (int y = 0; y < HEIGHT; ++y)
      for (int x = 0; x < WIDTH; ++x) {
        double far = Math.hypot(x - WIDTH / 2.0, y - HEIGHT / 2.0) / HEIGHT;
        int at = 3 * (y * WIDTH + x);
        pixels[at] = (byte) (far < 0.3 ? 210 + random.nextInt(8) : 60);
        pixels[at + 1] = (byte) (far < 0.3 ? 160 : 80 + x);
        pixels[at + 2] = (byte) (far < 0.3 ? 130 : 120 + y);
      }
    return pixels;
  }

  private static Model framed(Model model) {
    TensorInfo input = model.inputs().get(0);
    FrameTransform part = FrameTransform.letterbox(WIDTH, HEIGHT, input.shape()[2], input.shape()[1]);
    return model.withFrames(
        input.name(), new FrameInput(FrameFormat.RGB8, WIDTH, HEIGHT).normalise(0, 1 / 255f).transform(part));
  }

  private static Map<String, Tensor> run(Device device, Model framed, PictureOutput picture) {
    try (Model pictured = framed.withPicture(framed.outputs().get(0).name(), picture);
        Session session = Session.create(device, pictured)) {
      byte[] pixels = frame();
      return session.run(
          Collections.singletonMap(framed.inputs().get(0).name(), Tensor.of(DataType.U8, pixels, pixels.length)));
    }
  }

  private static byte[] fromC(int index, long[] counts) throws Exception {
    Path folder = Files.createTempDirectory("vellum_java");
    Path frame = folder.resolve("frame");
    Path pictures = folder.resolve("pictures");
    try {
      Files.write(frame, frame());
      Process program =
          new ProcessBuilder(System.getProperty("vellum.pictures"), Data.model(PERSON), frame.toString(), "" + WIDTH,
              "" + HEIGHT, pictures.toString()).inheritIO().start();
      assertEquals(0, program.waitFor());
      byte[] all = Files.readAllBytes(pictures);
      assertEquals(Arrays.stream(counts).sum(), all.length);
      int begin = (int) Arrays.stream(counts, 0, index).sum();
      return Arrays.copyOfRange(all, begin, begin + (int) counts[index]);
    } finally {
      Files.deleteIfExists(frame);
      Files.deleteIfExists(pictures);
      Files.delete(folder);
    }
  }

  private static boolean varies(byte[] bytes, int channel) {
    for (int i = channel + 4; i < bytes.length; i += 4) if (bytes[i] != bytes[channel]) return true;
    return false;
  }

  @Test
  public void picturesHaveTheBytesOfTheProgramInC() throws Exception {
    try (Device device = Device.open();
        Model model = Model.load(Data.model(PERSON));
        Model framed = framed(model)) {
      String mask = framed.outputs().get(0).name();
      long[] shape = framed.outputs().get(0).shape();
      PictureOutput wall =
          new PictureOutput().palette(0xFF00B140, 0x0000B140).over(framed.inputs().get(0).name());
      PictureOutput ramp =
          new PictureOutput().palette(0x00000000, 0xC8FF8000, 0xFF010203).range(0.1f, 0.8f).size(100, 61)
              .channels(ChannelOrder.LAST);
      PictureOutput steps =
          new PictureOutput().colors(PictureColors.STEPS).filter(PictureFilter.NEAREST).name("picture")
              .palette(0x06090807, 0xFDFAFBFC, 0xFF640064);
      long[] counts = {4 * WIDTH * HEIGHT, 4 * 100 * 61, 4 * shape[1] * shape[2]};

      Tensor beforeWall = run(device, framed, wall).get(mask);
      assertEquals(DataType.U8, beforeWall.type());
      assertArrayEquals(new long[] {HEIGHT, WIDTH, 4}, beforeWall.shape());
      assertArrayEquals(fromC(0, counts), beforeWall.toBytes());
      assertTrue("the frame is seen", varies(beforeWall.toBytes(), 0));

      Tensor alone = run(device, framed, ramp).get(mask);
      assertArrayEquals(new long[] {61, 100, 4}, alone.shape());
      assertArrayEquals(fromC(1, counts), alone.toBytes());
      assertTrue("the mask has several values", varies(alone.toBytes(), 3));

      Map<String, Tensor> both = run(device, framed, steps);
      assertArrayEquals(fromC(2, counts), both.get("picture").toBytes());
      assertArrayEquals("the values stay an output", shape, both.get(mask).shape());
      assertEquals(DataType.F32, both.get(mask).type());
    }
  }

  @Test
  public void picturesThatCannotBeAreRefused() {
    try (Model model = Model.load(Data.model(PERSON))) {
      String mask = model.outputs().get(0).name();
      refused(Status.NOT_FOUND, "'mist'", model, "mist", new PictureOutput());
      refused(Status.INVALID_ARGUMENT, "palette", model, mask, new PictureOutput().colors(PictureColors.CLASSES));
      refused(Status.INVALID_ARGUMENT, "4097", model, mask, new PictureOutput().palette(new int[4097]));
      refused(Status.INVALID_ARGUMENT, "3 or 4 channels", model, mask, new PictureOutput().colors(PictureColors.RGB));
      refused(Status.INVALID_ARGUMENT, "", model, mask, new PictureOutput().range(1, 1));
      refused(Status.INVALID_ARGUMENT, "'sea'", model, mask, new PictureOutput().over("sea"));
      refused(Status.INVALID_ARGUMENT, "", model, mask, new PictureOutput().size(20000, 1));
      assertThrows(VellumException.class, () -> new PictureOutput().size(-1, 1));
      assertThrows(NullPointerException.class, () -> model.withPicture(mask, null));
      assertThrows(NullPointerException.class, () -> new PictureOutput().colors(null));
      assertFalse(model.isClosed());
    }
    try (Model cup = Model.load(Data.model("object_detection_3d_cup.tflite"))) {
      refused(Status.UNSUPPORTED, "'Identity'", cup, "Identity", new PictureOutput());
    }
  }

  private static void refused(Status status, String part, Model model, String output, PictureOutput picture) {
    VellumException refused = assertThrows(VellumException.class, () -> model.withPicture(output, picture));
    assertEquals(refused.getMessage(), status, refused.status());
    assertTrue(refused.getMessage(), refused.getMessage().contains(part));
  }
}

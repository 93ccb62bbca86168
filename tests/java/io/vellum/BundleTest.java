package io.vellum;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Collections;
import org.junit.Test;

/** Bundles are those that the tool writes, byte for byte. */
public class BundleTest {
  private static final String PERSON = Data.model("selfie_segmentation.tflite");

  private static BundleVariants variants(boolean images) {
    return new BundleVariants()
        .frame("input_1", new FrameInput(FrameFormat.NV12, 64, 64).filter(FrameFilter.AREA))
        .frame("input_1", new FrameInput(FrameFormat.RGBA8, 640, 480))
        .picture("activation_10", new PictureOutput().palette(0xFF00B140, 0).over("input_1"))
        .images(images);
  }

  @Test
  public void theyHaveTheBytesOfTheTools() throws Exception {
    Path fromTool = Files.createTempFile("vellum_java", ".tool");
    Path fromJava = Files.createTempFile("vellum_java", ".java");
    try {
      String[] arguments = {"bundle", PERSON, "-o", fromTool.toString(), "--caps", "android_baseline_2022", "--frame",
          "input_1=nv12,area", "--frame", "input_1=rgba8", "--picture", "activation_10=ramp,over:input_1", "--images"};
      Data.call(arguments);
      Bundle written = Bundle.write(PERSON, fromJava.toString(), (String) null, null, variants(true));
      assertNull(written.bytes());
      assertArrayEquals(Files.readAllBytes(fromTool), Files.readAllBytes(fromJava));
      assertEquals(Files.size(fromJava), written.fileBytes());

      ByteBuffer model = ByteBuffer.wrap(Files.readAllBytes(Paths.get(PERSON)));
      Bundle made = Bundle.inMemory(model, (String) null, null, variants(true));
      byte[] bytes = new byte[made.bytes().remaining()];
      made.bytes().get(bytes);
      assertArrayEquals(Files.readAllBytes(fromTool), bytes);
      assertTrue(Bundle.inMemory(model, (String) null, null, variants(false)).shaders() < made.shaders());
    } finally {
      Files.delete(fromTool);
      Files.delete(fromJava);
    }
  }

  @Test
  public void theyAreMadeForOneSignature() throws Exception {
    String stream = System.getenv("VELLUM_TEST_SOURCE") + "/data/tflite/stream.tflite";
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(Paths.get(stream)));
    BundleVariants reset = new BundleVariants().signature("reset");
    try (Device device = Device.open();
        Model chosen = Model.lend(Bundle.inMemory(bytes, device, null, reset).bytes());
        Model first = Model.lend(Bundle.inMemory(bytes, device, null, reset.signature(null)).bytes());
        Session session = Session.create(device, chosen)) {
      assertEquals(Collections.singletonList("reset"), chosen.signatures());
      assertEquals(Collections.singletonList("accumulate"), first.signatures());
      session.run();
      assertArrayEquals(new float[] {0, 0}, session.output("sum.next").toFloats(), 0);
    }
  }

  @Test
  public void bundlesInMemoryAreModels() throws Exception {
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(Paths.get(Data.model(Data.FACES))));
    try (Device device = Device.open()) {
      Bundle made = Bundle.inMemory(bytes, device, null, new BundleVariants());
      try (Model model = Model.load(Data.model(Data.FACES)); Model bundle = Model.lend(made.bytes());
          Session expected = Session.create(device, model); Session session = Session.create(device, bundle)) {
        TensorInfo input = model.inputs().get(0);
        Tensor values = Data.random(input, 3);
        for (TensorInfo output : expected.outputs())
          assertArrayEquals(expected.run(Collections.singletonMap(input.name(), values)).get(output.name()).toBytes(),
              session.run(Collections.singletonMap(input.name(), values)).get(output.name()).toBytes());
      }
      assertThrows(VellumException.class,
          () -> Bundle.inMemory(bytes, device, null, new BundleVariants().frame("sea", new FrameInput(FrameFormat.RGB8, 8, 8))));
      assertThrows(VellumException.class, () -> Bundle.inMemory(ByteBuffer.allocate(9), device, null, new BundleVariants()));
    }
  }

  /** The driver of the desktop has none; Android's have. */
  @Test
  public void hardwareFramesAreRefusedByTheNameOfTheExtension() {
    try (Device device = Device.open();
        Model model = Model.load(PERSON);
        Model framed = model.withFrames("input_1", new FrameInput(FrameFormat.NV12, 64, 64));
        Session session = Session.create(device, framed)) {
      VellumException refused =
          assertThrows(VellumException.class, () -> HardwareFrames.create(session, "input_1", 4));
      assertEquals(Status.UNSUPPORTED, refused.status());
      assertTrue(refused.getMessage(),
          refused.getMessage().contains("VK_ANDROID_external_memory_android_hardware_buffer is missing"));
      assertEquals(Status.NOT_FOUND,
          assertThrows(VellumException.class, () -> HardwareFrames.create(session, "sea", 4)).status());
      assertThrows(VellumException.class, () -> HardwareFrames.create(session, "input_1", 0));
      assertThrows(NullPointerException.class, () -> HardwareFrames.create(null, "input_1", 4));
    }
  }
}

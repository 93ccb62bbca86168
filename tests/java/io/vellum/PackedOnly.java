package io.vellum;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;

/** A library that reads bundles alone, with a bundle that the tool has written. */
public class PackedOnly {
  private Path bundle;

  @Before
  public void writeBundle() throws Exception {
    bundle = Files.createTempFile("vellum_java", ".vellum");
    Data.call("bundle", Data.model(Data.FACES), "-o", bundle.toString(), "--frame", "input:0=rgb8,area");
  }

  @After
  public void deleteBundle() throws Exception {
    Files.delete(bundle);
  }

  @Test
  public void bundlesGiveTheBitsOfTheirModel() throws Exception {
    try (Device device = Device.open(); Model model = Model.load(bundle.toString())) {
      TensorInfo input = model.inputs().get(0);
      Tensor values = Data.random(input, 1);
      try (Session session = Session.create(device, model)) {
        List<byte[]> expected = Data.runTool(Data.model(Data.FACES), input, values, session.outputs());
        int i = 0;
        for (Tensor output : session.run(Collections.singletonMap(input.name(), values)).values())
          assertArrayEquals(expected.get(i++), output.toBytes());
      }
    }
  }

  /** The same frame with a transform for all frames and with one for each: both are in the bundle. */
  @Test
  public void framesOfTheBundlesFormatsAreTaken() {
    FrameTransform transform = FrameTransform.letterbox(60, 40, 128, 128);
    FrameInput frame = new FrameInput(FrameFormat.RGB8, 60, 40).filter(FrameFilter.AREA).normalise(127.5f, 1 / 127.5f);
    byte[] pixels = new byte[(int) frame.byteSize()];
    for (int i = 0; i < pixels.length; ++i) pixels[i] = (byte) (i * 7);
    Map<String, Tensor> inputs = new HashMap<>();
    try (Device device = Device.open(); Model model = Model.load(bundle.toString())) {
      String input = model.inputs().get(0).name();
      inputs.put(input, Tensor.of(DataType.U8, pixels, pixels.length));
      try (Model fixed = model.withFrames(input, frame.transform(transform));
          Model open = model.withFrames(input, frame.transform(null));
          Session first = Session.create(device, fixed);
          Session second = Session.create(device, open)) {
        Map<String, Tensor> expected = first.run(inputs);
        inputs.put(input + ".transform", transform.tensor());
        for (Map.Entry<String, Tensor> output : second.run(inputs).entrySet())
          assertArrayEquals(expected.get(output.getKey()).toBytes(), output.getValue().toBytes());
      }
      VellumException lacking =
          assertThrows(VellumException.class, () -> {
            try (Model other = model.withFrames(input, new FrameInput(FrameFormat.NV12, 64, 64))) {
              Session.create(device, other).close();
            }
          });
      assertEquals(Status.UNSUPPORTED, lacking.status());
      assertTrue(lacking.getMessage(), lacking.getMessage().contains("shader frame"));
    }
  }

  /** A phone says what its device is like, a desktop writes bundles for it. */
  @Test
  public void bundlesForTheCapsOfADeviceRunOnIt() throws Exception {
    Path caps = Files.createTempFile("vellum_java", ".json");
    try (Device device = Device.open(new DeviceOptions().androidBaseline2022(true))) {
      Files.write(caps, device.caps().getBytes(StandardCharsets.UTF_8));
      Data.call("bundle", Data.model(Data.FACES), "-o", bundle.toString(), "--caps", caps.toString(), "--frame",
          "input:0=nv12");
      try (Model model = Model.load(bundle.toString());
          Model framed = model.withFrames("input:0", new FrameInput(FrameFormat.NV12, 64, 64));
          Session session = Session.create(device, framed)) {
        assertEquals(4, session.outputs().size());
      }
    } finally {
      Files.delete(caps);
    }
  }

  /**
   * One bundle for all phones: this device is no phone and has other limits and traits, opened as it is and with the limits of
   * the baseline.
   */
  @Test
  public void bundlesForTheBaselineRunOnEveryDevice() throws Exception {
    Data.call("bundle", Data.model(Data.FACES), "-o", bundle.toString(), "--caps", "android_baseline_2022", "--frame",
        "input:0=rgb8");
    FrameInput frame = new FrameInput(FrameFormat.RGB8, 128, 128).normalise(127.5f, 1 / 127.5f);
    for (boolean baseline : new boolean[] {false, true})
      try (Device device = Device.open(new DeviceOptions().androidBaseline2022(baseline));
          Model model = Model.load(bundle.toString());
          Model framed = model.withFrames("input:0", frame);
          Session plain = Session.create(device, model);
          Session session = Session.create(device, framed)) {
        TensorInfo input = model.inputs().get(0);
        Tensor values = Data.random(input, 1);
        List<byte[]> expected = Data.runTool(Data.model(Data.FACES), input, values, plain.outputs());
        int i = 0;
        for (Tensor output : plain.run(Collections.singletonMap(input.name(), values)).values()) {
          float[] actual = output.toFloats();
          FloatBuffer desired = ByteBuffer.wrap(expected.get(i++)).order(ByteOrder.nativeOrder()).asFloatBuffer();
          for (int k = 0; k < actual.length; ++k) assertEquals(desired.get(k), actual[k], 1e-3 * Math.max(1, Math.abs(desired.get(k))));
        }
        assertEquals(4, session.outputs().size());
        VellumException lacking =
            assertThrows(VellumException.class,
                () -> Session.create(device, model, new SessionOptions().precision(Precision.FP16)));
        assertEquals(Status.UNSUPPORTED, lacking.status());
      }
  }

  @Test
  public void lentBundlesAreKeptUntilNothingNeedsThem() throws Exception {
    byte[] bytes = Files.readAllBytes(bundle);
    ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length);
    direct.put(bytes).flip();
    AtomicInteger released = new AtomicInteger();
    try (Device device = Device.open()) {
      Model model = Model.lend(direct, null, released::incrementAndGet);
      Session session = Session.create(device, model);
      model.close();
      assertEquals(0, released.get());
      TensorInfo input = session.inputs().get(0);
      Tensor values = Data.random(input, 1);
      List<byte[]> expected = Data.runTool(Data.model(Data.FACES), input, values, session.outputs());
      int i = 0;
      for (Tensor output : session.run(Collections.singletonMap(input.name(), values)).values())
        assertArrayEquals(expected.get(i++), output.toBytes());
      session.close();
      assertEquals(1, released.get());
    }
    assertThrows(VellumException.class, () -> Model.lend(ByteBuffer.allocate(8), null, released::incrementAndGet));
    assertThrows(VellumException.class, () -> Model.lend(ByteBuffer.allocateDirect(8), null, released::incrementAndGet));
    assertEquals(3, released.get());
    assertThrows(NullPointerException.class, () -> Model.lend(null));
  }

  @Test
  public void whatNeedsACompilerIsRefused() {
    VellumException refused = assertThrows(VellumException.class, () -> Model.load(Data.model(Data.FACES)));
    assertEquals(Status.UNSUPPORTED, refused.status());
    try (Device device = Device.open()) {
      VellumException unchecked = assertThrows(VellumException.class, () -> device.checkKernels(null));
      assertEquals(Status.UNSUPPORTED, unchecked.status());
    }
  }
}

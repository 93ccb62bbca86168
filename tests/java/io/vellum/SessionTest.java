package io.vellum;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.Test;

/** Results, infos and reports of a real model. */
public class SessionTest {
  private static Device device;
  private static Model model;
  private static Session session;
  private static TensorInfo input;
  private static Tensor values;

  @BeforeClass
  public static void open() {
    device = Device.open();
    model = Model.load(Data.model(Data.FACES));
    session = Session.create(device, model, new SessionOptions().profile(true));
    input = session.inputs().get(0);
    values = Data.random(input, 1);
  }

  @AfterClass
  public static void close() {
    session.close();
    model.close();
    device.close();
  }

  @Test
  public void outputsHaveTheBitsThatTheToolWrites() throws Exception {
    Map<String, Tensor> outputs = session.run(Collections.singletonMap(input.name(), values));
    List<byte[]> expected = Data.runTool(Data.model(Data.FACES), input, values, session.outputs());
    assertEquals(4, expected.size());
    int i = 0;
    for (Map.Entry<String, Tensor> output : outputs.entrySet())
      assertArrayEquals(output.getKey(), expected.get(i++), output.getValue().toBytes());
  }

  @Test
  public void signaturesAreChosenAndTheirNamesAccepted() {
    String stream = System.getenv("VELLUM_TEST_SOURCE") + "/data/tflite/stream.tflite";
    try (Model reset = Model.load(stream, null, "reset");
        Model sums = Model.load(stream);
        Session running = Session.create(device, sums)) {
      assertEquals(Arrays.asList("reset", "accumulate"), reset.signatures());
      assertEquals("in", sums.inputs().get(0).signatureName());
      assertEquals(20, sums.inputs().get(1).initialValue().getFloat(4), 0);
      running.setInput("in", new float[] {1, 2});
      running.setInput("sum", new float[] {3, 4});
      running.run();
      assertArrayEquals(new float[] {4, 6}, running.output("out").toFloats(), 0);
    }
    VellumException unknown = assertThrows(VellumException.class, () -> Model.load(stream, null, "train"));
    assertEquals(Status.NOT_FOUND, unknown.status());
  }

  /** As in docs/java.md. */
  @Test
  public void variablesAreHandedFromRunToRun() {
    String stream = System.getenv("VELLUM_TEST_SOURCE") + "/data/tflite/stream.tflite";
    try (Model sums = Model.load(stream, null, "accumulate"); Session running = Session.create(device, sums)) {
      for (TensorInfo input : running.inputs())
        if (input.initialValue() != null) running.setInput(input.name(), input.initialValue());
      for (float[] expected : new float[][] {{11, 22}, {12, 24}, {13, 26}}) {
        running.setInput("in", new float[] {1, 2});
        running.run();
        assertArrayEquals(expected, running.output("out").toFloats(), 0);
        for (TensorInfo input : running.inputs())
          if (input.initialValue() != null)
            running.setInput(input.name(), running.output(input.name() + ".next"));
      }
    }
  }

  /** As in docs/generate.md. */
  @Test
  public void variablesStayOnTheDeviceAsState() {
    String stream = System.getenv("VELLUM_TEST_SOURCE") + "/data/tflite/stream.tflite";
    SessionOptions options = new SessionOptions().state("auto");
    try (Model sums = Model.load(stream, null, "accumulate"); Session running = Session.create(device, sums, options)) {
      assertEquals(Collections.singletonMap("sum", "sum.next"), running.states());
      Tensor one = Tensor.allocate(DataType.F32, 2);
      one.buffer().order(ByteOrder.nativeOrder()).asFloatBuffer().put(new float[] {1, 2});
      for (float[] expected : new float[][] {{11, 22}, {12, 24}}) {
        Map<String, Tensor> outputs = running.run(Collections.singletonMap("in", one));
        assertEquals(1, outputs.size());
        assertArrayEquals(expected, outputs.values().iterator().next().toFloats(), 0);
      }
      try (SavedState saved = running.saveState()) {
        running.setState("sum", one);
        assertArrayEquals(new float[] {1, 2}, running.state("sum").toFloats(), 0);
        running.restoreState(saved);
      }
      assertArrayEquals(new float[] {12, 24}, running.state("sum").toFloats(), 0);
      running.resetState();
      assertArrayEquals(new float[] {10, 20}, running.state("sum").toFloats(), 0);
    }
  }

  @Test
  public void outputsInHalvesHaveTheBitsThatTheToolWrites() throws Exception {
    try (Session halves = Session.create(device, model, new SessionOptions().precision(Precision.FP16))) {
      Map<String, Tensor> outputs = halves.run(Collections.singletonMap(input.name(), values));
      List<byte[]> expected =
          Data.runTool(Data.model(Data.FACES), input, values, halves.outputs(), "--precision", "fp16");
      int i = 0;
      for (Map.Entry<String, Tensor> output : outputs.entrySet())
        assertArrayEquals(output.getKey(), expected.get(i++), output.getValue().toBytes());
    }
  }

  @Test
  public void aMemoryBudgetHoldsAndGivesTheBitsThatTheToolWrites() throws Exception {
    long budget = smallestBudget(new SessionOptions());
    assertTrue(budget < MemoryEstimate.of(model, null, device).allocatedPeak());
    try (Session small = Session.create(device, model, new SessionOptions().memoryBudget(budget))) {
      Map<String, Tensor> outputs = small.run(Collections.singletonMap(input.name(), values));
      List<byte[]> expected =
          Data.runTool(Data.model(Data.FACES), input, values, small.outputs(), "--memory-budget", "" + budget);
      int i = 0;
      for (Map.Entry<String, Tensor> output : outputs.entrySet())
        assertArrayEquals(output.getKey(), expected.get(i++), output.getValue().toBytes());
      MemoryReport memory = small.memory();
      assertEquals(budget, memory.memoryBudget());
      assertTrue(memory.budgetUsedBytes() > 0 && memory.budgetUsedBytes() <= memory.budgetPeakBytes());
      assertTrue(memory.budgetPeakBytes() <= budget);
      assertEquals("the full session has none", 0, session.memory().memoryBudget());
    }
  }

  @Test
  public void aBudgetThatIsTooSmallIsRefused() {
    long smallest = smallestBudget(new SessionOptions());
    assertThrows(VellumException.class,
        () -> Session.create(device, model, new SessionOptions().memoryBudget(smallest / 2)));
    assertThrows(VellumException.class, () -> new SessionOptions().memoryBudget(-1));
    VellumException refused = assertThrows(VellumException.class,
        () -> Session.create(device, model, new SessionOptions().memoryBudget(1 << 24).weightsBudget(1 << 20)));
    assertEquals(Status.INVALID_ARGUMENT, refused.status());
  }

  // With little more than the smallest budget weights in fp32 would stream; in halves they all fit.
  @Test
  public void aBudgetIsMetWithHalvesOnlyIfTheyAreAllowed() {
    SessionOptions tight = new SessionOptions().memoryBudget(smallestBudget(new SessionOptions()) * 5 / 4);
    String output = session.outputs().get(0).name();
    byte[] expected = session.run(Collections.singletonMap(input.name(), values)).get(output).toBytes();
    for (boolean allowed : new boolean[] {false, true})
      try (Session small = Session.create(device, model, tight.budgetAllowsFp16(allowed))) {
        byte[] found = small.run(Collections.singletonMap(input.name(), values)).get(output).toBytes();
        assertEquals(!allowed, Arrays.equals(expected, found));
      }
  }

  @Test
  public void everyWayToSetAnInputGivesTheSameResult() {
    String output = session.outputs().get(0).name();
    session.setInput(input.name(), values);
    session.run();
    byte[] expected = session.output(output).toBytes();

    session.setInput(input.name(), values.toFloats());
    session.run();
    assertArrayEquals(expected, session.output(output).toBytes());

    ByteBuffer heap = ByteBuffer.wrap(values.toBytes());
    session.setInput(input.name(), heap);
    session.run();
    assertArrayEquals(expected, session.output(output).toBytes());
    assertEquals("the position of the buffer stays", 0, heap.position());

    // A part of a larger direct buffer.
    ByteBuffer direct = ByteBuffer.allocateDirect((int) values.byteSize() + 24).order(ByteOrder.nativeOrder());
    direct.position(8);
    direct.put(values.toBytes());
    direct.position(8).limit(8 + (int) values.byteSize());
    session.setInput(input.name(), direct.asReadOnlyBuffer());
    session.run();
    assertArrayEquals(expected, session.output(output).toBytes());
  }

  @Test
  public void outputsAreWrittenToBuffersOfBothKinds() {
    TensorInfo output = session.outputs().get(1);
    session.setInput(input.name(), values);
    session.run();
    byte[] expected = session.output(output.name()).toBytes();
    for (boolean isDirect : new boolean[] {true, false}) {
      int bytes = (int) output.byteSize();
      ByteBuffer whole = isDirect ? ByteBuffer.allocateDirect(bytes + 8) : ByteBuffer.allocate(bytes + 8);
      whole.position(4).limit(4 + bytes);
      session.output(output.name(), whole);
      assertEquals(4, whole.position());
      byte[] written = new byte[bytes];
      whole.get(written);
      assertArrayEquals(expected, written);
      assertEquals("nothing is written beside it", 0, whole.getInt(0));
    }
  }

  @Test
  public void infosAreTheModels() {
    assertEquals(1, model.inputs().size());
    assertEquals(DataType.F32, input.type());
    assertEquals(4L * 3 * 128 * 128, input.byteSize());
    assertEquals(4, model.outputs().size());
    assertEquals(4, session.outputs().size());
    for (TensorInfo output : session.outputs()) {
      long bytes = 4;
      for (long dim : output.shape()) bytes *= dim;
      assertEquals(bytes, output.byteSize());
    }
    assertTrue(session.warnings().isEmpty());
  }

  @Test
  public void memoryReportListsSharedObjects() {
    MemoryReport memory = session.memory();
    assertTrue(memory.plannedBytes() < memory.naiveBytes());
    assertTrue(memory.plannedBytes() >= memory.lowerBoundBytes());
    assertTrue(memory.weightsBytes() > 0 && memory.inOutBytes() > 0 && memory.allocatedBytes() > 0);
    assertEquals(1, memory.inFlight());
    assertFalse(memory.objects().isEmpty());
    boolean reused = false;
    for (ObjectReport object : memory.objects()) {
      assertTrue(object.bytes() > 0);
      assertFalse(object.kind().isEmpty());
      reused |= object.tensors().size() > 1;
    }
    assertTrue(reused);
    assertEquals("shared-objects", memory.mode());
    assertFalse(memory.strategy().isEmpty());
    long arenas = 0;
    for (long bytes : memory.arenas()) arenas += bytes;
    assertEquals(memory.plannedBytes(), arenas);
    for (ObjectReport object : memory.objects())
      assertTrue(object.arenaOffset() + object.bytes() <= memory.arenas()[object.arena()]);
    assertTrue(memory.totalWeightsBytes() > 0 && memory.totalWeightsBytes() <= memory.peakWeightsBytes());
    assertTrue(session.memorySvg("Faces").startsWith("<svg"));
  }

  @Test
  public void profilesAreDocuments() {
    session.setInput(input.name(), values);
    session.run();
    assertTrue(session.profileHtml("<Faces>").contains("\\u003cFaces\\u003e"));
    assertTrue(session.profileTrace("Faces").contains("traceEvents"));
    try (Session fresh = Session.create(device, model)) {
      assertThrows(VellumException.class, () -> fresh.profileHtml("Faces"));
    }
  }

  @Test
  public void layersAreThoseOfTheLastRun() {
    session.setInput(input.name(), values);
    session.run();
    List<LayerTime> layers = session.layerTimes();
    assertTrue(layers.size() > 20);
    for (LayerTime layer : layers) {
      assertFalse(layer.op().isEmpty());
      for (int count : layer.workgroups()) assertEquals(layer.shader(), layer.shader().isEmpty(), count == 0);
    }
  }

  @Test
  public void estimateIsNearTheReport() {
    MemoryEstimate estimate = MemoryEstimate.of(model, null, device);
    MemoryReport report = session.memory();
    assertEquals(report.weightsBytes(), estimate.weights(), 0.01 * report.weightsBytes());
    assertEquals(report.inOutBytes(), estimate.inOut(), 0.01 * report.inOutBytes());
    assertEquals(report.weightsBytes(), estimate.allocatedWeights());
    assertEquals(report.inOutBytes(), estimate.allocatedInOut());
    assertEquals(report.allocatedBytes(), estimate.allocatedIntermediates());
    assertEquals(estimate.resident(),
        estimate.padding() + estimate.host() + estimate.driverCode() + estimate.pipelineCode());
    assertTrue(estimate.dispatches() >= estimate.pipelines() && estimate.pipelines() > 0);
    assertTrue(0 < estimate.totalLeast() && estimate.totalLeast() <= estimate.total());
    assertTrue(estimate.total() <= estimate.totalMost());
    MemoryEstimate baseline = MemoryEstimate.of(model, null, (String) null);
    assertTrue(baseline.total() > 0);
    assertEquals(baseline.total(), baseline.totalLeast());
    assertEquals(baseline.total(), baseline.totalMost());
  }

  @Test
  public void sessionsAreMadeInTheBackground() {
    try (SessionCreation creation = Session.createAsync(device, model, null); Session made = creation.get()) {
      assertEquals(creation.total(), creation.ready());
      assertEquals(session.outputs().toString(), made.outputs().toString());
    }
  }

  @Test
  public void devicesAreListed() {
    List<DeviceInfo> devices = Device.list();
    assertFalse(devices.isEmpty());
    DeviceInfo info = device.info();
    assertEquals(16, info.uuid().length);
    assertEquals(info.name(), devices.get(info.index()).name());
    assertArrayEquals(info.uuid(), devices.get(info.index()).uuid());
    assertTrue(info.maxImageDimension2d() >= 4096 && info.maxImageDimension3d() >= 256);
    assertTrue(info.maxStorageBufferRange() > 0 && info.subgroupSize() >= 0);
    assertTrue(info.luid() == null || info.luid().length == 8);
    assertTrue(Arrays.asList("image2d", "image3d", "buffer").contains(info.preferredStorage()));
    assertFalse(info.cooperativeMatrices().isEmpty());
    assertTrue(Vellum.version() >= 200);
    assertTrue(Vellum.defaultCacheFolder().isEmpty() || Vellum.defaultCacheFolder().endsWith("vellum"));
  }

  @Test
  public void objectsMayBeClosedInAnyOrder() {
    Device other = Device.open();
    Model copy = Model.load(Data.model(Data.FACES));
    Session last = Session.create(other, copy);
    copy.close();
    other.close();
    assertEquals(4, last.run(Collections.singletonMap(input.name(), values)).size());
    last.close();
    last.close();
  }

  @Test
  public void modelsAreReadFromMemory() throws Exception {
    byte[] bytes = Files.readAllBytes(Paths.get(Data.model(Data.FACES)));
    try (Model heap = Model.load(ByteBuffer.wrap(bytes))) {
      assertEquals(model.outputs().toString(), heap.outputs().toString());
    }
  }

  private static long smallestBudget(SessionOptions options) {
    VellumException refused =
        assertThrows(VellumException.class, () -> Session.create(device, model, options.memoryBudget(1)));
    assertEquals(Status.OUT_OF_MEMORY, refused.status());
    Matcher smallest = Pattern.compile("the smallest that suffices is (\\d+) bytes").matcher(refused.getMessage());
    assertTrue(refused.getMessage(), smallest.find());
    return Long.parseLong(smallest.group(1));
  }
}

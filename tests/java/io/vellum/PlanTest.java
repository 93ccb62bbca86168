package io.vellum;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.Test;

/** What is known of a session before it is made equals what the tool, which is C++, says of it. */
public class PlanTest {
  private static final String FACES = Data.model(Data.FACES);
  private static final String NODES = "/usr/share/libonnx-testdata/data/node/"; // Debian: libonnx-testdata

  private static List<String> all(String regex, String text) {
    List<String> found = new ArrayList<>();
    Matcher matcher = Pattern.compile(regex).matcher(text);
    while (matcher.find()) found.add(matcher.group(1));
    return found;
  }

  @Test
  public void stagesAreThoseOfTheTool() throws Exception {
    try (Device device = Device.open(); Model model = Model.load(FACES)) {
      for (String stage : new String[] {"graph", "program", "plan", "barriers"}) {
        String expected = Data.output("inspect", FACES, "--stage", stage);
        assertEquals(stage, expected.trim(), model.describe(stage, null, (String) null).trim());
        assertFalse(model.describe(stage, null, device).isEmpty());
      }
      VellumException unknown =
          assertThrows(VellumException.class, () -> model.describe("poem", null, device));
      assertEquals(Status.INVALID_ARGUMENT, unknown.status());
    }
    assertTrue(Vellum.graphPasses().size() > 10);
    assertFalse(Vellum.graphPasses().contains(""));
  }

  @Test
  public void nodesAreThoseOfTheTool() throws Exception {
    String expected = Data.output("inspect", FACES, "--json");
    try (Model model = Model.load(FACES)) {
      List<NodeInfo> nodes = model.nodes(Collections.emptyMap());
      List<String> ops = all("\"op\": \"([^\"]+)\"", expected);
      assertEquals(ops.size(), nodes.size());
      long macs = 0;
      for (int i = 0; i < nodes.size(); ++i) {
        NodeInfo node = nodes.get(i);
        assertEquals(ops.get(i), node.op());
        assertEquals(node.outputs().size(), node.outputShapes().length);
        macs += node.macs();
      }
      assertTrue(macs > 1000000);
      assertThrows(VellumException.class, () -> model.nodes(Collections.singletonMap("sea", new long[] {1})));
    }
  }

  @Test
  public void plansAreThoseOfSessions() {
    SessionOptions options = new SessionOptions().searchMs(0);
    try (Device device = Device.open();
        Model model = Model.load(FACES);
        MemoryPlan plan = MemoryPlan.of(model, options, device);
        MemoryPlan baseline = MemoryPlan.of(model, options, (String) null);
        Session session = Session.create(device, model, options);
        MemoryPlan ofSession = session.memoryPlan()) {
      assertEquals(session.memory().plannedBytes(), plan.report().plannedBytes());
      assertEquals(session.memory().objects().size(), plan.report().objects().size());
      assertEquals(session.memorySvg("Faces"), ofSession.svg("Faces"));
      assertEquals(ofSession.svg("Faces"), plan.svg("Faces"));
      assertTrue(baseline.report().plannedBytes() > 0);
      assertTrue(plan.tensors().size() > plan.report().objects().size());
      for (TensorReport tensor : plan.tensors()) {
        ObjectReport object = plan.report().objects().get(tensor.object());
        assertTrue(tensor.name(), object.tensors().contains(tensor.name()));
        assertTrue(tensor.firstTask() <= tensor.lastTask() && tensor.shape().length > 0 && tensor.bytes() > 0);
      }
      assertTrue(session.dispatchCount() >= session.pipelineCount() && session.barrierCount() > 0);
      assertEquals(session.dispatchCount(), MemoryEstimate.of(model, options, device).dispatches());
      assertEquals(session.pipelineCount(), MemoryEstimate.of(model, options, device).pipelines());
    }
  }

  @Test
  public void frontiersAreThoseOfTheTool() throws Exception {
    String expected = Data.output("estimate", FACES, "--frontier", "--caps", "android_baseline_2022", "--json");
    try (Model model = Model.load(FACES);
        MemoryFrontier frontier = MemoryFrontier.of(model, null, (String) null)) {
      List<String> budgets = all("\"budget\": (\\d+)", expected);
      assertEquals(budgets.size(), frontier.points().size());
      for (int i = 0; i < budgets.size(); ++i) {
        FrontierPoint point = frontier.points().get(i);
        assertEquals(Long.parseLong(budgets.get(i)), point.budget());
        assertTrue(point.bytes() <= point.budget() && point.weightsBytes() <= point.bytes() && point.predictedMs() > 0);
      }
      double[] flat = new double[budgets.size()];
      Arrays.fill(flat, 2.5);
      assertEquals(0, frontier.knee(flat));
      assertTrue(frontier.knee(null) < budgets.size());
      assertTrue(frontier.svg("Faces", flat).startsWith("<svg"));
      assertThrows(VellumException.class, () -> frontier.knee(new double[flat.length + 1]));
      try (MemoryFrontier one = MemoryFrontier.of(model, null, (String) null, 1 << 30)) {
        assertEquals(1, one.points().size());
      }
    }
  }

  @Test
  public void memoryIsMeasured() {
    MemoryMeasurement measured = MemoryMeasurement.of(FACES, new SessionOptions().searchMs(0), null);
    assertEquals(measured.total(), measured.weights() + measured.inOut() + measured.intermediates() + measured.workspace()
        + measured.staging() + measured.resident());
    try (Device device = Device.open(); Model model = Model.load(FACES)) {
      MemoryEstimate estimate = MemoryEstimate.of(model, new SessionOptions().searchMs(0), device);
      assertEquals(estimate.weights(), measured.weights());
      assertEquals(estimate.intermediates(), measured.intermediates());
      assertEquals(estimate.allocatedPeak(), measured.allocatedPeak(), 0.1 * estimate.allocatedPeak());
    }
    assertThrows(VellumException.class, () -> MemoryMeasurement.of("no such model", null, null));
  }

  /** The repeats of Tile decide the shape of its output. */
  @Test
  public void valuesThatDecideShapesAreGivenAhead() {
    try (Device device = Device.open(); Model model = Model.load(NODES + "test_tile/model.onnx")) {
      TensorInfo x = model.inputs().get(0);
      TensorInfo repeats = model.inputs().get(1);
      assertFalse(x.decidesShapes());
      assertTrue(repeats.decidesShapes());
      long[] times = {1, 2, 1, 3};
      SessionOptions options =
          new SessionOptions().inputValue(repeats.name(), Tensor.of(times, new long[] {times.length}));
      float[] values = Data.values((int) (x.byteSize() / 4), 5);
      try (Session session = Session.create(device, model, options)) {
        long[] shape = x.shape();
        long[] wanted = shape.clone();
        for (int i = 0; i < wanted.length; ++i) wanted[i] *= times[i];
        assertArrayEquals("known before a run", wanted, session.outputs().get(0).shape());
        Map<String, Tensor> outputs = session.run(Collections.singletonMap(x.name(), Tensor.of(values, shape)));
        float[] tiled = outputs.values().iterator().next().toFloats();
        for (int i = 0; i < tiled.length; ++i) {
          int rest = i;
          int at = 0;
          int stride = 1;
          for (int d = wanted.length - 1; d >= 0; --d) {
            at += stride * (int) (rest % wanted[d] % shape[d]);
            rest /= wanted[d];
            stride *= shape[d];
          }
          assertEquals(values[at], tiled[i], 0);
        }
      }
      assertTrue(MemoryEstimate.of(model, options, device).total() > 0);
      assertThrows(VellumException.class, () -> MemoryEstimate.of(model, null, device));
      assertThrows(VellumException.class,
          () -> Session.create(device, model, new SessionOptions().inputValue("sea", Tensor.of(times, new long[] {4}))));
    }
  }

  /** A driver that tells nothing of its code is named; the others report every dispatch. */
  @Test
  public void kernelsAreReported() {
    try (Device device = Device.open();
        Model model = Model.load(FACES);
        Session session = Session.create(device, model, new SessionOptions().profile(true))) {
      DeviceRates rates = DeviceRates.of(1000, 50, 8, 512, 300, 4, 2);
      try (KernelReport report = KernelReport.of(device, model, null, rates, true)) {
        assertEquals(session.dispatchCount(), report.dispatches().size());
        assertEquals(1000, report.rates().gigamacsPerSecond(), 0);
        for (KernelDispatch dispatch : report.dispatches()) {
          KernelPipeline pipeline = report.pipelines().get(dispatch.pipeline());
          assertFalse(pipeline.shader().isEmpty() || pipeline.codes().isEmpty());
          assertTrue(dispatch.predictedUs() >= 0);
        }
        TensorInfo input = session.inputs().get(0);
        session.run(Collections.singletonMap(input.name(), Data.random(input, 1)));
        assertNotNull(session.profileHtml("Faces", report));
      } catch (VellumException refused) {
        assertEquals(Status.UNSUPPORTED, refused.status());
        assertTrue(refused.getMessage(), refused.getMessage().contains("VK_KHR_pipeline_executable_properties"));
      }
      assertEquals("lavapipe is in no table of chips", null, device.knownRates());
    }
  }

  @Test
  public void halvesAreRoundedAsInC() {
    float[] values = {1, -0.1f, 65504, 1e-8f, 0.33333334f};
    Tensor halves = Tensor.ofHalves(values, values.length);
    assertEquals(DataType.F16, halves.type());
    assertEquals(0x3C00, halves.buffer().getShort(0));
    assertArrayEquals(new float[] {1, -0.099975586f, 65504, 0, 0.33325195f}, halves.toFloats(), 0);
  }
}

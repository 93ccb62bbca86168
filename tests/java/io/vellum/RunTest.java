package io.vellum;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.junit.Assert.fail;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.Test;

/** Runs in flight, and what becomes of them. */
public class RunTest {
  private static Device device;
  private static Session session;
  private static TensorInfo input;

  @BeforeClass
  public static void open() {
    device = Device.open();
    try (Model model = Model.load(Data.model(Data.FACES))) {
      session = Session.create(device, model, new SessionOptions().inFlight(2));
    }
    input = session.inputs().get(0);
  }

  @AfterClass
  public static void close() {
    session.close();
    device.close();
  }

  private static Map<String, Tensor> inputs(long seed) {
    return Collections.singletonMap(input.name(), Data.random(input, seed));
  }

  private static Map<String, Tensor> memoryForOutputs() {
    Map<String, Tensor> outputs = new LinkedHashMap<>();
    for (TensorInfo output : session.outputs()) outputs.put(output.name(), Tensor.allocate(output.type(), output.shape()));
    return outputs;
  }

  private static byte[] expected(long seed) {
    return session.run(inputs(seed)).values().iterator().next().toBytes();
  }

  private static byte[] first(Map<String, Tensor> outputs) {
    return outputs.values().iterator().next().toBytes();
  }

  @Test
  public void runsInFlightGiveTheResultsOfSingleOnes() {
    List<byte[]> expected = new ArrayList<>();
    for (int i = 0; i < 6; ++i) expected.add(expected(i));
    List<Run> runs = new ArrayList<>();
    for (int i = 0; i < 6; ++i) runs.add(session.submit(inputs(i), memoryForOutputs()));
    for (int i = 0; i < 6; ++i) {
      assertArrayEquals("run " + i, expected.get(i), first(runs.get(i).await()));
      assertTrue(runs.get(i).isDone());
      assertTrue(runs.get(i).await(0, TimeUnit.SECONDS));
      runs.get(i).close();
    }
  }

  @Test
  public void runsThatKeepTheirOutputsReturnThem() {
    Map<String, Tensor> expected = session.run(inputs(3));
    try (Run run = session.submit(inputs(3)); Run other = session.trySubmit(inputs(4))) {
      for (Map.Entry<String, Tensor> output : expected.entrySet()) {
        Tensor kept = run.output(output.getKey());
        assertEquals(output.getValue().toString(), kept.toString());
        assertArrayEquals(output.getKey(), output.getValue().toBytes(), kept.toBytes());
      }
      assertTrue(run.await().isEmpty());
      VellumException refused = assertThrows(VellumException.class, () -> other.output("none"));
      assertEquals(Status.NOT_FOUND, refused.status());
    }
    try (Run run = session.submit(inputs(3), memoryForOutputs())) {
      assertThrows(VellumException.class, () -> run.output(expected.keySet().iterator().next()));
    }
  }

  @Test
  public void threadsSubmitSideBySide() throws Exception {
    List<byte[]> expected = new ArrayList<>();
    for (int i = 0; i < 4; ++i) expected.add(expected(i));
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Future<byte[]>> results = new ArrayList<>();
      for (int i = 0; i < 4; ++i) {
        int seed = i;
        results.add(threads.submit(() -> {
          byte[] last = null;
          for (int j = 0; j < 5; ++j)
            try (Run run = session.submit(inputs(seed), memoryForOutputs())) {
              last = first(run.await());
            }
          return last;
        }));
      }
      for (int i = 0; i < 4; ++i) assertArrayEquals(expected.get(i), results.get(i).get());
    } finally {
      threads.shutdown();
    }
  }

  @Test
  public void threadsRunOneSessionInTurn() throws Exception {
    List<byte[]> expected = new ArrayList<>();
    for (int i = 0; i < 4; ++i) expected.add(expected(i));
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Future<byte[]>> results = new ArrayList<>();
      for (int i = 0; i < 4; ++i) {
        int seed = i;
        results.add(threads.submit(() -> expected(seed)));
      }
      for (int i = 0; i < 4; ++i) assertArrayEquals(expected.get(i), results.get(i).get());
    } finally {
      threads.shutdown();
    }
  }

  @Test
  public void trySubmitReturnsNullWhereNoRunCanBegin() {
    session.run(inputs(0));
    List<Run> runs = new ArrayList<>();
    boolean refused = false;
    for (int i = 0; i < 50 && !refused; ++i) {
      Run run = session.trySubmit(inputs(i), memoryForOutputs());
      refused = run == null;
      if (run != null) runs.add(run);
    }
    assertTrue("two runs in flight were never busy", refused);
    for (Run run : runs) run.close();
  }

  @Test
  public void runsOutliveTheirSession() {
    byte[] expected = expected(7);
    Run run;
    try (Model model = Model.load(Data.model(Data.FACES));
        Device own = Device.open();
        Session other = Session.create(own, model)) {
      run = other.submit(inputs(7), memoryForOutputs());
    }
    assertArrayEquals(expected, first(run.await()));
    run.close();
  }

  @Test
  public void aCancelledRunSaysSo() {
    byte[] expected = expected(1);
    try (Model model = Model.load(Data.model(Data.FACES));
        Session steps = Session.create(device, model, new SessionOptions().maxSubmitMs(1).tasksPerSubmit(1))) {
      Run run = steps.submit(inputs(1), memoryForOutputs());
      run.cancel();
      for (int i = 0; i < 2; ++i)
        try {
          // Where the device was quicker than this thread, the run has ended well.
          assertArrayEquals(expected, first(run.await()));
        } catch (VellumException stopped) {
          assertEquals(Status.CANCELLED, stopped.status());
        }
      run.close();
      assertArrayEquals("the session still runs", expected, first(steps.run(inputs(1))));
    }
  }

  @Test
  public void outputsStayReachableWhileTheRunWritesThem() {
    byte[] expected = expected(3);
    for (int i = 0; i < 20; ++i) {
      Run run = session.submit(inputs(3), memoryForOutputs());
      System.gc();
      assertArrayEquals(expected, first(run.await()));
      run.close();
    }
  }

  @Test
  public void aRunWithoutAllInputsIsRefused() {
    try {
      session.submit(Collections.emptyMap(), memoryForOutputs());
      fail("a run without inputs began");
    } catch (VellumException refused) {
      assertEquals(Status.INVALID_ARGUMENT, refused.status());
    }
  }

  @Test
  public void outputsThatTheHostComputesAreWrittenWhereTheirShapesAreKnown() {
    String file = System.getenv("VELLUM_TEST_SOURCE") + "/data/onnx/picture_of_places.onnx";
    try (Model model = Model.load(file);
        Session places = Session.create(device, model, new SessionOptions().inFlight(2));
        Session other = Session.create(device, model)) {
      for (int seed = 0; seed < 4; ++seed) {
        Map<String, Tensor> x = Collections.singletonMap("x", Data.random(places.inputs().get(0), seed));
        Map<String, Tensor> expected = other.run(x);
        Map<String, Tensor> memory = new LinkedHashMap<>();
        for (TensorInfo output : places.outputs())
          if (!output.name().equals("values")) memory.put(output.name(), Tensor.allocate(output.type(), output.shape()));
        assertEquals(3, memory.size());
        try (Run run = seed % 2 == 0 ? places.submit(x, memory) : places.trySubmit(x, memory)) {
          for (Map.Entry<String, Tensor> output : run.await().entrySet())
            assertArrayEquals(output.getKey(), expected.get(output.getKey()).toBytes(), output.getValue().toBytes());
          Tensor values = run.output("values");
          assertArrayEquals(expected.get("values").shape(), values.shape());
          assertArrayEquals(expected.get("values").toBytes(), values.toBytes());
        }
        Map<String, Tensor> unknown = Collections.singletonMap("values", Tensor.allocate(DataType.F32, 1, 5));
        VellumException refused = assertThrows(VellumException.class, () -> places.submit(x, unknown));
        assertEquals(Status.INVALID_ARGUMENT, refused.status());
      }
    }
  }
}

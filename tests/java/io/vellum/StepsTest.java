package io.vellum;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.Test;

/** Loops of steps on the device, with a model that computes next = token * 3 + 1 mod 32 and scaled = token * t. */
public class StepsTest {
  private static Device device;
  private static Session session;

  @BeforeClass
  public static void open() {
    device = Device.open();
    try (Model model = Model.load(System.getenv("VELLUM_TEST_SOURCE") + "/data/onnx/counting.onnx")) {
      session = Session.create(device, model);
    }
  }

  @AfterClass
  public static void close() {
    session.close();
    device.close();
  }

  private static Tensor token(long value) {
    Tensor tensor = Tensor.allocate(DataType.I64, 1, 1);
    tensor.buffer().order(ByteOrder.nativeOrder()).asLongBuffer().put(value);
    return tensor;
  }

  private static long[] longs(Tensor tensor) {
    LongBuffer values = tensor.buffer().order(ByteOrder.nativeOrder()).asLongBuffer();
    long[] result = new long[values.remaining()];
    values.get(result);
    return result;
  }

  private static StepOptions counting(int steps) {
    return new StepOptions().steps(steps).feedback("next", "token").stepOutput("next");
  }

  private static Map<String, Tensor> inputs(long first, int steps) {
    Map<String, Tensor> inputs = new HashMap<>();
    inputs.put("token", token(first));
    float[] times = new float[steps];
    for (int i = 0; i < steps; ++i) times[i] = i + 1;
    inputs.put("t", Tensor.of(times, steps, 1));
    return inputs;
  }

  @Test
  public void outputsAreInputsOfTheNextStep() {
    StepOptions options = counting(5).stepInput("t").stepOutput("scaled");
    try (StepLoop loop = session.bindSteps(options)) {
      for (int run = 0; run < 2; ++run) {
        StepResults results = session.runSteps(loop, inputs(0, 5));
        assertEquals(5, results.steps());
        assertFalse(results.ended());
        assertArrayEquals(new long[] {1, 4, 13, 8, 25}, longs(results.outputs().get("next")));
        assertArrayEquals(new long[] {5, 1, 1}, results.outputs().get("next").shape());
        assertArrayEquals(new float[] {0, 2, 12, 52, 40}, results.outputs().get("scaled").toFloats(), 0);
      }
    }
  }

  @Test
  public void anEndValueEndsTheLoop() {
    session.setInput("t", Tensor.of(new float[] {1}, 1));
    try (StepLoop loop = session.bindSteps(counting(20).endOutput("next", 99, 8))) {
      StepResults results = session.runSteps(loop, Collections.singletonMap("token", token(0)));
      assertTrue(results.ended());
      assertEquals(4, results.steps());
      assertArrayEquals(new long[] {1, 4, 13, 8}, Arrays.copyOf(longs(results.outputs().get("next")), 4));
    }
  }

  @Test
  public void theListenerStopsTheRun() {
    session.setInput("t", Tensor.of(new float[] {1}, 1));
    try (StepLoop loop = session.bindSteps(counting(20).stepsPerSubmit(1))) {
      List<Integer> seen = new ArrayList<>();
      StepListener untilThree = done -> {
        seen.add(done);
        return done < 3;
      };
      StepResults results = session.runSteps(loop, Collections.singletonMap("token", token(0)), untilThree);
      assertTrue("steps: " + results.steps(), results.steps() >= 3 && results.steps() < 20);
      assertFalse(results.ended());
      assertTrue(seen.contains(3));
      RuntimeException own = new RuntimeException("of the listener");
      StepListener throwing = done -> {
        throw own;
      };
      assertSame(own,
          assertThrows(RuntimeException.class,
              () -> session.runSteps(loop, Collections.singletonMap("token", token(0)), throwing)));
      assertEquals(20, session.runSteps(loop, Collections.singletonMap("token", token(0))).steps());
    }
  }

  @Test
  public void whatCannotBeBoundIsRefused() {
    VellumException unknown =
        assertThrows(VellumException.class, () -> session.bindSteps(counting(2).stepInput("nothing")));
    assertEquals(Status.NOT_FOUND, unknown.status());
    VellumException none = assertThrows(VellumException.class, () -> session.bindSteps(counting(0)));
    assertEquals(Status.INVALID_ARGUMENT, none.status());
    StepLoop closed = session.bindSteps(counting(2));
    closed.close();
    assertThrows(IllegalStateException.class, () -> session.runSteps(closed, inputs(0, 1)));
  }
}

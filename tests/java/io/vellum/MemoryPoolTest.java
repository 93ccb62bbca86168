package io.vellum;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.Test;

/** Memory that sessions share, and that they give back. */
public class MemoryPoolTest {
  private static Device device;
  private static Model model;
  private static TensorInfo input;
  private static Map<String, Tensor> inputs;
  private static List<byte[]> expected;

  @BeforeClass
  public static void open() throws Exception {
    device = Device.open();
    model = Model.load(Data.model(Data.FACES));
    input = model.inputs().get(0);
    Tensor values = Data.random(input, 3);
    inputs = Collections.singletonMap(input.name(), values);
    expected = Data.runTool(Data.model(Data.FACES), input, values, model.outputs());
  }

  @AfterClass
  public static void close() {
    model.close();
    device.close();
  }

  private static void expectTheToolsBits(Session session) {
    int i = 0;
    for (Tensor output : session.run(inputs).values()) assertArrayEquals(expected.get(i++), output.toBytes());
  }

  @Test
  public void sessionsOfAPoolShareItAndGiveTheBitsThatTheToolWrites() {
    List<Session> sessions = new ArrayList<>();
    MemoryPool pool = MemoryPool.create(device);
    assertEquals(0, pool.bytes());
    for (int i = 0; i < 3; ++i) sessions.add(Session.create(device, model, new SessionOptions().memoryPool(pool)));
    long bytes = pool.bytes();
    try (Session alone = Session.create(device, model)) {
      assertTrue(bytes > 0 && bytes < 2 * alone.memory().allocatedBytes());
    }
    for (Session session : sessions) {
      expectTheToolsBits(session);
      assertEquals("none needed more", bytes, session.memory().allocatedBytes());
    }
    pool.trim();
    assertEquals(0, pool.bytes());
    assertEquals("the report is of now", 0, sessions.get(0).memory().allocatedBytes());
    expectTheToolsBits(sessions.get(1));
    pool.close();
    expectTheToolsBits(sessions.get(2));
    for (Session session : sessions) session.close();
  }

  @Test
  public void aPoolMayRefuseRunsThatOverlap() {
    try (MemoryPool pool = MemoryPool.create(device, PoolOverlap.REFUSE);
        Session first = Session.create(device, model, new SessionOptions().memoryPool(pool));
        Session second = Session.create(device, model, new SessionOptions().memoryPool(pool));
        Run run = first.submit(inputs, Collections.emptyMap())) {
      VellumException refused =
          assertThrows(VellumException.class, () -> second.submit(inputs, Collections.emptyMap()));
      assertEquals(Status.INVALID_ARGUMENT, refused.status());
      run.await();
      expectTheToolsBits(second);
    }
  }

  @Test
  public void trimGivesMemoryBackUntilTheNextRun() {
    try (Session session = Session.create(device, model)) {
      expectTheToolsBits(session);
      MemoryReport before = session.memory();
      for (TrimLevel level : TrimLevel.values()) {
        byte[] output = session.output(session.outputs().get(0).name()).toBytes();
        session.trim(level);
        assertArrayEquals("outputs stay", output, session.output(session.outputs().get(0).name()).toBytes());
        assertTrue(session.memory().allocatedBytes() < before.allocatedBytes());
        assertEquals(level == TrimLevel.WEIGHTS, session.memory().weightsBytes() < before.weightsBytes());
        expectTheToolsBits(session);
      }
    }
  }

  @Test
  public void misuse() {
    assertThrows(NullPointerException.class, () -> MemoryPool.create(null));
    assertThrows(NullPointerException.class, () -> MemoryPool.create(device, null));
    MemoryPool pool = MemoryPool.create(device);
    try (Device other = Device.open()) {
      SessionOptions options = new SessionOptions().memoryPool(pool);
      VellumException refused = assertThrows(VellumException.class, () -> Session.create(other, model, options));
      assertEquals(Status.INVALID_ARGUMENT, refused.status());
      pool.close();
      assertThrows(IllegalStateException.class, () -> Session.create(device, model, options));
      assertThrows(IllegalStateException.class, () -> Session.createAsync(device, model, options));
      assertThrows(IllegalStateException.class, pool::bytes);
      assertThrows(IllegalStateException.class, pool::trim);
    }
    try (Session session = Session.create(device, model)) {
      assertThrows(NullPointerException.class, () -> session.trim(null));
    }
  }
}

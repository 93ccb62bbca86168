package io.vellum;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.Test;

/** What happens to objects that nobody closes, and to the listeners of those. */
public class CleanupTest {
  @Test
  public void droppedObjectsAreFreed() throws Exception {
    AtomicInteger freed = new AtomicInteger();
    drop(freed);
    for (int i = 0; i < 100 && freed.get() < 3; ++i) {
      System.gc();
      Thread.sleep(20);
    }
    assertEquals(3, freed.get());
  }

  private static void drop(AtomicInteger freed) {
    for (int i = 0; i < 3; ++i) new Dropped(freed);
  }

  private static final class Dropped extends NativeObject {
    Dropped(AtomicInteger freed) {
      super("test", 1, address -> freed.incrementAndGet(), null, null);
    }
  }

  @Test
  public void whatIsNeededIsFreedLast() {
    StringBuilder order = new StringBuilder();
    Handle device = new Handle("device", 1, address -> order.append("device "), null, null);
    Handle session = new Handle("session", 2, address -> order.append("session "), device, null);
    device.close();
    assertEquals("", order.toString());
    session.use(address -> {
      session.close();
      assertEquals("in use", "", order.toString());
    });
    assertEquals("session device ", order.toString());
    session.close();
    assertEquals("session device ", order.toString());
  }

  /** A cache folder that is gone is a warning when shaders are compiled, on threads that the JVM has not made. */
  @Test
  public void theLogComesToTheListenerFromAnyThread() throws Exception {
    List<String> lines = new CopyOnWriteArrayList<>();
    List<Thread> threads = new CopyOnWriteArrayList<>();
    Path folder = Files.createTempDirectory("vellum_java");
    DeviceOptions options = new DeviceOptions().cacheFolder(folder.toString()).log((level, message) -> {
      lines.add(level + " " + message);
      threads.add(Thread.currentThread());
      throw new IllegalStateException("ignored");
    });
    try (Device device = Device.open(options); Model model = Model.load(Data.model(Data.FACES))) {
      delete(folder.toFile());
      Files.createFile(folder);
      try (SessionCreation creation = Session.createAsync(device, model, null); Session session = creation.get()) {
        assertEquals(4, session.outputs().size());
      }
      assertTrue(lines.toString(), lines.toString().contains("WARNING shaders will be compiled again next time"));
      assertNotSame(Thread.currentThread(), threads.get(0));
      lines.clear();
    }
    assertTrue("the device said nothing while it was closed", lines.toString().contains("pipeline cache"));
    Files.delete(folder);
  }

  private static void delete(File file) {
    File[] inside = file.listFiles();
    if (inside != null) for (File each : inside) delete(each);
    assertTrue(file.toString(), file.delete());
  }

  @Test
  public void tuningTellsItsProgress() {
    AtomicInteger calls = new AtomicInteger();
    try (Device device = Device.open(); Model model = Model.load(Data.model(Data.FACES))) {
      TuneOptions options =
          new TuneOptions().seconds(0.2).storages(false).progress((step, done, total) -> calls.incrementAndGet());
      TuneResult result = device.tune(model, null, options);
      assertTrue(result.untunedMs() > 0);
      assertTrue(calls.get() > 0);
      device.forgetTuning();
    }
  }

  @Test
  public void tuningEndsWhenItsListenerSaysSo() {
    TuneListener impatient = new TuneListener() {
      @Override
      public void progress(String step, long done, long total) {}

      @Override
      public boolean shouldStop() {
        return true;
      }
    };
    try (Device device = Device.open(); Model model = Model.load(Data.model(Data.FACES))) {
      VellumException ended = assertThrows(
          VellumException.class, () -> device.tune(model, null, new TuneOptions().progress(impatient)));
      assertEquals(Status.CANCELLED, ended.status());
    }
  }
}

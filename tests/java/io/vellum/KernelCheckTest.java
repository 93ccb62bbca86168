package io.vellum;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.Test;

/** The check of a device's kernels. */
public class KernelCheckTest {
  @Test
  public void resultsAreThoseOfTheTool() throws Exception {
    Path file = Files.createTempFile("vellum_java", ".json");
    Data.call("doctor", "--only", "Conv 1x1", "--report", file.toString());
    Matcher errors = Pattern.compile("\"error\": ([^,\\s]+)").matcher(new String(Files.readAllBytes(file), StandardCharsets.UTF_8));
    Files.delete(file);
    List<Long> counts = new ArrayList<>();
    try (Device device = Device.open()) {
      List<KernelCheck> checks =
          device.checkKernels(new KernelCheckOptions().only("Conv 1x1").repetitions(2).progress((done, total) -> counts.add(total)));
      assertTrue(checks.size() > 6);
      for (KernelCheck check : checks) {
        assertTrue(errors.find());
        assertEquals(check.operation(), Double.parseDouble(errors.group(1)), check.difference(), 0);
        assertTrue(check.operation(), check.passed() && check.difference() <= check.bound());
        assertTrue(check.failure(), check.failure().isEmpty());
        assertTrue(check.operation().startsWith("Conv 1x1"));
        assertTrue(check.storage() != Storage.AUTO && check.arithmetic() != Arithmetic.AUTO);
        assertTrue(check.precision() == Precision.FP32 || check.precision() == Precision.FP16);
      }
      assertTrue("the tool has no more", !errors.find());
    }
    assertTrue(counts.size() > 0 && counts.get(0) == counts.size());
  }

  @Test
  public void layersOfAModelAreChecked() throws Exception {
    try (Device device = Device.open(); Model model = Model.load(Data.model(Data.FACES))) {
      List<KernelCheck> checks = device.checkLayers(
          model, new SessionOptions().precision(Precision.FP16), new KernelCheckOptions().only("conv2d_1"));
      assertTrue(checks.size() > 1);
      for (KernelCheck check : checks)
        assertTrue(check.operation(), check.passed() && check.operation().contains("conv2d_1") && check.precision() == Precision.FP16);
    }
  }

  /** The tests' drivers compute on the CPU, where kernels are checked on demand alone; verdicts are a file of the cache. */
  @Test
  public void sessionsCheckKernelsOnDemand() throws Exception {
    for (SelfCheck check : SelfCheck.values()) {
      Path folder = Files.createTempDirectory("vellum_java");
      DeviceOptions options = new DeviceOptions().cacheFolder(folder.toString()).selfCheck(check);
      try (Device device = Device.open(options); Model model = Model.load(Data.model(Data.FACES));
           Session session = Session.create(device, model)) {
        assertEquals(0, session.warnings().size());
      }
      boolean hasVerdicts = false;
      for (File file : folder.toFile().listFiles()) {
        hasVerdicts |= file.getName().startsWith("selfcheck-");
        if (file.isDirectory()) for (File inside : file.listFiles()) assertTrue(inside.delete());
        assertTrue(file.toString(), file.delete());
      }
      Files.delete(folder);
      assertEquals(check.toString(), check == SelfCheck.ON, hasVerdicts);
    }
  }

  @Test
  public void theListenerMayEndIt() {
    try (Device device = Device.open()) {
      VellumException ended =
          assertThrows(VellumException.class,
              () -> device.checkKernels(new KernelCheckOptions().only("Resize").progress((done, total) -> done < 1)));
      assertEquals(Status.CANCELLED, ended.status());
      VellumException unknown =
          assertThrows(VellumException.class, () -> device.checkKernels(new KernelCheckOptions().only("Frobnicate")));
      assertEquals(Status.NOT_FOUND, unknown.status());
      List<KernelCheck> checks =
          device.checkKernels(new KernelCheckOptions().only("Softmax").progress((done, total) -> {
            throw new IllegalStateException("what a listener throws is ignored");
          }));
      assertTrue(!checks.isEmpty());
    }
  }
}

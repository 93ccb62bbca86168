package io.vellum.sample;

import io.vellum.DeviceInfo;
import io.vellum.MemoryReport;
import io.vellum.ObjectReport;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The app's pages as text. */
final class Reports {
  private Reports() {}

  /** The memory of sessions: which object holds how many tensors, and what that saves. */
  static String memory(List<MemoryReport> reports) {
    StringBuilder text = new StringBuilder();
    for (MemoryReport report : reports) append(report, text);
    return text.toString();
  }

  private static void append(MemoryReport report, StringBuilder text) {
    text.append(String.format(Locale.ROOT, "%d objects, %.2f MiB; apart the tensors would take %.2f MiB%n",
        report.objects().size(), mebibytes(report.plannedBytes()), mebibytes(report.naiveBytes())));
    text.append(String.format(Locale.ROOT, "weights %.2f MiB, inputs and outputs %.2f MiB%n%n", mebibytes(report.weightsBytes()),
        mebibytes(report.inOutBytes())));
    int number = 0;
    for (ObjectReport object : report.objects()) {
      String extent = object.kind().equals("buffer") ? "" : " " + object.width() + " x " + object.height();
      text.append(String.format(Locale.ROOT, "%2d  %s%s, %.2f MiB, %d tensors%n", number++, object.kind(), extent,
          mebibytes(object.bytes()), object.tensors().size()));
      for (String tensor : object.tensors()) text.append("      ").append(tensor).append('\n');
    }
    text.append('\n');
  }

  /** A benchmark's result. memory: of the sessions, which share their intermediates; times: of each inference in ns. */
  static String benchmark(String model, DeviceInfo device, List<MemoryReport> memory, long[] times) {
    long planned = 0;
    long weights = 0;
    for (MemoryReport report : memory) {
      planned = Math.max(planned, report.plannedBytes());
      weights += report.weightsBytes();
    }
    long[] sorted = times.clone();
    Arrays.sort(sorted);
    return String.format(Locale.ROOT,
        "{\"model\": %s, \"device\": %s, \"driver\": %s, \"runs\": %d, \"min_ms\": %.3f, \"median_ms\": %.3f, \"max_ms\": %.3f, "
            + "\"planned_bytes\": %d, \"weights_bytes\": %d}",
        quoted(model), quoted(device.name()), quoted(device.driver()), sorted.length, sorted[0] / 1e6,
        sorted[sorted.length / 2] / 1e6, sorted[sorted.length - 1] / 1e6, planned, weights);
  }

  /** A string in JSON. */
  static String quoted(String text) {
    StringBuilder json = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') json.append('\\').append(c);
      else if (c < ' ') json.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
      else json.append(c);
    }
    return json.append('"').toString();
  }

  private static double mebibytes(long bytes) {
    return bytes / 1048576.0;
  }
}

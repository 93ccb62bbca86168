package io.vellum.sample;

import android.content.Context;
import io.vellum.DeviceOptions;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** What the app reads of its assets, and where it keeps compiled pipelines. */
final class AssetFiles {
  private AssetFiles() {}

  static List<Task> tasks(Context context) {
    return Networks.all(lines(context, Networks.LABELS), lines(context, Networks.CHARACTERS));
  }

  private static List<String> lines(Context context, String asset) {
    try (BufferedReader file =
        new BufferedReader(new InputStreamReader(context.getAssets().open(asset), StandardCharsets.UTF_8))) {
      List<String> lines = new ArrayList<>();
      for (String line = file.readLine(); line != null; line = file.readLine()) lines.add(line);
      return lines;
    } catch (IOException missing) {
      throw new UncheckedIOException("run samples/android/bundles.sh first", missing);
    }
  }

  static DeviceOptions deviceOptions(Context context) {
    return new DeviceOptions()
        .cacheFolder(new File(context.getCodeCacheDir(), "vellum").getPath());
  }
}

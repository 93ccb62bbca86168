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
    try (BufferedReader file =
        new BufferedReader(new InputStreamReader(context.getAssets().open(Networks.LABELS), StandardCharsets.UTF_8))) {
      List<String> labels = new ArrayList<>();
      for (String line = file.readLine(); line != null; line = file.readLine()) labels.add(line);
      return Networks.all(labels);
    } catch (IOException missing) {
      throw new UncheckedIOException("run samples/android/bundles.sh first", missing);
    }
  }

  static DeviceOptions deviceOptions(Context context) {
    return new DeviceOptions()
        .cacheFolder(new File(context.getCodeCacheDir(), "vellum").getPath());
  }
}

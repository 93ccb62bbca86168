package io.vellum;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jetbrains.annotations.NotNull;

/** The library as a whole. */
public final class Vellum {
  private Vellum() {}

  /** Returns the version of the native library: 10000 * major + 100 * minor + patch. */
  public static int version() {
    return Native.version();
  }

  /**
   * Returns the user's folder for Vellum's caches by the platform's convention, for {@link DeviceOptions#cacheFolder}; empty if
   * the environment has none. Android apps have {@code Context.getCacheDir()} instead.
   */
  public static @NotNull String defaultCacheFolder() {
    return Native.defaultCacheFolder();
  }

  /** The names of the graph passes that {@link SessionOptions#disabledPasses} takes. */
  public static @NotNull List<String> graphPasses() {
    return Collections.unmodifiableList(Arrays.asList(Native.graphPasses().split("\n")));
  }
}

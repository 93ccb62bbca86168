package io.vellum;

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
}

package io.vellum;

/** The library as a whole. */
public final class Vellum {
  private Vellum() {}

  /** Returns the version of the native library: 10000 * major + 100 * minor + patch. */
  public static int version() {
    return Native.version();
  }
}

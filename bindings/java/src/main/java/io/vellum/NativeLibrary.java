package io.vellum;

/** Finds and loads libvellum_jni once. */
final class NativeLibrary {
  /** The absolute path of the library; without it the JVM looks in {@code java.library.path}. */
  static final String PATH_PROPERTY = "io.vellum.library";

  private NativeLibrary() {}

  static void load() {
    String path = System.getProperty(PATH_PROPERTY);
    if (path != null) System.load(path);
    else System.loadLibrary("vellum_jni");
  }
}

package io.vellum;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.jetbrains.annotations.Nullable;

/** Finds and loads libvellum_jni once. */
final class NativeLibrary {
  /** The absolute path of the library; without it the JVM looks in {@code java.library.path}. */
  static final String PATH_PROPERTY = "io.vellum.library";

  private NativeLibrary() {}

  static void load() {
    String path = System.getProperty(PATH_PROPERTY);
    if (path != null) {
      System.load(path);
      return;
    }
    try {
      System.loadLibrary("vellum_jni");
    } catch (UnsatisfiedLinkError missing) {
      Path unpacked = unpack(missing);
      if (unpacked == null) throw missing;
      System.load(unpacked.toString());
    }
  }

  /** Copies the library for this system out of the jar, to a file that is deleted at the end. Null without one. */
  private static @Nullable Path unpack(UnsatisfiedLinkError missing) {
    String file = System.mapLibraryName("vellum_jni");
    try (InputStream library = NativeLibrary.class.getResourceAsStream("natives/" + platform() + "/" + file)) {
      if (library == null) return null;
      Path folder = Files.createTempDirectory("vellum");
      Path target = folder.resolve(file);
      folder.toFile().deleteOnExit(); // in the reverse order: the file first
      target.toFile().deleteOnExit();
      Files.copy(library, target);
      return target;
    } catch (IOException failure) {
      missing.addSuppressed(failure);
      return null;
    }
  }

  /** As packaging/maven_repository.py names the folders of a jar: linux-x86_64, windows-aarch64. */
  private static String platform() {
    String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    String processor = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
    if (system.startsWith("windows")) system = "windows";
    if (system.startsWith("mac")) system = "macos";
    if (processor.equals("amd64")) processor = "x86_64";
    if (processor.equals("arm64")) processor = "aarch64";
    return system + "-" + processor;
  }
}

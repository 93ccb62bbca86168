package io.vellum;

import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/** What was written to a bundle: a model with prepacked weights and compiled shaders. A plain value. */
public final class Bundle {
  // Set by native code.
  private long shaders;
  private long weights;
  private long weightsBytes;
  private long fileBytes;

  Bundle() {}

  /**
   * Writes a bundle of the model in the file `model` to `file`, whose folder must exist, for sessions with these options on
   * this device. A library that was built to read bundles alone throws {@link Status#UNSUPPORTED}.
   *
   * @param options {@code null}: the defaults
   */
  public static @NotNull Bundle write(
      @NotNull String model, @NotNull String file, @NotNull Device device, @Nullable SessionOptions options) {
    return Check.notNull(device, "device").handle.get(d -> write(model, file, d, null, options));
  }

  /**
   * Does the same for a device that is not there.
   *
   * @param caps the text of a caps file; {@code null}: Android Baseline 2022
   * @param options {@code null}: the defaults
   */
  public static @NotNull Bundle write(
      @NotNull String model, @NotNull String file, @Nullable String caps, @Nullable SessionOptions options) {
    return write(model, file, 0, caps, options);
  }

  private static Bundle write(String model, String file, long device, String caps, SessionOptions options) {
    Check.notNull(model, "model");
    Check.notNull(file, "file");
    return Native.writeBundle(model, file, device, caps, options != null ? options : new SessionOptions());
  }

  /** Shader variants that were compiled. */
  public long shaders() {
    return shaders;
  }

  /** Weights that were prepacked. */
  public long weights() {
    return weights;
  }

  public long weightsBytes() {
    return weightsBytes;
  }

  public long fileBytes() {
    return fileBytes;
  }
}

package io.vellum;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/** What was written to a bundle: a model with prepacked weights and compiled shaders. A plain value. */
public final class Bundle {
  // Set by native code.
  private long shaders;
  private long weights;
  private long weightsBytes;
  private long fileBytes;
  private ByteBuffer bytes;

  Bundle() {}

  /**
   * Writes a bundle of the model in the file `model` to `file`, whose folder must exist, for sessions with these options on
   * this device. A library that was built to read bundles alone throws {@link Status#UNSUPPORTED}.
   *
   * @param options {@code null}: the defaults
   */
  public static @NotNull Bundle write(
      @NotNull String model, @NotNull String file, @NotNull Device device, @Nullable SessionOptions options) {
    return write(model, file, device, options, new BundleVariants());
  }

  /**
   * Does the same for a device that is not there.
   *
   * @param caps the text of a caps file; {@code null}: Android Baseline 2022
   * @param options {@code null}: the defaults
   */
  public static @NotNull Bundle write(
      @NotNull String model, @NotNull String file, @Nullable String caps, @Nullable SessionOptions options) {
    return write(model, file, caps, options, new BundleVariants());
  }

  /** Does the same with what sessions of the variants need besides. */
  public static @NotNull Bundle write(@NotNull String model, @NotNull String file, @NotNull Device device,
      @Nullable SessionOptions options, @NotNull BundleVariants variants) {
    return Check.notNull(device, "device").handle.get(d -> write(model, file, d, null, options, variants));
  }

  /** Does the same with what sessions of the variants need besides, for a device that is not there. */
  public static @NotNull Bundle write(@NotNull String model, @NotNull String file, @Nullable String caps,
      @Nullable SessionOptions options, @NotNull BundleVariants variants) {
    return write(model, file, 0, caps, options, variants);
  }

  /**
   * Makes a bundle of a model in memory, from position to limit, without files: {@link #bytes}. A model with
   * external data is refused.
   */
  public static @NotNull Bundle inMemory(@NotNull ByteBuffer model, @NotNull Device device,
      @Nullable SessionOptions options, @NotNull BundleVariants variants) {
    return Check.notNull(device, "device").handle.get(d -> inMemory(model, d, null, options, variants));
  }

  /** Does the same for a device that is not there. @param caps {@code null}: Android Baseline 2022 */
  public static @NotNull Bundle inMemory(@NotNull ByteBuffer model, @Nullable String caps,
      @Nullable SessionOptions options, @NotNull BundleVariants variants) {
    return inMemory(model, 0, caps, options, variants);
  }

  private static Bundle write(
      String model, String file, long device, String caps, SessionOptions options, BundleVariants variants) {
    Check.notNull(model, "model");
    Check.notNull(file, "file");
    Check.notNull(variants, "variants");
    return Native.writeBundle(
        model, file, device, caps, options != null ? options : new SessionOptions(), variants);
  }

  private static Bundle inMemory(
      ByteBuffer model, long device, String caps, SessionOptions options, BundleVariants variants) {
    ByteBuffer direct = Buffers.readable(Check.notNull(model, "model"));
    Check.notNull(variants, "variants");
    SessionOptions given = options != null ? options : new SessionOptions();
    return Native.bundleInMemory(
        direct, direct.position(), direct.remaining(), device, caps, given, variants);
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

  /** The bundle in direct memory, for {@link Model#lend}; {@code null}: it was written to a file. */
  public @Nullable ByteBuffer bytes() {
    return bytes == null ? null : bytes.duplicate().order(ByteOrder.nativeOrder());
  }
}

package io.vellum;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/**
 * A model in memory, independent of any device: ONNX, TFLite or a bundle, recognised by its content. A library that was
 * built to read bundles alone refuses ONNX files. May be used from several threads at once.
 */
public final class Model extends NativeObject {
  private final List<TensorInfo> inputs;
  private final List<TensorInfo> outputs;

  private Model(long address) {
    super("model", address, Native::modelDestroy, null, null);
    inputs = handle.get(model -> list(Native.modelTensors(model, false)));
    outputs = handle.get(model -> list(Native.modelTensors(model, true)));
  }

  /** Reads a file. */
  public static @NotNull Model load(@NotNull String file) {
    return load(file, null);
  }

  /** Reads a file. @param limits {@code null}: the defaults */
  public static @NotNull Model load(@NotNull String file, @Nullable LoadLimits limits) {
    return load(file, limits, null);
  }

  /**
   * Reads one of the signatures of a TFLite file. Throws {@link Status#NOT_FOUND} with their names for an unknown one.
   *
   * @param limits {@code null}: the defaults
   * @param signature {@code null}: "serving_default" or, if there is none, the first
   */
  public static @NotNull Model load(@NotNull String file, @Nullable LoadLimits limits, @Nullable String signature) {
    return new Model(Native.modelLoad(Check.notNull(file, "file"), limits, signature));
  }

  /** Reads a model from memory, from position to limit; the library copies what it needs of it. */
  public static @NotNull Model load(@NotNull ByteBuffer bytes) {
    return load(bytes, null);
  }

  /** Reads a model from memory. @param limits {@code null}: the defaults */
  public static @NotNull Model load(@NotNull ByteBuffer bytes, @Nullable LoadLimits limits) {
    return load(bytes, limits, null);
  }

  /** Reads one of the signatures of a TFLite model from memory. @see #load(String, LoadLimits, String) */
  public static @NotNull Model load(
      @NotNull ByteBuffer bytes, @Nullable LoadLimits limits, @Nullable String signature) {
    ByteBuffer direct = Buffers.readable(Check.notNull(bytes, "bytes"));
    return new Model(Native.modelLoadBytes(direct, direct.position(), direct.remaining(), limits, signature));
  }

  /** Reads a model from memory without a copy of a bundle. @see #lend(ByteBuffer, LoadLimits, Runnable) */
  public static @NotNull Model lend(@NotNull ByteBuffer bytes) {
    return lend(bytes, null, null);
  }

  /**
   * Reads a model from direct memory, from position to limit, without a copy of a bundle: the bytes must not change until they
   * are released, when neither the model nor a session made of it needs them. A bundle that does not begin at a multiple of 8
   * bytes is copied; of other formats nothing is kept. The buffer stays reachable as long.
   *
   * @param limits {@code null}: the defaults
   * @param released called once, on any thread, also if this method throws; {@code null}: nothing
   */
  public static @NotNull Model lend(
      @NotNull ByteBuffer bytes, @Nullable LoadLimits limits, @Nullable Runnable released) {
    Check.notNull(bytes, "bytes");
    if (!bytes.isDirect()) {
      if (released != null) released.run();
      throw Check.invalid("only a direct buffer can be lent");
    }
    Runnable release =
        () -> {
          Buffers.reachable(bytes);
          if (released != null) released.run();
        };
    return new Model(Native.modelLend(bytes, bytes.position(), bytes.remaining(), limits, release));
  }

  /** The inputs; a dimension that the model leaves open is -1. */
  public @NotNull List<TensorInfo> inputs() {
    return inputs;
  }

  /** The outputs; a dimension that only a run determines is -1. */
  public @NotNull List<TensorInfo> outputs() {
    return outputs;
  }

  /** The names of a TFLite file's signatures; the first is the one that was read. */
  public @NotNull List<String> signatures() {
    return handle.get(model -> Collections.unmodifiableList(Arrays.asList(Native.modelSignatures(model))));
  }

  /**
   * Makes a model whose input takes frames: {@code U8}, {@link FrameInput#byteSize} of them. This model may be closed
   * before it. Throws {@link Status#NOT_FOUND} for an unknown input, {@link Status#UNSUPPORTED} for one that is no image.
   */
  public @NotNull Model withFrames(@NotNull String input, @NotNull FrameInput frame) {
    Check.notNull(input, "input");
    Check.notNull(frame, "frame");
    return new Model(handle.get(model -> Native.modelWithFrames(model, input, frame)));
  }

  /**
   * Makes a model whose output is a picture that the device makes of it: {@code U8} [height, width, 4]. This model may be
   * closed before it. Throws {@link Status#NOT_FOUND} for an unknown output, {@link Status#UNSUPPORTED} for one that makes no
   * picture, {@link Status#INVALID_ARGUMENT} for a picture that contradicts itself.
   */
  public @NotNull Model withPicture(@NotNull String output, @NotNull PictureOutput picture) {
    Check.notNull(output, "output");
    Check.notNull(picture, "picture");
    return new Model(handle.get(model -> Native.modelWithPicture(model, output, picture)));
  }

  /**
   * Returns the nodes of the model in execution order.
   *
   * @param shapes of inputs whose dimensions the model leaves open, or another batch; may be empty
   */
  public @NotNull List<NodeInfo> nodes(@NotNull Map<String, long[]> shapes) {
    Check.notNull(shapes, "shapes");
    String[] names = shapes.keySet().toArray(new String[0]);
    long[][] dims = new long[names.length][];
    for (int i = 0; i < names.length; ++i)
      dims[i] = Check.notNull(shapes.get(Check.notNull(names[i], "a name of shapes")), "a shape").clone();
    return handle.get(
        model -> Collections.unmodifiableList(Arrays.asList(Native.modelNodes(model, names, dims))));
  }

  /**
   * Returns a stage between model and session as text: "graph", "program", "plan" or "barriers".
   *
   * @param options {@code null}: the defaults
   */
  public @NotNull String describe(
      @NotNull String stage, @Nullable SessionOptions options, @NotNull Device device) {
    return Check.notNull(device, "device").handle.get(d -> describe(stage, options, d, null));
  }

  /**
   * Does the same for a device that is not there.
   *
   * @param caps the text of a caps file; {@code null}: Android Baseline 2022
   */
  public @NotNull String describe(
      @NotNull String stage, @Nullable SessionOptions options, @Nullable String caps) {
    return describe(stage, options, 0, caps);
  }

  private String describe(String stage, SessionOptions options, long device, String caps) {
    Check.notNull(stage, "stage");
    SessionOptions given = options != null ? options : new SessionOptions();
    return handle.get(model -> Native.describe(model, stage, given, device, caps));
  }

  static List<TensorInfo> list(TensorInfo[] tensors) {
    return Collections.unmodifiableList(Arrays.asList(tensors));
  }
}

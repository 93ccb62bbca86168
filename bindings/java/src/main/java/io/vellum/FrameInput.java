package io.vellum;

import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/** How the frames of a model's input look in memory, and what the network reads of them. The setters return the object. */
public final class FrameInput {
  // Read by native code.
  private final int format;
  private final int width;
  private final int height;
  private int rowBytes;
  private int matrix;
  private int range;
  private int filter;
  private boolean repeatBorder;
  private float[] fill = {0, 0, 0};
  private boolean bgr;
  private float[] mean = {0, 0, 0, 0};
  private float[] scale = {1, 1, 1, 1};
  private double[] transform;
  private long[] networkShape;

  /** The size of frames in pixels, at most 16384. */
  public FrameInput(@NotNull FrameFormat format, int width, int height) {
    this.format = Check.notNull(format, "format").ordinal();
    this.width = Check.notNegative(width, "width");
    this.height = Check.notNegative(height, "height");
  }

  /** Bytes from row to row; 0: no padding. */
  public @NotNull FrameInput rowBytes(int bytes) {
    rowBytes = Check.notNegative(bytes, "rowBytes");
    return this;
  }

  public @NotNull FrameInput colors(@NotNull ColorMatrix matrix, @NotNull ColorRange range) {
    this.matrix = Check.notNull(matrix, "matrix").ordinal();
    this.range = Check.notNull(range, "range").ordinal();
    return this;
  }

  public @NotNull FrameInput filter(@NotNull FrameFilter filter) {
    this.filter = Check.notNull(filter, "filter").ordinal();
    return this;
  }

  /** What is beside the frame: red, green, blue in 0..255. Black by default. */
  public @NotNull FrameInput fill(float red, float green, float blue) {
    fill = new float[] {red, green, blue};
    repeatBorder = false;
    return this;
  }

  /** What is beside the frame is its border repeated. */
  public @NotNull FrameInput repeatBorder() {
    repeatBorder = true;
    return this;
  }

  /** The network takes blue, green, red. */
  public @NotNull FrameInput bgr(boolean bgr) {
    this.bgr = bgr;
    return this;
  }

  /** The network reads (pixel - mean) * scale, the same for all channels; pixels are 0..255. */
  public @NotNull FrameInput normalise(float mean, float scale) {
    this.mean = new float[] {mean, mean, mean, mean};
    this.scale = new float[] {scale, scale, scale, scale};
    return this;
  }

  /** The same for each channel, in the order of the network's; up to four of each. */
  public @NotNull FrameInput normalise(float @NotNull [] mean, float @NotNull [] scale) {
    this.mean = four(Check.notNull(mean, "mean"), 0);
    this.scale = four(Check.notNull(scale, "scale"), 1);
    return this;
  }

  /** The part of all frames that the network sees; {@code null}: an input of the model, NAME.transform. */
  public @NotNull FrameInput transform(@Nullable FrameTransform transform) {
    this.transform = transform == null ? null : transform.values();
    return this;
  }

  /** The shape of the input, where the model leaves it open. */
  public @NotNull FrameInput networkShape(long @NotNull ... shape) {
    networkShape = Check.notNull(shape, "shape").clone();
    return this;
  }

  /** Returns the size of a frame in memory. */
  public long byteSize() {
    return Native.frameBytes(this);
  }

  private static float[] four(float[] given, float rest) {
    if (given.length > 4) throw Check.invalid(given.length + " channels; a frame has at most 4");
    float[] all = {rest, rest, rest, rest};
    System.arraycopy(given, 0, all, 0, given.length);
    return all;
  }
}

package io.vellum;

import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/**
 * How an output of a model becomes a picture: red, green, blue and alpha in 8 bits each, top row first, rows without padding,
 * in that order of bytes, which is also that of Android's {@code Bitmap.Config.ARGB_8888}. The setters return the object.
 */
public final class PictureOutput {
  // Read by native code.
  private int colors;
  private float low = 0;
  private float high = 1;
  private byte[] palette = {};
  private int filter;
  private int channels;
  private int width;
  private int height;
  private String over;
  private String name;

  /** {@link PictureColors#RAMP} by default. */
  public @NotNull PictureOutput colors(@NotNull PictureColors colors) {
    this.colors = Check.notNull(colors, "colors").ordinal();
    return this;
  }

  /** The values of the palette's first and last colour, or of 0 and 255. 0 and 1 by default. */
  public @NotNull PictureOutput range(float low, float high) {
    this.low = low;
    this.high = high;
    return this;
  }

  /**
   * Colours as 0xAARRGGBB, as Android's {@code Color} has them: 0xFF000000 is opaque black. At most 4096. None, the default:
   * from opaque black to opaque white. {@link PictureColors#CLASSES} needs them, {@link PictureColors#RGB} takes none.
   */
  public @NotNull PictureOutput palette(int @NotNull ... argb) {
    palette = new byte[4 * Check.notNull(argb, "argb").length];
    for (int i = 0; i < argb.length; ++i) {
      palette[4 * i] = (byte) (argb[i] >> 16);
      palette[4 * i + 1] = (byte) (argb[i] >> 8);
      palette[4 * i + 2] = (byte) argb[i];
      palette[4 * i + 3] = (byte) (argb[i] >> 24);
    }
    return this;
  }

  /** {@link PictureFilter#BILINEAR} by default. */
  public @NotNull PictureOutput filter(@NotNull PictureFilter filter) {
    this.filter = Check.notNull(filter, "filter").ordinal();
    return this;
  }

  public @NotNull PictureOutput channels(@NotNull ChannelOrder channels) {
    this.channels = Check.notNull(channels, "channels").ordinal();
    return this;
  }

  /** Pixels, at most 16384; 0, the default: those of the frame under it, else those of the output. */
  public @NotNull PictureOutput size(int width, int height) {
    this.width = Check.notNegative(width, "width");
    this.height = Check.notNegative(height, "height");
    return this;
  }

  /**
   * The input that takes frames ({@link Model#withFrames}) over which the colours lie with their alpha, where the network saw
   * it; the picture is then opaque. {@code null}, the default: none.
   */
  public @NotNull PictureOutput over(@Nullable String input) {
    over = input;
    return this;
  }

  /** Makes the picture a further output of this name; {@code null}, the default: it replaces the output. */
  public @NotNull PictureOutput name(@Nullable String name) {
    this.name = name;
    return this;
  }
}

package io.vellum;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/** What sessions of a bundle may do besides running its model as it is. The setters return the object itself. */
public final class BundleVariants {
  // Read by native code.
  private String[] inputs = {};
  private FrameInput[] frames = {};
  private String[] outputs = {};
  private PictureOutput[] pictures = {};
  private boolean images;
  private String signature;

  /** Makes none. */
  public BundleVariants() {}

  /** One more kind of frames that an input may take; format, filter, bgr and border count, sizes do not. */
  public @NotNull BundleVariants frame(@NotNull String input, @NotNull FrameInput frame) {
    inputs = with(inputs, Check.notNull(input, "input"), new String[0]);
    frames = with(frames, Check.notNull(frame, "frame"), new FrameInput[0]);
    return this;
  }

  /** One more kind of pictures of an output; colours, and sizes of more than 16 pixels across, do not count. */
  public @NotNull BundleVariants picture(@NotNull String output, @NotNull PictureOutput picture) {
    outputs = with(outputs, Check.notNull(output, "output"), new String[0]);
    pictures = with(pictures, Check.notNull(picture, "picture"), new PictureOutput[0]);
    return this;
  }

  /** Frames are images, such as those of {@link HardwareFrames}. */
  public @NotNull BundleVariants images(boolean images) {
    this.images = images;
    return this;
  }

  /**
   * Chooses the signature of a TFLite model that the bundle is for; it has no other.
   *
   * @param signature {@code null}: the one that {@link Model#load(String)} reads
   */
  public @NotNull BundleVariants signature(@Nullable String signature) {
    this.signature = signature;
    return this;
  }

  private static <T> T[] with(T[] all, T one, T[] none) {
    List<T> list = new ArrayList<>(Arrays.asList(all));
    list.add(one);
    return list.toArray(none);
  }
}

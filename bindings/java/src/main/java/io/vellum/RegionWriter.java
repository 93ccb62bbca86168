package io.vellum;

import java.nio.ByteBuffer;
import org.jetbrains.annotations.NotNull;

/** Takes regions of the outputs of a {@link LargePicture}. */
public interface RegionWriter {
  /**
   * Called on the thread of {@link LargePicture#run}: each element once; row by row of tiles, each from left to right. What
   * it throws ends the run and is passed on.
   *
   * @param values a dense tensor of the region, in the machine's byte order. For this call alone; used again later
   */
  void write(@NotNull PictureRegion region, @NotNull ByteBuffer values);
}

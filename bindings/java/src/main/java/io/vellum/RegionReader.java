package io.vellum;

import java.nio.ByteBuffer;
import org.jetbrains.annotations.NotNull;

/** Fills regions of the inputs of a {@link LargePicture}. */
public interface RegionReader {
  /**
   * Called on the thread of {@link LargePicture#run}. Regions of successive tiles overlap. What it throws ends the run and
   * is passed on.
   *
   * @param values to fill: a dense tensor of the region, in the machine's byte order. For this call alone; used again later
   */
  void read(@NotNull PictureRegion region, @NotNull ByteBuffer values);
}

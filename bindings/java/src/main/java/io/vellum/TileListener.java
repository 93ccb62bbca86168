package io.vellum;

/** Told how far {@link LargePicture#run} is. */
public interface TileListener {
  /**
   * Called before the first tile and after each. Returns false to end the run with {@link Status#CANCELLED}. What it throws
   * ends the run and is passed on.
   */
  boolean progress(long done, long total);
}

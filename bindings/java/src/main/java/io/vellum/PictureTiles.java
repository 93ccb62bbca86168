package io.vellum;

/** How a {@link LargePicture} is divided. A plain value. */
public final class PictureTiles {
  // Set by native code.
  private long height;
  private long width;
  private long down;
  private long across;

  PictureTiles() {}

  /** Returns the rows of the inputs that each tile reads. */
  public long height() {
    return height;
  }

  /** Returns the columns of the inputs that each tile reads. */
  public long width() {
    return width;
  }

  /** Returns the tiles of a column of tiles. */
  public long down() {
    return down;
  }

  /** Returns the tiles of a row of tiles. */
  public long across() {
    return across;
  }

  public long count() {
    return down * across;
  }

  @Override
  public String toString() {
    return down + " x " + across + " tiles of " + height + " x " + width;
  }
}

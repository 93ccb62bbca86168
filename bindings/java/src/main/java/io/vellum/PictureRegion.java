package io.vellum;

/** Some rows and columns of an input or output of a {@link LargePicture}. A plain value. */
public final class PictureRegion {
  private final int tensor;
  private final int rowsAxis;
  private final long top;
  private final long left;
  private final long height;
  private final long width;

  PictureRegion(int tensor, int rowsAxis, long top, long left, long height, long width) {
    this.tensor = tensor;
    this.rowsAxis = rowsAxis;
    this.top = top;
    this.left = left;
    this.height = height;
    this.width = width;
  }

  /** Returns the index in {@link LargePicture#inputs} or {@link LargePicture#outputs}. */
  public int tensor() {
    return tensor;
  }

  /** Returns the tensor's dimension of rows; that of columns follows it. */
  public int rowsAxis() {
    return rowsAxis;
  }

  /** Returns the first row, in the whole picture. */
  public long top() {
    return top;
  }

  /** Returns the first column, in the whole picture. */
  public long left() {
    return left;
  }

  public long height() {
    return height;
  }

  public long width() {
    return width;
  }

  @Override
  public String toString() {
    return "rows " + top + " to " + (top + height) + ", columns " + left + " to " + (left + width) + " of tensor " + tensor;
  }
}

package io.vellum;

/** For frames of luma and chroma: Rec. ITU-R BT.601 or BT.709. */
public enum ColorMatrix {
  BT601,
  BT709
}

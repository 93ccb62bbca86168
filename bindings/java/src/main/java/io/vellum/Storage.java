package io.vellum;

/** What holds intermediate tensors; in the order of {@code vellum_storage}. */
public enum Storage {
  AUTO,
  IMAGE2D,
  IMAGE3D,
  BUFFER
}

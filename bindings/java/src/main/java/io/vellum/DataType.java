package io.vellum;

import org.jetbrains.annotations.NotNull;

/** The type of a tensor's elements; in the order of {@code vellum_dtype}. */
public enum DataType {
  F32(4),
  F16(2),
  F64(8),
  I64(8),
  I32(4),
  I16(2),
  I8(1),
  U64(8),
  U32(4),
  U16(2),
  U8(1),
  /** A byte, 0 or 1. */
  BOOL(1);

  private static final DataType[] ALL = values();
  private final int byteSize;

  DataType(int byteSize) {
    this.byteSize = byteSize;
  }

  /** Returns the bytes of one element. */
  public int byteSize() {
    return byteSize;
  }

  static @NotNull DataType ofCode(int code) {
    if (code < 0 || code >= ALL.length)
      throw new VellumException(Status.INTERNAL, "the library returned the unknown data type " + code);
    return ALL[code];
  }
}

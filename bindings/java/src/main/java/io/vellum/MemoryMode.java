package io.vellum;

/** Whether intermediate tensors share memory; in the order of {@code vellum_memory}. */
public enum MemoryMode {
  SHARED_OBJECTS,
  NAIVE,
  /** An object for each tensor, aliased at planned offsets of one arena. */
  OFFSETS
}

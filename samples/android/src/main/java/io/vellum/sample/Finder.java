package io.vellum.sample;

import io.vellum.MemoryReport;
import io.vellum.Tensor;
import java.nio.ByteBuffer;
import java.util.List;

/** A task on frames of one kind. For one thread at a time. */
interface Finder extends AutoCloseable {
  /** Returns what is found in a frame; points are fractions of the upright picture. */
  List<Mark> find(ByteBuffer frame);

  /**
   * A picture over the upright frame, made of the last one that was searched: bytes [height, width, 4], red, green, blue,
   * alpha, premultiplied. Valid until the next call; null: the task makes none.
   */
  default Tensor picture() {
    return null;
  }

  /** One inference of its first network, without its outputs. */
  void run(ByteBuffer frame);

  /** Of each session; several share the memory of one pool. */
  List<MemoryReport> memory();

  @Override
  void close();
}

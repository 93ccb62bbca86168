package io.vellum.sample;

import io.vellum.MemoryReport;
import java.nio.ByteBuffer;
import java.util.List;

/** A task on frames of one kind. For one thread at a time. */
interface Finder extends AutoCloseable {
  /** Returns what is found in a frame; points are fractions of the upright picture. */
  List<Mark> find(ByteBuffer frame);

  /** One inference of its first network, without its outputs. */
  void run(ByteBuffer frame);

  /** Of each session; several share the memory of one pool. */
  List<MemoryReport> memory();

  @Override
  void close();
}

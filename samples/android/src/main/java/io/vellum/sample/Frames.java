package io.vellum.sample;

import io.vellum.FrameInput;
import java.nio.ByteBuffer;
import java.util.function.Supplier;

/** Frames of one kind: as an input of a network, and pixel by pixel for what is cut out on the host. */
interface Frames extends Supplier<FrameInput> {
  /** The buffers of a camera that are in use at a time. */
  int MOST_BUFFERS = 4;

  /** Returns a new object at each call. */
  @Override
  FrameInput get();

  /** Returns a pixel as 0xRRGGBB. */
  int rgb(ByteBuffer frame, int x, int y);
}

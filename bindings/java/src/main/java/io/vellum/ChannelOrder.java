package io.vellum;

/** Where the channels of an output of four dimensions are. */
public enum ChannelOrder {
  /** The smaller of the second and the last dimension. */
  AUTOMATIC,
  FIRST,
  LAST
}

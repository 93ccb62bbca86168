package io.vellum;

/** What happens when a run begins while another run of the same {@link MemoryPool} is under way. */
public enum PoolOverlap {
  /** The device does them one after the other. */
  SERIALISE,
  /** {@link Status#INVALID_ARGUMENT}, for applications that want to know when their runs overlap. */
  REFUSE
}

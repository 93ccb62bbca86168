package io.vellum;

/** The priority of a device's queues relative to those of all processes; in the order of {@code vellum_global_priority}. */
public enum GlobalPriority {
  /** The driver's default, medium. */
  UNSPECIFIED,
  LOW,
  MEDIUM,
  HIGH,
  REALTIME
}

package io.vellum;

import org.jetbrains.annotations.NotNull;

/** Receives the log of a device, one line at a time, on any thread, also on threads of the driver. */
public interface LogListener {
  /** What it throws is ignored. It must not call the device that logs. */
  void log(@NotNull LogLevel level, @NotNull String message);
}

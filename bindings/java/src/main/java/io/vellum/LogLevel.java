package io.vellum;

/** How severe a line of the log is; in the order of {@code vellum_log_level}. */
public enum LogLevel {
  DEBUG,
  INFO,
  WARNING,
  ERROR
}

package io.vellum;

/** Why a call failed; the codes of {@code vellum_status} in {@code vellum.h}. */
public enum Status {
  /** Success; no exception has this status. */
  OK,
  /** An argument is invalid: wrong size, unknown option. */
  INVALID_ARGUMENT,
  /** A file, device, input or output does not exist. */
  NOT_FOUND,
  /** Reading or writing failed. */
  IO,
  /** The model file is truncated or contradicts itself. */
  CORRUPT_MODEL,
  /** A valid model or option that Vellum cannot run. */
  UNSUPPORTED,
  /** No Vulkan loader, driver or usable device. */
  NO_DEVICE,
  /** The host's or the device's memory is exhausted. */
  OUT_OF_MEMORY,
  /** The device stopped answering. */
  DEVICE_LOST,
  /** A bug in Vellum. */
  INTERNAL,
  /** The caller cancelled it. */
  CANCELLED;

  private static final Status[] ALL = values();

  /** Returns the code of {@code vellum_status}. */
  public int code() {
    return ordinal();
  }

  /** Statuses that a newer library adds are internal errors to this version. */
  static Status ofCode(int code) {
    return code >= 0 && code < ALL.length ? ALL[code] : INTERNAL;
  }
}

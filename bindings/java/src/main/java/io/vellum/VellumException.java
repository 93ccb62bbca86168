package io.vellum;

import org.jetbrains.annotations.NotNull;

/** What Vellum refused or could not do, with its status. The message is one line that names file, operator or tensor. */
public final class VellumException extends RuntimeException {
  private static final long serialVersionUID = 1;
  private final Status status;

  public VellumException(@NotNull Status status, @NotNull String message) {
    super(message);
    this.status = status;
  }

  /** For native code. */
  VellumException(int code, String message) {
    this(Status.ofCode(code), message);
  }

  public @NotNull Status status() {
    return status;
  }
}

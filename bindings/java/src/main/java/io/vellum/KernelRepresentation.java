package io.vellum;

import org.jetbrains.annotations.NotNull;

/** A form of a shader inside the driver's compiler as text, such as its assembly. A plain value. */
public final class KernelRepresentation {
  // Set by native code.
  private String name;
  private String description;
  private String text;

  KernelRepresentation() {}

  public @NotNull String name() {
    return name;
  }

  public @NotNull String description() {
    return description;
  }

  public @NotNull String text() {
    return text;
  }
}

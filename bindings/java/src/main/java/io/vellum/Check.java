package io.vellum;

import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/** Checks of arguments that native code relies on. */
final class Check {
  private Check() {}

  static <T> @NotNull T notNull(@Nullable T value, @NotNull String name) {
    if (value == null) throw new NullPointerException(name + " is null");
    return value;
  }

  /** For values that C holds in 32 bits without a sign. */
  static int notNegative(int value, @NotNull String name) {
    if (value < 0) throw invalid(name + " is negative: " + value);
    return value;
  }

  static long notNegative(long value, @NotNull String name) {
    if (value < 0) throw invalid(name + " is negative: " + value);
    return value;
  }

  static @NotNull VellumException invalid(@NotNull String message) {
    return new VellumException(Status.INVALID_ARGUMENT, message);
  }
}

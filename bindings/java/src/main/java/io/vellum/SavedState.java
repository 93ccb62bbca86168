package io.vellum;

import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/** A copy of all states of a session in device memory of its own: {@link Session#saveState}. */
public final class SavedState extends NativeObject {
  /** @param device is destroyed after it, since its memory is the device's */
  SavedState(long address, @Nullable Handle device) {
    super("saved state", address, Native::savedStateDestroy, device, null);
  }
}

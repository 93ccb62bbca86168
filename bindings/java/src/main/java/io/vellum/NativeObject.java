package io.vellum;

import java.util.function.LongConsumer;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/** What Device, Model, Session, SessionCreation and Run have in common. */
abstract class NativeObject implements AutoCloseable {
  final Handle handle;
  private final Cleanup cleanup;

  NativeObject(
      @NotNull String what, long address, @NotNull LongConsumer destroy, @Nullable Handle needed, @Nullable Object kept) {
    handle = new Handle(what, address, destroy, needed, kept);
    cleanup = new Cleanup(this, handle);
  }

  /** Returns whether close() was called. */
  public final boolean isClosed() {
    return handle.isClosed();
  }

  /** Frees the native object as soon as no call uses it. Does nothing the second time. */
  @Override
  public void close() {
    cleanup.close();
  }
}

package io.vellum;

import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/**
 * A native object, freed when it is closed and no call uses it any more.
 *
 * <pre>
 *   open --close()--> closed, in use --last use ends--> destroyed
 *     |                                                    ^
 *     +-----close() with no use under way------------------+
 * </pre>
 */
final class Handle {
  private final String what;
  private final long address;
  private final LongConsumer destroy;
  private final @Nullable Handle needed;
  /** What native code uses until the object is destroyed, such as memory for outputs. */
  private @Nullable Object kept;
  private int uses;
  private boolean closed;

  /**
   * @param what for messages: "session"
   * @param needed is not destroyed before this object is
   * @param kept stays reachable until this object is destroyed
   */
  Handle(@NotNull String what, long address, @NotNull LongConsumer destroy, @Nullable Handle needed, @Nullable Object kept) {
    this.what = what;
    this.address = address;
    this.destroy = destroy;
    this.needed = needed;
    this.kept = kept;
    if (needed != null) needed.addUse();
  }

  void use(@NotNull LongConsumer call) {
    begin();
    try {
      call.accept(address);
    } finally {
      end();
    }
  }

  <T> T get(@NotNull LongFunction<T> call) {
    begin();
    try {
      return call.apply(address);
    } finally {
      end();
    }
  }

  /** Returns what is destroyed after this object. */
  @Nullable Handle needed() {
    return needed;
  }

  synchronized boolean isClosed() {
    return closed;
  }

  /** Does nothing the second time. */
  void close() {
    synchronized (this) {
      if (closed) return;
      closed = true;
      if (uses > 0) return;
    }
    free();
  }

  private synchronized void begin() {
    if (closed) throw new IllegalStateException("the " + what + " is closed");
    uses++;
  }

  /** For objects that outlive their owner: also where it is closed but not destroyed yet. */
  private synchronized void addUse() {
    uses++;
  }

  private void end() {
    synchronized (this) {
      if (--uses > 0 || !closed) return;
    }
    free();
  }

  private void free() {
    destroy.accept(address);
    kept = null;
    if (needed != null) needed.end();
  }
}

package io.vellum;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jetbrains.annotations.NotNull;

/** Closes the handle of an object that was dropped without close(). Android has java.lang.ref.Cleaner from API 33 on only. */
final class Cleanup extends PhantomReference<Object> {
  private static final ReferenceQueue<Object> DROPPED = new ReferenceQueue<>();
  /** The references themselves must stay reachable to be enqueued. */
  private static final Set<Cleanup> ALL = ConcurrentHashMap.newKeySet();

  static {
    Thread thread = new Thread(Cleanup::closeDropped, "vellum-cleanup");
    thread.setDaemon(true);
    thread.start();
  }

  private final Handle handle;

  /** @param handle must not refer to `owner` */
  Cleanup(@NotNull Object owner, @NotNull Handle handle) {
    super(owner, DROPPED);
    this.handle = handle;
    ALL.add(this);
  }

  /** Closes the handle now. */
  void close() {
    ALL.remove(this);
    clear();
    handle.close();
  }

  private static void closeDropped() {
    while (true) {
      try {
        ((Cleanup) DROPPED.remove()).close();
      } catch (InterruptedException nobodyHasThisThread) {
        // Go on: without this thread nothing would be freed any more.
      }
    }
  }
}

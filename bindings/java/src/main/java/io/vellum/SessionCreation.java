package io.vellum;

import org.jetbrains.annotations.NotNull;

/** A session that is being made on a thread of its own. close() cancels, and waits for the thread. */
public final class SessionCreation extends NativeObject {
  private final Object one = new Object();
  private final Handle device;

  SessionCreation(long address, @NotNull Handle device) {
    super("session's creation", address, Native::creationDestroy, device, null);
    this.device = device;
  }

  /** Returns the pipelines that are ready. */
  public long ready() {
    return handle.get(creation -> Native.creationProgress(creation)[0]);
  }

  /** Returns the pipelines that there will be; 0 until the network is compiled. */
  public long total() {
    return handle.get(creation -> Native.creationProgress(creation)[1]);
  }

  /** Waits at most this time in milliseconds; returns whether {@link #get} would return at once. */
  public boolean await(int milliseconds) {
    Check.notNegative(milliseconds, "milliseconds");
    synchronized (one) {
      return handle.get(creation -> Native.creationWaitFor(creation, milliseconds));
    }
  }

  /** Returns at once; {@link #get} then throws {@link Status#CANCELLED}, unless the session was ready. From any thread. */
  public void cancel() {
    handle.use(Native::creationCancel);
  }

  /** Waits for the session, or the error with which its creation ended; once. */
  public @NotNull Session get() {
    synchronized (one) {
      return handle.get(creation -> new Session(Native.creationGet(creation), device));
    }
  }
}

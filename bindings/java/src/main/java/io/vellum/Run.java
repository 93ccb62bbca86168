package io.vellum;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/**
 * An inference that was submitted. It may outlive its session. Different runs may be used on different threads; of one run,
 * calls wait for each other, except {@link #cancel}.
 */
public final class Run extends NativeObject {
  private final Object one = new Object();
  private final Map<String, Tensor> outputs;

  Run(long address, @Nullable Handle device, @NotNull Map<String, Tensor> outputs) {
    this(address, device, new LinkedHashMap<>(outputs), null);
  }

  private Run(long address, @Nullable Handle device, Map<String, Tensor> outputs, @Nullable Void copied) {
    // The handle keeps the outputs' memory until the native run is destroyed, for the library writes to it.
    super("run", address, Native::runDestroy, device, outputs);
    this.outputs = Collections.unmodifiableMap(outputs);
  }

  /** Returns whether {@link #await()} would return at once. Does not wait. */
  public boolean isDone() {
    synchronized (one) {
      return handle.get(Native::runDone);
    }
  }

  /** Waits until this run and earlier ones are done and its outputs are written. Throws the run's error on every call. */
  public @NotNull Map<String, Tensor> await() {
    synchronized (one) {
      handle.use(Native::runWait);
    }
    return outputs;
  }

  /**
   * Waits, then returns an output in memory of its own: of a run that keeps them ({@link Session#submit(Map)}), and in any
   * case one with a data-dependent shape. Throws {@link Status#NOT_FOUND} for other outputs.
   */
  public @NotNull Tensor output(@NotNull String name) {
    Check.notNull(name, "name");
    synchronized (one) {
      return handle.get(run -> Native.runOutput(run, name));
    }
  }

  /** Waits at most so long for the device; returns whether {@link #await()} would return at once. */
  public boolean await(long timeout, @NotNull TimeUnit unit) {
    long milliseconds = Math.max(0, Math.min(Check.notNull(unit, "unit").toMillis(timeout), Integer.MAX_VALUE));
    synchronized (one) {
      return handle.get(run -> Native.runWaitFor(run, (int) milliseconds));
    }
  }

  /**
   * Stops what the device has not been given yet, and operators on the host; returns at once. {@link #await()} then throws
   * {@link Status#CANCELLED} when the device has done what it has. From any thread.
   */
  public void cancel() {
    handle.use(Native::runCancel);
  }

  /**
   * Waits for the run, so that nothing is written to its outputs afterwards. While another thread's call uses the run, it
   * returns at once, and that call frees the run at its end.
   */
  @Override
  public void close() {
    super.close();
  }
}

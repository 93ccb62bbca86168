package io.vellum;

import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/** What {@link Device#checkKernels} checks. The setters return the object itself. */
public final class KernelCheckOptions {
  // Read by native code.
  private String only;
  private boolean all;
  private int repetitions = 1;
  private KernelCheckListener progress;

  /** Makes the defaults: one kernel of each algorithm, of all operations. */
  public KernelCheckOptions() {}

  /** Only operations whose name begins so: "Conv"; {@code null}: all. */
  public @NotNull KernelCheckOptions only(@Nullable String prefix) {
    only = prefix;
    return this;
  }

  /** Every candidate of every operator, which takes minutes. */
  public @NotNull KernelCheckOptions all(boolean all) {
    this.all = all;
    return this;
  }

  /** How often each kernel runs; a result whose bits differ from those of the first is a failure. 1 to 1,000,000. */
  public @NotNull KernelCheckOptions repetitions(int repetitions) {
    this.repetitions = repetitions;
    return this;
  }

  public @NotNull KernelCheckOptions progress(@Nullable KernelCheckListener listener) {
    progress = listener;
    return this;
  }
}

package io.vellum;

import org.jetbrains.annotations.NotNull;

/** Told what {@link Device#tune} has done. */
public interface TuneListener {
  /** What it throws is ignored. @param step "storages", "operators" or "network" */
  void progress(@NotNull String step, long done, long total);

  /**
   * Asked at each step; true ends {@link Device#tune} with {@link Status#CANCELLED}, and what this call measured is
   * discarded. What it throws counts as false.
   */
  default boolean shouldStop() {
    return false;
  }
}

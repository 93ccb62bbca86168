package io.vellum;

import org.jetbrains.annotations.NotNull;

/** Told what {@link Device#tune} has done. */
public interface TuneListener {
  /** What it throws is ignored. @param step "storages", "operators" or "network" */
  void progress(@NotNull String step, long done, long total);
}

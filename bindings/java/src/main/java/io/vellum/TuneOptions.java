package io.vellum;

import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/** How {@link Device#tune} measures. The setters return the object itself. */
public final class TuneOptions {
  // Read by native code, which also sets the defaults.
  // Generated from vellum/tune_options.def: fields.
  private double seconds;
  private boolean again;
  private boolean storages;
  // End of generated fields.
  private TuneListener progress;

  /** Makes the defaults. */
  public TuneOptions() {
    Native.tuneDefaults(this);
  }

  // Generated from vellum/tune_options.def: setters.
  /** Seconds after which no further operator is measured; a later call continues; 0: no limit. */
  public @NotNull TuneOptions seconds(double seconds) {
    this.seconds = seconds;
    return this;
  }

  /** Measure again what was measured before. */
  public @NotNull TuneOptions again(boolean again) {
    this.again = again;
    return this;
  }

  /** Measure the best storage of each tensor, too. True by default. */
  public @NotNull TuneOptions storages(boolean storages) {
    this.storages = storages;
    return this;
  }
  // End of generated setters.

  /** Told of progress, and asked whether to stop. */
  public @NotNull TuneOptions progress(@Nullable TuneListener listener) {
    progress = listener;
    return this;
  }
}

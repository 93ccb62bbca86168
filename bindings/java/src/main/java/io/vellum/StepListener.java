package io.vellum;

/** Told how many steps of {@link Session#runSteps} are done. */
public interface StepListener {
  /**
   * Called between submits, on the thread of the run. Returns false to stop: steps that are submitted are completed, and the
   * results are those so far. What it throws stops the run and is passed on. It must not call the session.
   */
  boolean progress(int steps);
}

package io.vellum;

import java.util.Collections;
import java.util.Map;
import org.jetbrains.annotations.NotNull;

/** What {@link Session#runSteps} has computed. */
public final class StepResults {
  private final int steps;
  private final boolean ended;
  private final Map<String, Tensor> outputs;

  StepResults(int steps, boolean ended, @NotNull Map<String, Tensor> outputs) {
    this.steps = steps;
    this.ended = ended;
    this.outputs = Collections.unmodifiableMap(outputs);
  }

  /** Returns the number of steps that ran. */
  public int steps() {
    return steps;
  }

  /** Returns whether {@link StepOptions#endOutput} ended the loop. */
  public boolean ended() {
    return ended;
  }

  /** Returns the outputs of {@link StepOptions#stepOutput}, of shape (steps, shape of the output), by name. */
  public @NotNull Map<String, Tensor> outputs() {
    return outputs;
  }
}

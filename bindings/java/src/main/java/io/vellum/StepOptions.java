package io.vellum;

import java.util.ArrayList;
import java.util.List;
import org.jetbrains.annotations.NotNull;

/**
 * Options of {@link Session#bindSteps}. Setters return the object itself, so that calls can be chained; native code reads the
 * fields.
 */
public final class StepOptions {
  private int steps = 1;
  private int stepsPerSubmit;
  private String[] feedbackOutputs = {};
  private String[] feedbackInputs = {};
  private String[] stepInputs = {};
  private String[] stepOutputs = {};
  private String endOutput;
  private long[] endValues = {};

  /** The most steps of a run; 1 by default. */
  public @NotNull StepOptions steps(int steps) {
    this.steps = Check.notNegative(steps, "steps");
    return this;
  }

  /** Steps of a submit; 0, the default: as many as are predicted to take a second. */
  public @NotNull StepOptions stepsPerSubmit(int stepsPerSubmit) {
    this.stepsPerSubmit = Check.notNegative(stepsPerSubmit, "stepsPerSubmit");
    return this;
  }

  /** The output of a step is an input of the next one. */
  public @NotNull StepOptions feedback(@NotNull String output, @NotNull String input) {
    feedbackOutputs = with(feedbackOutputs, Check.notNull(output, "output"));
    feedbackInputs = with(feedbackInputs, Check.notNull(input, "input"));
    return this;
  }

  /** The input has a value for each step: its tensor has one more dimension, the steps, in front. */
  public @NotNull StepOptions stepInput(@NotNull String input) {
    stepInputs = with(stepInputs, Check.notNull(input, "input"));
    return this;
  }

  /** The value of the output after each step is returned: {@link StepResults#outputs}. */
  public @NotNull StepOptions stepOutput(@NotNull String output) {
    stepOutputs = with(stepOutputs, Check.notNull(output, "output"));
    return this;
  }

  /** The integer output ends the loop when each of its elements has had one of these values, at most eight. */
  public @NotNull StepOptions endOutput(@NotNull String output, long @NotNull ... values) {
    endOutput = Check.notNull(output, "output");
    endValues = Check.notNull(values, "values").clone();
    return this;
  }

  String[] stepOutputs() {
    return stepOutputs.clone();
  }

  private static String[] with(String[] names, String name) {
    List<String> longer = new ArrayList<>();
    for (String one : names) longer.add(one);
    longer.add(name);
    return longer.toArray(new String[0]);
  }
}

package io.vellum;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/** Several runs of a session, bound to follow one another on the device: {@link Session#bindSteps}. */
public final class StepLoop extends NativeObject {
  private final String[] stepOutputs;

  /** @param device is destroyed after the loop, since its commands and memory are the device's */
  StepLoop(long address, String @NotNull [] stepOutputs, @Nullable Handle device) {
    super("step loop", address, Native::stepLoopDestroy, device, null);
    this.stepOutputs = stepOutputs;
  }

  StepResults run(long session, RunTensors inputs, @Nullable StepListener progress) {
    return handle.get(
        loop -> {
          long[] counts = Native.stepLoopRun(loop, session, inputs.names, inputs.shapes, inputs.values, progress);
          Map<String, Tensor> outputs = new LinkedHashMap<>();
          for (String name : stepOutputs) outputs.put(name, Native.stepLoopOutput(loop, name));
          return new StepResults((int) counts[0], counts[1] != 0, outputs);
        });
  }
}

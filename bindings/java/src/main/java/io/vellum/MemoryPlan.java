package io.vellum;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/** A memory plan: which object holds which tensors, when and where. */
public final class MemoryPlan extends NativeObject {
  private final MemoryReport report;
  private final List<TensorReport> tensors;

  MemoryPlan(long address) {
    super("memory plan", address, Native::planDestroy, null, null);
    report = handle.get(Native::planReport);
    tensors = handle.get(plan -> Collections.unmodifiableList(Arrays.asList(Native.planTensors(plan))));
  }

  /**
   * Returns the plan that a session with these options would use, without weights, inputs and outputs, in the sizes of a
   * device.
   *
   * @param options {@code null}: the defaults
   */
  public static @NotNull MemoryPlan of(@NotNull Model model, @Nullable SessionOptions options, @NotNull Device device) {
    return Check.notNull(device, "device").handle.get(d -> plan(model, options, d, null));
  }

  /**
   * Does the same in the sizes of a device that is not there.
   *
   * @param options {@code null}: the defaults
   * @param caps the text of a caps file; {@code null}: Android Baseline 2022
   */
  public static @NotNull MemoryPlan of(@NotNull Model model, @Nullable SessionOptions options, @Nullable String caps) {
    return plan(model, options, 0, caps);
  }

  private static MemoryPlan plan(Model model, SessionOptions options, long device, String caps) {
    SessionOptions given = options != null ? options : new SessionOptions();
    return new MemoryPlan(Check.notNull(model, "model").handle.get(m -> Native.planCreate(m, given, device, caps)));
  }

  /** The objects, and bytes. */
  public @NotNull MemoryReport report() {
    return report;
  }

  /** The intermediate and workspace tensors. */
  public @NotNull List<TensorReport> tensors() {
    return tensors;
  }

  /** Draws the plan as {@link Session#memorySvg}. */
  public @NotNull String svg(@NotNull String title) {
    Check.notNull(title, "title");
    return handle.get(plan -> Native.planSvg(plan, title));
  }
}

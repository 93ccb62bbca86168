package io.vellum;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/** How fast a model runs within how many bytes of device memory; docs/memory.md. */
public final class MemoryFrontier extends NativeObject {
  private final List<FrontierPoint> points;

  private MemoryFrontier(long address) {
    super("memory frontier", address, Native::frontierDestroy, null, null);
    points = handle.get(frontier -> Collections.unmodifiableList(Arrays.asList(Native.frontierPoints(frontier))));
  }

  /**
   * Finds the frontier of sessions with these options on a device. Budgets that are too small for the model are left out.
   *
   * @param options {@code null}: the defaults
   * @param budgets bytes; none: from the smallest that suffices to what the options take without one
   */
  public static @NotNull MemoryFrontier of(
      @NotNull Model model, @Nullable SessionOptions options, @NotNull Device device, long @NotNull ... budgets) {
    return Check.notNull(device, "device").handle.get(d -> find(model, options, d, null, budgets));
  }

  /**
   * Does the same for a device that is not there.
   *
   * @param caps the text of a caps file; {@code null}: Android Baseline 2022
   */
  public static @NotNull MemoryFrontier of(
      @NotNull Model model, @Nullable SessionOptions options, @Nullable String caps, long @NotNull ... budgets) {
    return find(model, options, 0, caps, budgets);
  }

  private static MemoryFrontier find(Model model, SessionOptions options, long device, String caps, long[] budgets) {
    for (long budget : Check.notNull(budgets, "budgets")) Check.notNegative(budget, "a budget");
    SessionOptions given = options != null ? options : new SessionOptions();
    return new MemoryFrontier(
        Check.notNull(model, "model").handle.get(m -> Native.frontierCreate(m, given, device, caps, budgets)));
  }

  /** Points in order of budgets. */
  public @NotNull List<FrontierPoint> points() {
    return points;
  }

  /**
   * Returns the index of the point where less memory begins to cost much time.
   *
   * @param milliseconds of each point, as measured; {@code null}: as predicted
   */
  public int knee(double @Nullable [] milliseconds) {
    requireAll(milliseconds);
    return handle.get(frontier -> Native.frontierKnee(frontier, milliseconds));
  }

  /**
   * Draws milliseconds over budgets, an SVG document.
   *
   * @param measured milliseconds of each point, for a second line; {@code null}: none
   */
  public @NotNull String svg(@NotNull String title, double @Nullable [] measured) {
    Check.notNull(title, "title");
    requireAll(measured);
    return handle.get(frontier -> Native.frontierSvg(frontier, title, measured));
  }

  private void requireAll(double[] milliseconds) {
    if (milliseconds != null && milliseconds.length != points.size())
      throw Check.invalid(milliseconds.length + " times for " + points.size() + " points");
  }
}

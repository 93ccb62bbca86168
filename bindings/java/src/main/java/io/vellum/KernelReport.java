package io.vellum;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/** What a device's driver makes of the kernels of a session, and how long each dispatch should take; docs/gpu_compilers.md. */
public final class KernelReport extends NativeObject {
  private final List<KernelPipeline> pipelines;
  private final List<KernelDispatch> dispatches;
  private final @Nullable DeviceRates rates;

  private KernelReport(long address) {
    super("kernel report", address, Native::kernelReportDestroy, null, null);
    pipelines = handle.get(report -> Collections.unmodifiableList(Arrays.asList(Native.kernelReportPipelines(report))));
    dispatches =
        handle.get(report -> Collections.unmodifiableList(Arrays.asList(Native.kernelReportDispatches(report))));
    rates = handle.get(Native::kernelReportRates);
  }

  /** Compiles the pipelines of a session with the default options. */
  public static @NotNull KernelReport of(@NotNull Device device, @NotNull Model model) {
    return of(device, model, null, null, false);
  }

  /**
   * Compiles every pipeline of a session with these options, apart from the device's caches. Throws {@link
   * Status#UNSUPPORTED} if the driver lacks VK_KHR_pipeline_executable_properties.
   *
   * @param options {@code null}: the defaults
   * @param rates of the device; {@code null}: {@link Device#knownRates}
   * @param representations also the code as text, megabytes for a network
   */
  public static @NotNull KernelReport of(@NotNull Device device, @NotNull Model model, @Nullable SessionOptions options,
      @Nullable DeviceRates rates, boolean representations) {
    Check.notNull(device, "device");
    Check.notNull(model, "model");
    SessionOptions given = options != null ? options : new SessionOptions();
    return new KernelReport(
        device.handle.get(
            d -> model.handle.get(m -> given.withPool(() -> Native.kernelReport(d, m, given, rates, representations)))));
  }

  /** Pipelines in order of first use. */
  public @NotNull List<KernelPipeline> pipelines() {
    return pipelines;
  }

  /** Dispatches in execution order. */
  public @NotNull List<KernelDispatch> dispatches() {
    return dispatches;
  }

  /** The rates that times come from; {@code null}: there are none. */
  public @Nullable DeviceRates rates() {
    return rates;
  }
}

package io.vellum;

import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/** How a device is opened. The setters return the object itself. Not for several threads at once. */
public final class DeviceOptions {
  // Read by native code, which also sets the defaults.
  // Generated from vellum/device_options.def: fields.
  private String device;
  private String cacheFolder;
  private boolean validation;
  private boolean androidBaseline2022;
  private int waitLimitMs;
  private float queuePriority;
  private int globalPriority;
  private boolean debugLabels;
  private int selfCheck;
  // End of generated fields.
  private LogListener log;

  /** Makes the defaults. */
  public DeviceOptions() {
    Native.deviceDefaults(this);
  }

  // Generated from vellum/device_options.def: setters.
  /** Number, UUID or part of the name of a device; by default a discrete GPU, else an integrated one, else a CPU. */
  public @NotNull DeviceOptions device(@Nullable String device) {
    this.device = device;
    return this;
  }

  /** Folder for compiled shaders and measurements, made if it is missing; without one nothing is kept on disk. */
  public @NotNull DeviceOptions cacheFolder(@Nullable String cacheFolder) {
    this.cacheFolder = cacheFolder;
    return this;
  }

  /** Use the Khronos validation layer; its messages are logged. */
  public @NotNull DeviceOptions validation(boolean validation) {
    this.validation = validation;
    return this;
  }

  /** Limit the device to the minimum that Vellum supports. */
  public @NotNull DeviceOptions androidBaseline2022(boolean androidBaseline2022) {
    this.androidBaseline2022 = androidBaseline2022;
    return this;
  }

  /** Milliseconds to wait for one submit before the device counts as hanging; 0: no limit. 60000 by default. */
  public @NotNull DeviceOptions waitLimitMs(int waitLimitMs) {
    this.waitLimitMs = Check.notNegative(waitLimitMs, "waitLimitMs");
    return this;
  }

  /** From 0 to 1: priority among the queues that this process has on the device. 1 by default. */
  public @NotNull DeviceOptions queuePriority(float queuePriority) {
    this.queuePriority = queuePriority;
    return this;
  }

  /**
   * Priority among the queues of all processes; unsupported if the device has none or the user may not have it. {@link
   * GlobalPriority#UNSPECIFIED} by default.
   */
  public @NotNull DeviceOptions globalPriority(@NotNull GlobalPriority globalPriority) {
    this.globalPriority = Check.notNull(globalPriority, "globalPriority").ordinal();
    return this;
  }

  /** Label layers and name objects for debuggers; needs VK_EXT_debug_utils. */
  public @NotNull DeviceOptions debugLabels(boolean debugLabels) {
    this.debugLabels = debugLabels;
    return this;
  }

  /**
   * Check kernels against the host at their first use on the device, and replace those that fail; auto: on GPUs. {@link
   * SelfCheck#AUTO} by default.
   */
  public @NotNull DeviceOptions selfCheck(@NotNull SelfCheck selfCheck) {
    this.selfCheck = Check.notNull(selfCheck, "selfCheck").ordinal();
    return this;
  }
  // End of generated setters.

  /** {@code null}: nothing is logged. */
  public @NotNull DeviceOptions log(@Nullable LogListener listener) {
    log = listener;
    return this;
  }
}

package io.vellum;

import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/** How a device is opened. The setters return the object itself. Not for several threads at once. */
public final class DeviceOptions {
  // Read by native code, which also sets the defaults.
  private String device;
  private String cacheFolder;
  private boolean validation;
  private boolean androidBaseline2022;
  private LogListener log;
  private int waitLimitMs;
  private float queuePriority;
  private int globalPriority;
  private boolean debugLabels;
  private int selfCheck;

  /** Makes the defaults. */
  public DeviceOptions() {
    Native.deviceDefaults(this);
  }

  /** Number, UUID or part of a name; {@code null}: a discrete GPU, else an integrated one, else a CPU. */
  public @NotNull DeviceOptions device(@Nullable String device) {
    this.device = device;
    return this;
  }

  /** The folder for compiled shaders, made if it is missing; {@code null}: nothing is kept on disk. */
  public @NotNull DeviceOptions cacheFolder(@Nullable String folder) {
    cacheFolder = folder;
    return this;
  }

  /** The Khronos validation layer; its messages go to the log. */
  public @NotNull DeviceOptions validation(boolean validation) {
    this.validation = validation;
    return this;
  }

  /** Behave as on the least device that Vellum supports. */
  public @NotNull DeviceOptions androidBaseline2022(boolean baseline) {
    androidBaseline2022 = baseline;
    return this;
  }

  /** {@code null}: nothing is logged. */
  public @NotNull DeviceOptions log(@Nullable LogListener listener) {
    log = listener;
    return this;
  }

  /** Milliseconds for one submit before the device counts as hanging; 0: no limit. 60,000 by default. */
  public @NotNull DeviceOptions waitLimitMs(int milliseconds) {
    waitLimitMs = Check.notNegative(milliseconds, "waitLimitMs");
    return this;
  }

  /** From 0 to 1, relative to the other queues that the process has on the device. 1 by default. */
  public @NotNull DeviceOptions queuePriority(float priority) {
    queuePriority = priority;
    return this;
  }

  /** {@link Status#UNSUPPORTED} if the device has none, or this user may not have it. */
  public @NotNull DeviceOptions globalPriority(@NotNull GlobalPriority priority) {
    globalPriority = Check.notNull(priority, "priority").ordinal();
    return this;
  }

  /** Labels of layers and names of objects, for debuggers; needs VK_EXT_debug_utils. */
  public @NotNull DeviceOptions debugLabels(boolean labels) {
    debugLabels = labels;
    return this;
  }

  /** Whether kernels are checked against the host at their first use; a kernel that fails is not used. */
  public @NotNull DeviceOptions selfCheck(@NotNull SelfCheck check) {
    selfCheck = Check.notNull(check, "check").ordinal();
    return this;
  }
}

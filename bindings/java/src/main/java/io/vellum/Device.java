package io.vellum;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/** An open Vulkan device. May be used from several threads at once. Sessions keep it alive after close(). */
public final class Device extends NativeObject {
  private final DeviceInfo info;

  private Device(long address) {
    super("device", address, Native::deviceDestroy, null, null);
    info = handle.get(Native::deviceInfo);
  }

  /** Returns the Vulkan devices of this machine that can compute. Throws {@link Status#NO_DEVICE} without a Vulkan loader. */
  public static @NotNull List<DeviceInfo> list() {
    return Collections.unmodifiableList(Arrays.asList(Native.devices()));
  }

  /** Opens a discrete GPU, else an integrated one, else a CPU. */
  public static @NotNull Device open() {
    return open(new DeviceOptions());
  }

  public static @NotNull Device open(@NotNull DeviceOptions options) {
    return new Device(Native.deviceOpen(Check.notNull(options, "options")));
  }

  public @NotNull DeviceInfo info() {
    return info;
  }

  /**
   * Returns the limits, features and traits of the device as JSON, the text of a caps file: from it {@link Bundle#write}, or
   * {@code vellum bundle --caps} on another machine, writes bundles for this device.
   */
  public @NotNull String caps() {
    return handle.get(Native::deviceCaps);
  }

  /** Returns the number of errors and warnings that the validation layer has reported. */
  public long validationMessages() {
    return handle.get(Native::deviceValidationMessages);
  }

  /**
   * Tunes the network that a session with these options runs: measures on the device how each operator is computed
   * fastest and which storage holds the tensors best. Later sessions use the result. It is stored in the device's cache
   * folder, or as long as the device lives.
   *
   * @param sessionOptions {@code null}: the defaults
   * @param options {@code null}: the defaults
   */
  public @NotNull TuneResult tune(
      @NotNull Model model, @Nullable SessionOptions sessionOptions, @Nullable TuneOptions options) {
    Check.notNull(model, "model");
    SessionOptions session = sessionOptions != null ? sessionOptions : new SessionOptions();
    TuneOptions tune = options != null ? options : new TuneOptions();
    return handle.get(device -> model.handle.get(network -> Native.tune(device, network, session, tune)));
  }

  /**
   * Computes small operators of every kind on the device and compares them with the host, as {@code vellum doctor} does:
   * seconds on a GPU, a minute on a CPU. Kernels that are wrong are in the result, they are no exception. Throws {@link
   * Status#CANCELLED} if the listener ends it, {@link Status#NOT_FOUND} if no operation has the name, {@link
   * Status#UNSUPPORTED} in a library that reads bundles alone.
   *
   * @param options {@code null}: the defaults
   */
  public @NotNull List<KernelCheck> checkKernels(@Nullable KernelCheckOptions options) {
    KernelCheckOptions given = options != null ? options : new KernelCheckOptions();
    return handle.get(device -> Collections.unmodifiableList(Arrays.asList(Native.checkKernels(device, given))));
  }

  /**
   * Computes each operator of a model that has a kernel on the device, in its own shapes and with the kernels of a session
   * with these options, and compares it with the host, as {@code vellum doctor MODEL} does. The host computes the whole
   * network: a second for 100 million multiplications. A {@link KernelCheck} is a layer, and {@link KernelCheckOptions#only}
   * a part of its name. Throws what a {@link Session} throws for this model, and what {@link #checkKernels} does.
   *
   * @param options {@code null}: the defaults
   * @param checkOptions {@code null}: the defaults
   */
  public @NotNull List<KernelCheck> checkLayers(
      @NotNull Model model, @Nullable SessionOptions options, @Nullable KernelCheckOptions checkOptions) {
    Check.notNull(model, "model");
    SessionOptions session = options != null ? options : new SessionOptions();
    KernelCheckOptions given = checkOptions != null ? checkOptions : new KernelCheckOptions();
    return handle.get(device -> model.handle.get(network ->
        Collections.unmodifiableList(Arrays.asList(Native.checkLayers(device, network, session, given)))));
  }

  /** The rates from published figures of the device's chip; {@code null}: it is not in the table. */
  public @Nullable DeviceRates knownRates() {
    return handle.get(Native::knownRates);
  }

  /**
   * What the driver did when an earlier process ended or lost the device, such as "compiled shader 'conv_window'". It is
   * not tried again: other kernels run in its place.
   */
  public @NotNull List<String> crashes() {
    return handle.get(device -> Collections.unmodifiableList(Arrays.asList(Native.crashes(device))));
  }

  /**
   * Forgets {@link #crashes()} and all results of first-use checks on this device: sessions that are made afterwards try
   * again.
   */
  public void forgetCrashes() {
    handle.use(Native::forgetCrashes);
  }

  /** Deletes everything that was measured on the device. */
  public void forgetTuning() {
    handle.use(Native::forgetTuning);
  }
}

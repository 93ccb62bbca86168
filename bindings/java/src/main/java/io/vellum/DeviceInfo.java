package io.vellum;

import org.jetbrains.annotations.NotNull;

/** A Vulkan device. A plain value. */
public final class DeviceInfo {
  // Set by native code.
  private String name;
  private String type;
  private String driver;
  private String apiVersion;
  private byte[] uuid;
  private int index;
  private int vendorId;
  private int deviceId;
  private boolean fp16Arithmetic;
  private float timestampPeriodNs;

  DeviceInfo() {}

  public @NotNull String name() {
    return name;
  }

  /** "discrete GPU", "integrated GPU", "virtual GPU", "CPU" or "other". */
  public @NotNull String type() {
    return type;
  }

  /** The driver's name and version. */
  public @NotNull String driver() {
    return driver;
  }

  /** "1.3.230" */
  public @NotNull String apiVersion() {
    return apiVersion;
  }

  /** Returns a copy of VkPhysicalDeviceIDProperties.deviceUUID, 16 bytes. */
  public byte @NotNull [] uuid() {
    return uuid.clone();
  }

  /** The number that {@link DeviceOptions#device} takes. */
  public int index() {
    return index;
  }

  /** VkPhysicalDeviceProperties.vendorID, 32 bits without a sign. */
  public int vendorId() {
    return vendorId;
  }

  /** VkPhysicalDeviceProperties.deviceID, 32 bits without a sign. */
  public int deviceId() {
    return deviceId;
  }

  /** Whether {@link Arithmetic#FP16} works. */
  public boolean fp16Arithmetic() {
    return fp16Arithmetic;
  }

  /** Nanoseconds; 0: the device has no times of layers. */
  public float timestampPeriodNs() {
    return timestampPeriodNs;
  }

  @Override
  public String toString() {
    return name + " (" + type + ", " + driver + ", Vulkan " + apiVersion + ")";
  }
}

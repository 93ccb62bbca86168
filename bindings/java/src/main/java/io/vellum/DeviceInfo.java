package io.vellum;

import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

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
  private byte[] luid;
  private int subgroupSize;
  private String preferredStorage;
  private String cooperativeMatrices;
  private int maxImageDimension2d;
  private int maxImageDimension3d;
  private long maxStorageBufferRange;

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

  /** Returns a copy of VkPhysicalDeviceIDProperties.deviceLUID, 8 bytes; {@code null}: the driver reports none. */
  public byte @Nullable [] luid() {
    return luid == null ? null : luid.clone();
  }

  /** 0: unknown, or subgroups may have fewer invocations. */
  public int subgroupSize() {
    return subgroupSize;
  }

  /** The meaning of {@link Storage#AUTO}: "image2d", "image3d" or "buffer". */
  public @NotNull String preferredStorage() {
    return preferredStorage;
  }

  /** The products of halves that it has, "KHR 16x16x16"; or "no: ..." with the reason. */
  public @NotNull String cooperativeMatrices() {
    return cooperativeMatrices;
  }

  /** Texels. */
  public int maxImageDimension2d() {
    return maxImageDimension2d;
  }

  public int maxImageDimension3d() {
    return maxImageDimension3d;
  }

  /** Bytes. */
  public long maxStorageBufferRange() {
    return maxStorageBufferRange;
  }

  @Override
  public String toString() {
    return name + " (" + type + ", " + driver + ", Vulkan " + apiVersion + ")";
  }
}

package io.vellum;

import org.jetbrains.annotations.NotNull;

/**
 * Device memory that sessions share for their intermediate tensors: for networks that follow one another, such as a detector
 * and a landmark model for each frame. Together they need as much as the largest of them; the results are the same bit for bit.
 * Give it to sessions of its device with {@link SessionOptions#memoryPool}. It lives as long as a session has it, also when it
 * is closed before. May be used from several threads at once.
 */
public final class MemoryPool extends NativeObject {
  private MemoryPool(long address, @NotNull Handle device) {
    super("memory pool", address, Native::poolDestroy, device, null);
  }

  /** Makes an empty pool; runs that overlap are done one after the other. */
  public static @NotNull MemoryPool create(@NotNull Device device) {
    return create(device, PoolOverlap.SERIALISE);
  }

  /** Makes an empty pool. */
  public static @NotNull MemoryPool create(@NotNull Device device, @NotNull PoolOverlap overlap) {
    Check.notNull(device, "device");
    Check.notNull(overlap, "overlap");
    return device.handle.get(d -> new MemoryPool(Native.poolCreate(d, overlap.ordinal()), device.handle));
  }

  /** The device memory that it has now. */
  public long bytes() {
    return handle.get(Native::poolBytes);
  }

  /** Frees the memory, except what runs under way use. It comes back with the next run of a session. */
  public void trim() {
    handle.use(Native::poolTrim);
  }
}

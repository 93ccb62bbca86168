package io.vellum.android;

import android.content.res.AssetManager;
import android.graphics.Bitmap;
import android.hardware.HardwareBuffer;
import android.view.Surface;
import java.nio.ByteBuffer;

/**
 * The functions of android.cpp. A `long` is an object that the caller ends with the matching function; a buffer is memory of
 * that object and must not be used afterwards.
 */
final class Native {
  static {
    io.vellum.Vellum.version(); // loads libvellum_jni
  }

  private Native() {}

  /** Null if there is no such asset. */
  static native ByteBuffer openAsset(AssetManager assets, String name, long[] asset);

  static native boolean assetIsMapped(long asset);

  static native void closeAsset(long asset);

  /** Returns {width, height, bytes from row to row} of a bitmap in RGBA; throws IllegalArgumentException for others. */
  static native int[] bitmapSize(Bitmap bitmap);

  /** The pixels, locked; null if they cannot be locked. */
  static native ByteBuffer lockBitmap(Bitmap bitmap);

  static native void unlockBitmap(Bitmap bitmap);

  /** Returns {width, height, bytes from row to row}; throws IllegalArgumentException if it is not RGBA. */
  static native int[] hardwareBufferSize(HardwareBuffer buffer);

  /**
   * Returns the address of a buffer of one layer, with a reference to it, and its {width, height} in `size`.
   */
  static native long acquireHardwareBuffer(HardwareBuffer buffer, int[] size);

  static native void releaseHardwareBuffer(long buffer);

  /** The pixels, locked for reading; null if they cannot be locked. */
  static native ByteBuffer lockHardwareBuffer(HardwareBuffer buffer);

  static native void unlockHardwareBuffer(HardwareBuffer buffer);

  /** Copies rows of RGBA to the next frame of a surface; false if the surface is gone. */
  static native boolean draw(Surface surface, ByteBuffer rgba, int offset, int width, int height, int rowBytes);

}

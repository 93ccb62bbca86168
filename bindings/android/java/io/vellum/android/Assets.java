package io.vellum.android;

import android.content.res.AssetManager;
import io.vellum.LoadLimits;
import io.vellum.Model;
import io.vellum.Status;
import io.vellum.VellumException;
import java.nio.ByteBuffer;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/**
 * Models in an application's assets. An asset that is stored uncompressed ({@code noCompress "vellum"} in the Gradle file) is
 * mapped; a compressed one is first unpacked to memory. A bundle there stays open and is read in place while the model or a
 * session needs it, if it begins at a multiple of 8 bytes; otherwise the library copies it once and the asset is closed.
 */
public final class Assets {
  private Assets() {}

  /** Throws {@link Status#NOT_FOUND} if there is no such asset. */
  public static @NotNull Model loadModel(@NotNull AssetManager assets, @NotNull String name) {
    return loadModel(assets, name, null);
  }

  /** The same. @param limits {@code null}: the defaults */
  public static @NotNull Model loadModel(@NotNull AssetManager assets, @NotNull String name, @Nullable LoadLimits limits) {
    long[] asset = {0};
    ByteBuffer bytes = open(assets, name, asset);
    return Model.lend(bytes, limits, () -> Native.closeAsset(asset[0]));
  }

  /** Returns whether the asset is stored uncompressed, so that it can be mapped. */
  public static boolean isMapped(@NotNull AssetManager assets, @NotNull String name) {
    long[] asset = {0};
    open(assets, name, asset);
    try {
      return Native.assetIsMapped(asset[0]);
    } finally {
      Native.closeAsset(asset[0]);
    }
  }

  private static ByteBuffer open(AssetManager assets, String name, long[] asset) {
    if (assets == null) throw new NullPointerException("assets is null");
    if (name == null) throw new NullPointerException("name is null");
    ByteBuffer bytes = Native.openAsset(assets, name, asset);
    if (bytes == null) throw new VellumException(Status.NOT_FOUND, "there is no asset '" + name + "'");
    return bytes;
  }
}

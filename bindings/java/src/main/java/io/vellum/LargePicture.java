package io.vellum;

import java.util.List;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/**
 * A network of local operators (super-resolution, denoising, segmentation by convolutions alone) made ready for pictures of one
 * size, which may be larger than any memory: it runs tile by tile over inputs and outputs that only the application holds, such
 * as files. Tiles overlap by what the layers read beyond them, so that there are no seams, and tiles of every size give the same
 * bits.
 *
 * <p>May be used from any thread; one run at a time. Device and model may be closed before it.
 */
public final class LargePicture extends NativeObject {
  private boolean running;

  private LargePicture(long address, @NotNull Handle device) {
    super("large picture", address, Native::largePictureDestroy, device, null);
  }

  /** Makes the network ready, with tiles as large as fit. */
  public static @NotNull LargePicture create(
      @NotNull Device device, @NotNull Model model, @Nullable SessionOptions options) {
    return create(device, model, options, 0, 0);
  }

  /**
   * Makes the network ready.
   *
   * @param options {@link SessionOptions#inputShape} has the shapes of the whole picture, {@link SessionOptions#memoryBudget}
   *     bounds the device memory; {@code null}: the defaults
   * @param tileHeight rows of the inputs that one tile reads; 0: as many as fit
   * @param tileWidth columns, likewise
   * @throws VellumException {@link Status#UNSUPPORTED}, naming the layer, for a network that is not local; {@link
   *     Status#OUT_OF_MEMORY} if no tile fits the memory budget
   */
  public static @NotNull LargePicture create(@NotNull Device device, @NotNull Model model, @Nullable SessionOptions options,
      long tileHeight, long tileWidth) {
    Check.notNull(device, "device");
    Check.notNull(model, "model");
    SessionOptions given = options != null ? options : new SessionOptions();
    return device.handle.get(
        d -> model.handle.get(
            m -> new LargePicture(
                given.withPool(() -> Native.largePictureCreate(d, m, given, tileHeight, tileWidth)), device.handle)));
  }

  /** The inputs, in the shapes of the whole picture. */
  public @NotNull List<TensorInfo> inputs() {
    return handle.get(picture -> Model.list(Native.largePictureTensors(picture, false)));
  }

  /** The outputs, likewise. */
  public @NotNull List<TensorInfo> outputs() {
    return handle.get(picture -> Model.list(Native.largePictureTensors(picture, true)));
  }

  public @NotNull PictureTiles tiles() {
    return handle.get(Native::largePictureTiles);
  }

  /** Returns the bytes of device memory that were allocated at most at a time; 0 without a memory budget. */
  public long peakBytes() {
    return handle.get(Native::largePicturePeakBytes);
  }

  /** Runs the network over the whole picture. */
  public void run(@NotNull RegionReader reader, @NotNull RegionWriter writer) {
    run(reader, writer, null);
  }

  /**
   * Runs the network over the whole picture.
   *
   * @throws IllegalStateException while another run is under way, such as in a call of {@code reader}
   */
  public void run(@NotNull RegionReader reader, @NotNull RegionWriter writer, @Nullable TileListener progress) {
    RegionCalls calls = new RegionCalls(Check.notNull(reader, "reader"), Check.notNull(writer, "writer"), progress);
    begin();
    try {
      handle.use(picture -> Native.largePictureRun(picture, calls));
    } finally {
      end();
    }
  }

  private synchronized void begin() {
    if (running) throw new IllegalStateException("a run of the large picture is under way");
    running = true;
  }

  private synchronized void end() {
    running = false;
  }
}

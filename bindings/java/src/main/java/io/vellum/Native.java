package io.vellum;

import java.nio.ByteBuffer;

/**
 * The functions of libvellum_jni, one for each of the C interface that is used. Addresses are of open objects: Handle sees to
 * that. Buffers are direct.
 */
final class Native {
  static {
    NativeLibrary.load();
  }

  private Native() {}

  static native int version();

  static native String defaultCacheFolder();

  // ---- Devices ----

  static native DeviceInfo[] devices();

  static native long deviceOpen(DeviceOptions options);

  static native void deviceDestroy(long device);

  static native DeviceInfo deviceInfo(long device);

  static native String deviceCaps(long device);

  static native long deviceValidationMessages(long device);

  static native TuneResult tune(long device, long model, SessionOptions sessionOptions, TuneOptions options);

  static native void forgetTuning(long device);

  static native KernelCheck[] checkKernels(long device, KernelCheckOptions options);

  // ---- Memory pools ----

  static native long poolCreate(long device, int overlap);

  static native void poolDestroy(long pool);

  static native long poolBytes(long pool);

  static native void poolTrim(long pool);

  // ---- Defaults of options ----

  static native void deviceDefaults(DeviceOptions options);

  static native void sessionDefaults(SessionOptions options);

  static native void loadDefaults(LoadLimits limits);

  static native void tuneDefaults(TuneOptions options);

  // ---- Models ----

  static native long modelLoad(String file, LoadLimits limits);

  static native long modelLoadBytes(ByteBuffer bytes, int offset, int count, LoadLimits limits);

  /** Calls `released` once when nothing needs the bytes any more, also if it throws. */
  static native long modelLend(ByteBuffer bytes, int offset, int count, LoadLimits limits, Runnable released);

  static native void modelDestroy(long model);

  static native TensorInfo[] modelTensors(long model, boolean outputs);

  static native long modelWithFrames(long model, String input, FrameInput frame);

  static native long modelWithPicture(long model, String output, PictureOutput picture);

  static native MemoryEstimate estimateMemory(long model, SessionOptions options, long device, String caps);

  static native Bundle writeBundle(String model, String file, long device, String caps, SessionOptions options);

  // ---- Sessions ----

  static native long sessionCreate(long device, long model, SessionOptions options);

  static native void sessionDestroy(long session);

  static native TensorInfo[] sessionTensors(long session, boolean outputs);

  static native String[] sessionWarnings(long session);

  static native void sessionPrepare(long session, String[] names, long[][] shapes);

  /** @param shape null: the input's current one */
  static native void sessionSetInput(long session, String name, long[] shape, ByteBuffer values, int offset, int count);

  static native void sessionRun(long session);

  static native void sessionTrim(long session, int level);

  static native void sessionGetOutput(long session, String name, ByteBuffer values, int offset, int count);

  static native MemoryReport sessionMemory(long session);

  static native LayerTime[] sessionLayers(long session);

  static native String sessionProfile(long session, String title, boolean trace);

  static native String sessionMemorySvg(long session, String title);

  /** The buffers are used from begin to capacity. Returns 0 where `wait` is false and no run can begin. */
  static native long sessionSubmit(long session, String[] inputs, long[][] shapes, ByteBuffer[] inputValues,
      String[] outputs, ByteBuffer[] outputValues, boolean wait);

  /** The same for a run that keeps all of its outputs. */
  static native long sessionSubmitAndKeep(long session, String[] inputs, long[][] shapes, ByteBuffer[] inputValues,
      boolean wait);

  static native long sessionCreateAsync(long device, long model, SessionOptions options);

  static native void creationDestroy(long creation);

  /** Returns {ready, total}. */
  static native long[] creationProgress(long creation);

  static native boolean creationWaitFor(long creation, int milliseconds);

  static native void creationCancel(long creation);

  static native long creationGet(long creation);

  // ---- Runs ----

  static native void runDestroy(long run);

  static native boolean runDone(long run);

  static native void runWait(long run);

  static native boolean runWaitFor(long run, int milliseconds);

  static native void runCancel(long run);

  static native Tensor runOutput(long run, String name);

  // ---- Frames: a transform is an array of 8, see FrameTransform ----

  static native double[] frameStretch(double frameWidth, double frameHeight, double networkWidth, double networkHeight);

  static native double[] frameLetterbox(double frameWidth, double frameHeight, double networkWidth, double networkHeight);

  static native double[] frameCenterCrop(double frameWidth, double frameHeight, double networkWidth, double networkHeight);

  static native double[] frameRotated(double centerX, double centerY, double width, double height, double angle,
      double networkWidth, double networkHeight);

  static native double[] frameRegion(double cornerX, double cornerY, double rightX, double rightY, double downX, double downY,
      double networkWidth, double networkHeight);

  static native double[] frameFlip(double[] transform, boolean across);

  static native double[] frameMap(double[] transform, double x, double y, boolean toFrame);

  static native float[] frameValues(double[] transform);

  static native long frameBytes(FrameInput frame);
}

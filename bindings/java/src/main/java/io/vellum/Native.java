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

  static native String[] crashes(long device);

  static native void forgetCrashes(long device);

  static native KernelCheck[] checkKernels(long device, KernelCheckOptions options);

  static native KernelCheck[] checkLayers(long device, long model, SessionOptions options, KernelCheckOptions checkOptions);

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

  /** signature: null for the file's default. */
  static native long modelLoad(String file, LoadLimits limits, String signature);

  static native long modelLoadBytes(ByteBuffer bytes, int offset, int count, LoadLimits limits, String signature);

  /** Calls `released` once when nothing needs the bytes any more, also if it throws. */
  static native long modelLend(ByteBuffer bytes, int offset, int count, LoadLimits limits, Runnable released);

  static native void modelDestroy(long model);

  static native String[] modelSignatures(long model);

  static native TensorInfo[] modelTensors(long model, boolean outputs);

  static native long modelWithFrames(long model, String input, FrameInput frame);

  static native long modelWithPicture(long model, String output, PictureOutput picture);

  static native MemoryEstimate estimateMemory(long model, SessionOptions options, long device, String caps);

  static native NodeInfo[] modelNodes(long model, String[] names, long[][] shapes);

  static native String describe(long model, String stage, SessionOptions options, long device, String caps);

  static native MemoryMeasurement measureMemory(String model, SessionOptions options, DeviceOptions device);

  static native String graphPasses();

  static native Bundle writeBundle(
      String model, String file, long device, String caps, SessionOptions options, BundleVariants variants);

  static native Bundle bundleInMemory(ByteBuffer model, int offset, int count, long device, String caps,
      SessionOptions options, BundleVariants variants);

  // ---- Memory plans and frontiers ----

  static native long planCreate(long model, SessionOptions options, long device, String caps);

  static native long planOfSession(long session);

  static native void planDestroy(long plan);

  static native MemoryReport planReport(long plan);

  static native TensorReport[] planTensors(long plan);

  static native String planSvg(long plan, String title);

  static native long frontierCreate(
      long model, SessionOptions options, long device, String caps, long[] budgets);

  static native void frontierDestroy(long frontier);

  static native FrontierPoint[] frontierPoints(long frontier);

  /** @param milliseconds null: as predicted */
  static native int frontierKnee(long frontier, double[] milliseconds);

  /** @param measured null: none */
  static native String frontierSvg(long frontier, String title, double[] measured);

  // ---- Kernel reports ----

  /** Null if the device's chip is not in the table. */
  static native DeviceRates knownRates(long device);

  /** @param rates null: the known ones */
  static native long kernelReport(
      long device, long model, SessionOptions options, DeviceRates rates, boolean representations);

  static native void kernelReportDestroy(long report);

  static native KernelPipeline[] kernelReportPipelines(long report);

  static native KernelDispatch[] kernelReportDispatches(long report);

  static native DeviceRates kernelReportRates(long report);

  // ---- Hardware buffers ----

  static native long hardwareFramesCreate(long session, String input, int most);

  static native void hardwareFramesDestroy(long frames);

  /** @param buffer an AHardwareBuffer */
  static native void hardwareFramesRun(long frames, long buffer, int width, int height);

  // ---- Large pictures ----

  static native long largePictureCreate(long device, long model, SessionOptions options, long tileHeight, long tileWidth);

  static native void largePictureDestroy(long picture);

  static native TensorInfo[] largePictureTensors(long picture, boolean outputs);

  static native PictureTiles largePictureTiles(long picture);

  static native long largePicturePeakBytes(long picture);

  static native void largePictureRun(long picture, RegionCalls calls);

  // ---- Halves ----

  static native void floatsFromHalves(ByteBuffer halves, float[] floats);

  static native void halvesFromFloats(float[] floats, ByteBuffer halves);

  // ---- Sessions ----

  static native long sessionCreate(long device, long model, SessionOptions options);

  static native void sessionDestroy(long session);

  static native TensorInfo[] sessionTensors(long session, boolean outputs);

  static native String[] sessionWarnings(long session);

  static native void sessionPrepare(long session, String[] names, long[][] shapes);

  /** @param shape null: the input's current one */
  static native void sessionSetInput(long session, String name, long[] shape, ByteBuffer values, int offset, int count);

  static native void sessionRun(long session);

  /** The names of all states: an input, its output, the next input, ... */
  static native String[] sessionStates(long session);

  static native void sessionResetState(long session);

  static native void sessionGetState(long session, String name, ByteBuffer values, int offset, int count);

  static native void sessionSetState(long session, String name, ByteBuffer values, int offset, int count);

  static native long sessionSaveState(long session);

  static native void sessionRestoreState(long session, long saved);

  static native void savedStateDestroy(long saved);

  static native long stepLoopCreate(long session, StepOptions options);

  static native void stepLoopDestroy(long loop);

  /** Returns the steps that ran, and whether they ended early. @param progress null: none */
  static native long[] stepLoopRun(
      long loop, long session, String[] names, long[][] shapes, ByteBuffer[] values, StepListener progress);

  static native Tensor stepLoopOutput(long loop, String name);

  static native void sessionTrim(long session, int level);

  static native void sessionGetOutput(long session, String name, ByteBuffer values, int offset, int count);

  static native MemoryReport sessionMemory(long session);

  static native LayerTime[] sessionLayers(long session);

  /** @param kernels a kernel report, or 0 */
  static native String sessionProfile(long session, String title, boolean trace, long kernels);

  /** Returns the dispatches, pipelines and barriers of one run. */
  static native long[] sessionCounts(long session);

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

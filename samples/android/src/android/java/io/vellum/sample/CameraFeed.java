package io.vellum.sample;

import android.annotation.SuppressLint;
import android.content.Context;
import android.graphics.ImageFormat;
import android.hardware.HardwareBuffer;
import android.hardware.SyncFence;
import android.hardware.camera2.CameraAccessException;
import android.hardware.camera2.CameraCaptureSession;
import android.hardware.camera2.CameraCharacteristics;
import android.hardware.camera2.CameraDevice;
import android.hardware.camera2.CameraManager;
import android.hardware.camera2.CaptureRequest;
import android.media.Image;
import android.media.ImageReader;
import android.os.Build;
import android.os.Handler;
import android.os.HandlerThread;
import android.view.Surface;
import io.vellum.android.YuvFrame;
import java.io.IOException;
import java.util.Arrays;

/** The camera at the back: a preview on a surface, and frames in YUV for Vellum. Its callbacks run on a thread of its own. */
final class CameraFeed implements AutoCloseable {
  static final int WIDTH = 640;
  static final int HEIGHT = 480;

  /** Called on the camera's thread; frames that come meanwhile are dropped. */
  interface Listener {
    /** Returns whether it took the frame where it is; otherwise {@link #onFrame} gets a copy. */
    boolean onBuffer(HardwareBuffer buffer, int degrees);

    void onFrame(YuvFrame frame, int degrees);

    void onFailure(String why);
  }

  private final Surface preview;
  private final Listener listener;
  private final HandlerThread thread = new HandlerThread("camera");
  private final Handler handler;
  private final ImageReader reader = makeReader();
  private final YuvFrame frame = new YuvFrame(WIDTH, HEIGHT);
  private CameraDevice camera; // of the camera's thread
  private boolean closed; // likewise
  private int degrees;

  @SuppressLint("MissingPermission") // the activity has asked for it
  CameraFeed(Context context, Surface preview, Listener listener) {
    this.preview = preview;
    this.listener = listener;
    thread.start();
    handler = new Handler(thread.getLooper());
    reader.setOnImageAvailableListener(source -> takeImage(), handler);
    try {
      CameraManager manager = context.getSystemService(CameraManager.class);
      manager.openCamera(backCamera(manager), new Opened(), handler);
    } catch (CameraAccessException | IllegalArgumentException failure) {
      listener.onFailure(String.valueOf(failure.getMessage()));
    }
  }

  @Override
  public void close() {
    handler.post(() -> {
      closed = true;
      if (camera != null) camera.close();
      reader.close();
      thread.quitSafely();
    });
  }

  private String backCamera(CameraManager manager) throws CameraAccessException {
    for (String id : manager.getCameraIdList()) {
      CameraCharacteristics about = manager.getCameraCharacteristics(id);
      Integer facing = about.get(CameraCharacteristics.LENS_FACING);
      if (facing == null || facing != CameraCharacteristics.LENS_FACING_BACK) continue;
      Integer orientation = about.get(CameraCharacteristics.SENSOR_ORIENTATION);
      degrees = orientation == null ? 0 : orientation;
      return id;
    }
    throw new IllegalArgumentException("this phone has no camera at its back");
  }

  private void takeImage() {
    if (closed) return;
    try (Image image = reader.acquireLatestImage()) {
      if (image == null || wasTaken(image))
        return;
      Image.Plane[] planes = image.getPlanes();
      frame.set(planes[0].getBuffer(), planes[0].getRowStride(), planes[1].getBuffer(), planes[2].getBuffer(),
          planes[1].getRowStride(), planes[1].getPixelStride());
    }
    listener.onFrame(frame, degrees);
  }

  /** Images that both the device and the host can read, where Android has such images. */
  private static ImageReader makeReader() {
    if (Build.VERSION.SDK_INT < Build.VERSION_CODES.Q)
      return ImageReader.newInstance(WIDTH, HEIGHT, ImageFormat.YUV_420_888, 2);
    return ImageReader.newInstance(WIDTH, HEIGHT, ImageFormat.YUV_420_888, Frames.MOST_BUFFERS,
        HardwareBuffer.USAGE_GPU_SAMPLED_IMAGE | HardwareBuffer.USAGE_CPU_READ_OFTEN);
  }

  private boolean wasTaken(Image image) {
    if (Build.VERSION.SDK_INT < Build.VERSION_CODES.Q)
      return false;
    try (HardwareBuffer buffer = image.getHardwareBuffer()) {
      if (buffer == null)
        return false;
      waitForCamera(image);
      return listener.onBuffer(buffer, degrees);
    }
  }

  /** Before Android 13 an image comes when the camera has written it. */
  private static void waitForCamera(Image image) {
    if (Build.VERSION.SDK_INT < Build.VERSION_CODES.TIRAMISU)
      return;
    try (SyncFence written = image.getFence()) {
      written.awaitForever();
    } catch (IOException none) {
      // There is nothing to wait for.
    }
  }

  private final class Opened extends CameraDevice.StateCallback {
    @Override
    @SuppressWarnings("deprecation") // what replaces createCaptureSession() begins with Android 9
    public void onOpened(CameraDevice device) {
      camera = device;
      if (closed) {
        device.close();
        return;
      }
      try {
        CaptureRequest.Builder request = device.createCaptureRequest(CameraDevice.TEMPLATE_PREVIEW);
        request.addTarget(preview);
        request.addTarget(reader.getSurface());
        device.createCaptureSession(Arrays.asList(preview, reader.getSurface()), new Configured(request.build()), handler);
      } catch (CameraAccessException | IllegalStateException failure) {
        listener.onFailure(String.valueOf(failure.getMessage()));
      }
    }

    @Override
    public void onDisconnected(CameraDevice device) {
      device.close();
    }

    @Override
    public void onError(CameraDevice device, int error) {
      device.close();
      listener.onFailure("the camera failed with error " + error);
    }
  }

  private final class Configured extends CameraCaptureSession.StateCallback {
    private final CaptureRequest request;

    Configured(CaptureRequest request) {
      this.request = request;
    }

    @Override
    public void onConfigured(CameraCaptureSession session) {
      try {
        session.setRepeatingRequest(request, null, handler);
      } catch (CameraAccessException | IllegalStateException failure) {
        listener.onFailure(String.valueOf(failure.getMessage()));
      }
    }

    @Override
    public void onConfigureFailed(CameraCaptureSession session) {
      listener.onFailure("the camera has no stream of " + WIDTH + " x " + HEIGHT);
    }
  }
}

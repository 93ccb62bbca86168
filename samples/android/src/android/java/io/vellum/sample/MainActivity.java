package io.vellum.sample;

import android.Manifest;
import android.app.Activity;
import android.content.Intent;
import android.content.pm.PackageManager;
import android.graphics.Bitmap;
import android.hardware.HardwareBuffer;
import android.os.Bundle;
import android.view.Gravity;
import android.view.Menu;
import android.view.MenuItem;
import android.view.SurfaceHolder;
import android.view.SurfaceView;
import android.widget.FrameLayout;
import io.vellum.Device;
import io.vellum.Status;
import io.vellum.Tensor;
import io.vellum.VellumException;
import io.vellum.android.Assets;
import io.vellum.android.YuvFrame;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/** The camera's picture with what the chosen task finds in it. The menu has the tasks and the two other pages. */
public final class MainActivity extends Activity implements SurfaceHolder.Callback, CameraFeed.Listener {
  private List<Task> tasks;
  private volatile int chosen;
  private MarksView marks;
  private SurfaceView preview;
  private CameraFeed camera;
  // These four are used by the camera's thread alone.
  private Device device;
  private Finder finder;
  private int opened = -1;
  private String importFailure; // why no frame is imported; null: nothing is known against it
  private static volatile String memory = "No network has run yet.";

  @Override
  protected void onCreate(Bundle state) {
    super.onCreate(state);
    tasks = AssetFiles.tasks(this);
    preview = new SurfaceView(this);
    preview.getHolder().addCallback(this);
    preview.getHolder().setFixedSize(CameraFeed.WIDTH, CameraFeed.HEIGHT);
    marks = new MarksView(this);
    FrameLayout layout = new FrameLayout(this);
    // The preview is upright in portrait: as high as the frame is wide.
    int width = getResources().getDisplayMetrics().widthPixels;
    FrameLayout.LayoutParams size =
        new FrameLayout.LayoutParams(width, width * CameraFeed.WIDTH / CameraFeed.HEIGHT, Gravity.CENTER_HORIZONTAL);
    layout.addView(preview, size);
    layout.addView(marks, new FrameLayout.LayoutParams(size));
    setContentView(layout);
    if (checkSelfPermission(Manifest.permission.CAMERA) != PackageManager.PERMISSION_GRANTED)
      requestPermissions(new String[] {Manifest.permission.CAMERA}, 0);
  }

  @Override
  public boolean onCreateOptionsMenu(Menu menu) {
    for (int i = 0; i < tasks.size(); ++i) menu.add(0, i, i, tasks.get(i).title);
    menu.add(1, 0, 100, "Memory");
    menu.add(2, 0, 101, "Benchmark");
    menu.add(3, 0, 102, "Export caps");
    return true;
  }

  @Override
  public boolean onOptionsItemSelected(MenuItem item) {
    if (item.getGroupId() == 0) chosen = item.getItemId();
    if (item.getGroupId() == 1) startActivity(new Intent(this, TextActivity.class).putExtra(TextActivity.TEXT, memory));
    if (item.getGroupId() == 2)
      startActivity(new Intent(this, BenchmarkActivity.class).putExtra(BenchmarkActivity.TASK, chosen));
    if (item.getGroupId() == 3) exportCaps();
    return true;
  }

  /** The device as JSON, from which bundles.sh writes the bundles for this phone. */
  private void exportCaps() {
    try (Device own = Device.open()) {
      Intent send = new Intent(Intent.ACTION_SEND).setType("application/json").putExtra(Intent.EXTRA_TEXT, own.caps());
      startActivity(Intent.createChooser(send, "Export caps"));
    } catch (VellumException failure) {
      onFailure(failure.getMessage());
    }
  }

  @Override
  public void onRequestPermissionsResult(int request, String[] permissions, int[] results) {
    if (preview.getHolder().getSurface().isValid()) surfaceCreated(preview.getHolder());
  }

  @Override
  public void surfaceCreated(SurfaceHolder holder) {
    if (camera == null && checkSelfPermission(Manifest.permission.CAMERA) == PackageManager.PERMISSION_GRANTED)
      camera = new CameraFeed(this, holder.getSurface(), this);
  }

  @Override
  public void surfaceChanged(SurfaceHolder holder, int format, int width, int height) {}

  @Override
  public void surfaceDestroyed(SurfaceHolder holder) {
    if (camera != null) camera.close();
    camera = null;
  }

  @Override
  public synchronized boolean onBuffer(
      HardwareBuffer buffer, int degrees) { // a feed that ends may overlap the next one's begin
    // Finders that cut out on the host need the bytes; so does a network that is not open yet.
    if (opened != chosen || importFailure != null || !(finder instanceof Recogniser))
      return false;
    Recogniser recogniser = (Recogniser) finder;
    try {
      search("without a copy",
          () -> recogniser.findImported(frames -> io.vellum.android.Frames.run(frames, buffer)));
    } catch (VellumException failure) {
      if (failure.status() != Status.UNSUPPORTED)
        onFailure(failure.getMessage());
      else
        importFailure = failure.getMessage();
    }
    return importFailure == null;
  }

  @Override
  public synchronized void onFrame(YuvFrame frame, int degrees) {
    try {
      if (opened != chosen) open(chosen, degrees);
      if (finder != null)
        search(
            importFailure == null ? "copied" : "copied: " + importFailure, () -> finder.find(frame.buffer()));
    } catch (VellumException failure) {
      onFailure(failure.getMessage());
    }
  }

  private void search(String how, Supplier<List<Mark>> find) {
    long begin = System.nanoTime();
    List<Mark> found = find.get();
    double milliseconds = (System.nanoTime() - begin) / 1e6;
    String status = String.format(Locale.ROOT, "%s, %.1f ms, %s", tasks.get(opened).title, milliseconds, how);
    Bitmap picture = bitmap(finder.picture());
    marks.post(() -> marks.show(found, picture, status));
  }

  /** A copy: the finder writes to the tensor again while the main thread draws. */
  private static Bitmap bitmap(Tensor picture) {
    if (picture == null) return null;
    long[] shape = picture.shape();
    Bitmap bitmap = Bitmap.createBitmap((int) shape[1], (int) shape[0], Bitmap.Config.ARGB_8888);
    bitmap.copyPixelsFromBuffer(picture.buffer());
    return bitmap;
  }

  @Override
  public void onFailure(String why) {
    marks.post(() -> marks.show(Collections.emptyList(), null, why));
  }

  private void open(int index, int degrees) {
    opened = index; // one that fails is not tried again for each frame
    if (finder != null) finder.close();
    finder = null;
    if (device == null) device = Device.open(AssetFiles.deviceOptions(this));
    Task task = tasks.get(index);
    Upright upright = new Upright(CameraFeed.WIDTH, CameraFeed.HEIGHT, degrees);
    Frames frames = new CameraFrames(CameraFeed.WIDTH, CameraFeed.HEIGHT);
    finder = task.open(device, name -> Assets.loadModel(getAssets(), name + ".vellum"), frames, upright);
    memory = task.title + "\n" + Reports.memory(finder.memory());
  }
}

package io.vellum.sample;

import android.app.Activity;
import android.content.Intent;
import android.os.Bundle;
import android.view.Menu;
import android.view.MenuItem;
import android.widget.TextView;
import io.vellum.Device;
import io.vellum.VellumException;
import io.vellum.android.Assets;
import io.vellum.android.YuvFrame;

/** Times 50 inferences of a task's first network on an empty frame, and shares the result as JSON. */
public final class BenchmarkActivity extends Activity {
  static final String TASK = "task";
  private static final int RUNS = 50;
  private static final int WARM_UP = 5;
  private TextView text;

  @Override
  protected void onCreate(Bundle state) {
    super.onCreate(state);
    text = new TextView(this);
    text.setTextIsSelectable(true);
    text.setText("Running\u2026");
    setContentView(text);
    Task task = AssetFiles.tasks(this).get(getIntent().getIntExtra(TASK, 0));
    new Thread(() -> {
      String json = measure(task);
      text.post(() -> text.setText(json));
    }, "benchmark").start();
  }

  @Override
  public boolean onCreateOptionsMenu(Menu menu) {
    menu.add("Export JSON");
    return true;
  }

  @Override
  public boolean onOptionsItemSelected(MenuItem item) {
    Intent send = new Intent(Intent.ACTION_SEND).setType("application/json");
    startActivity(Intent.createChooser(send.putExtra(Intent.EXTRA_TEXT, text.getText().toString()), "Export"));
    return true;
  }

  private String measure(Task task) {
    YuvFrame frame = new YuvFrame(CameraFeed.WIDTH, CameraFeed.HEIGHT);
    Frames frames = new CameraFrames(CameraFeed.WIDTH, CameraFeed.HEIGHT);
    Upright upright = new Upright(CameraFeed.WIDTH, CameraFeed.HEIGHT, 0);
    try (Device device = Device.open(AssetFiles.deviceOptions(this));
        Finder finder =
            task.open(device, name -> Assets.loadModel(getAssets(), name + ".vellum"), frames, upright)) {
      for (int i = 0; i < WARM_UP; ++i) finder.run(frame.buffer());
      long[] times = new long[RUNS];
      for (int i = 0; i < RUNS; ++i) {
        long begin = System.nanoTime();
        finder.run(frame.buffer());
        times[i] = System.nanoTime() - begin;
      }
      return Reports.benchmark(task.file, device.info(), finder.memory(), times);
    } catch (VellumException failure) {
      return "{\"model\": " + Reports.quoted(task.file) + ", \"error\": " + Reports.quoted(failure.getMessage()) + "}";
    }
  }
}

package io.vellum.sample;

import android.app.Activity;
import android.content.Intent;
import android.os.Bundle;
import android.view.Menu;
import android.view.MenuItem;
import android.widget.TextView;
import io.vellum.Device;
import io.vellum.Model;
import io.vellum.VellumException;
import io.vellum.android.Assets;
import io.vellum.android.YuvFrame;

/** Times 50 inferences of a network on an empty frame, and shares the result as JSON. */
public final class BenchmarkActivity extends Activity {
  static final String NETWORK = "network";
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
    Network network = AssetFiles.networks(this).get(getIntent().getIntExtra(NETWORK, 0));
    new Thread(() -> {
      String json = measure(network);
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

  private String measure(Network network) {
    YuvFrame frame = new YuvFrame(CameraFeed.WIDTH, CameraFeed.HEIGHT);
    Upright upright = new Upright(CameraFeed.WIDTH, CameraFeed.HEIGHT, 0);
    try (Device device = Device.open(AssetFiles.deviceOptions(this));
        Model model = Assets.loadModel(getAssets(), network.file + ".vellum");
        Recogniser recogniser = new Recogniser(device, model, network, frame.input(), upright)) {
      for (int i = 0; i < WARM_UP; ++i) recogniser.run(frame.buffer());
      long[] times = new long[RUNS];
      for (int i = 0; i < RUNS; ++i) {
        long begin = System.nanoTime();
        recogniser.run(frame.buffer());
        times[i] = System.nanoTime() - begin;
      }
      return Reports.benchmark(network.file, device.info(), recogniser.session().memory(), times);
    } catch (VellumException failure) {
      return "{\"model\": " + Reports.quoted(network.file) + ", \"error\": " + Reports.quoted(failure.getMessage()) + "}";
    }
  }
}

package io.vellum.sample;

import io.vellum.FrameInput;
import io.vellum.PictureOutput;
import io.vellum.Tensor;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** MediaPipe's selfie segmentation: how much of the picture is a person, and a green wall in the place of all else. */
final class Selfie extends Network {
  /** Opaque; the palette ends with nothing. */
  static final int WALL = 0xFF00B140;

  Selfie(String title, String file) {
    super(title, file, false);
  }

  @Override
  FrameInput normalise(FrameInput frame) {
    return frame.normalise(0, 1 / 255f);
  }

  @Override
  PictureOutput picture() {
    return new PictureOutput().palette(WALL, 0);
  }

  @Override
  List<Mark> decode(Map<String, Tensor> outputs, int side) {
    double sum = 0;
    float[] mask = outputs.values().iterator().next().toFloats();
    for (float share : mask) sum += Math.min(Math.max(share, 0), 1);
    float mean = (float) (sum / mask.length);
    String text = String.format(Locale.ROOT, "person: %.1f%%", 100 * mean);
    return Collections.singletonList(new Mark(Mark.Kind.NOTE, text, mean));
  }
}

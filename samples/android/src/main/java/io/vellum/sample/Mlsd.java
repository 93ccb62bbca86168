package io.vellum.sample;

import io.vellum.FrameInput;
import io.vellum.Tensor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** M-LSD line segments; the same as samples/line_detection in C++, which names the sources. */
final class Mlsd extends Network {
  private static final float LEAST_SCORE = 0.2f;
  private static final float LEAST_LENGTH = 0.06f;
  private static final int MOST_LINES = 200;

  Mlsd(String title, String file) {
    super(title, file, false);
  }

  /** Pixels as they are, and a fourth channel of ones. */
  @Override
  FrameInput normalise(FrameInput frame) {
    return frame.normalise(new float[4], new float[] {1, 1, 1, 1 / 255f});
  }

  @Override
  List<Mark> decode(Map<String, Tensor> outputs, int side) {
    int cells = side / 2;
    float[] scores = output(outputs, 1, cells, cells, 1);
    float[] ends = output(outputs, 1, cells, cells, 4);
    List<Mark> lines = new ArrayList<>();
    for (int i = 0; i < scores.length; ++i) {
      if (!(scores[i] >= LEAST_SCORE)) continue;
      float x = i % cells;
      float y = i / cells;
      float[] points = {(x + ends[4 * i]) / cells, (y + ends[4 * i + 1]) / cells,
          (x + ends[4 * i + 2]) / cells, (y + ends[4 * i + 3]) / cells};
      if (finite(points) && Math.hypot(points[2] - points[0], points[3] - points[1]) >= LEAST_LENGTH)
        lines.add(new Mark(Mark.Kind.LINE, "", scores[i], points));
    }
    Collections.sort(lines, (a, b) -> Float.compare(b.score, a.score));
    return lines.size() > MOST_LINES ? lines.subList(0, MOST_LINES) : lines;
  }
}

package io.vellum.sample;

import io.vellum.FrameInput;
import io.vellum.Tensor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** SSD-MobileNetV2; the same as samples/object_detection in C++, which names the sources. */
final class Ssd extends Network {
  private static final int GRIDS = 6;
  private static final float LEAST_SCORE = 0.5f;
  private static final float SAME_OBJECT = 0.5f;
  private final List<String> labels;

  /** @param labels the first is for no object */
  Ssd(String title, String file, List<String> labels) {
    super(title, file, false);
    this.labels = labels;
  }

  @Override
  FrameInput normalise(FrameInput frame) {
    return frame.normalise(127.5f, 1 / 127.5f);
  }

  @Override
  List<Mark> decode(Map<String, Tensor> outputs, int side) {
    List<float[]> anchors = anchors(side);
    float[] codes = output(outputs, 1, anchors.size(), 4);
    float[] logits = output(outputs, 1, anchors.size(), labels.size());
    List<Mark> objects = new ArrayList<>();
    for (int i = 0; i < anchors.size(); ++i) {
      int best = 1;
      for (int label = 2; label < labels.size(); ++label)
        if (logits[i * labels.size() + label] > logits[i * labels.size() + best]) best = label;
      float score = sigmoid(logits[i * labels.size() + best]);
      float[] box = box(codes, 4 * i, anchors.get(i));
      if (score >= LEAST_SCORE && finite(box)) objects.add(new Mark(Mark.Kind.BOX, labels.get(best), score, box));
    }
    return suppress(objects);
  }

  private static float[] box(float[] code, int at, float[] anchor) {
    float x = anchor[0] + code[at + 1] / 10 * anchor[2];
    float y = anchor[1] + code[at] / 10 * anchor[3];
    float halfWidth = (float) Math.exp(code[at + 3] / 5) * anchor[2] / 2;
    float halfHeight = (float) Math.exp(code[at + 2] / 5) * anchor[3] / 2;
    return new float[] {x - halfWidth, y - halfHeight, x + halfWidth, y + halfHeight};
  }

  /** Centre, width and height of each: 1917 for 300 pixels. */
  private static List<float[]> anchors(int side) {
    List<float[]> anchors = new ArrayList<>();
    for (int grid = 0; grid < GRIDS; ++grid) {
      int stride = 16 << grid;
      int cells = (side + stride - 1) / stride;
      for (int cell = 0; cell < cells * cells; ++cell)
        for (float[] size : sizes(grid)) {
          float root = (float) Math.sqrt(size[1]);
          anchors.add(new float[] {(cell % cells + 0.5f) / cells, (cell / cells + 0.5f) / cells, size[0] * root, size[0] / root});
        }
    }
    return anchors;
  }

  /** Scale, and width over height. */
  private static float[][] sizes(int grid) {
    float scale = scale(grid);
    if (grid == 0) return new float[][] {{0.1f, 1}, {scale, 2}, {scale, 0.5f}};
    float between = (float) Math.sqrt(scale * scale(grid + 1));
    return new float[][] {{scale, 1}, {scale, 2}, {scale, 0.5f}, {scale, 3}, {scale, 0.3333f}, {between, 1}};
  }

  private static float scale(int grid) {
    return grid < GRIDS ? 0.2f + 0.75f * grid / (GRIDS - 1) : 1;
  }

  private static List<Mark> suppress(List<Mark> objects) {
    Collections.sort(objects, (a, b) -> Float.compare(b.score, a.score));
    List<Mark> kept = new ArrayList<>();
    for (Mark object : objects) {
      boolean covered = false;
      for (Mark better : kept) covered |= overlap(better.points, object.points) > SAME_OBJECT;
      if (!covered) kept.add(object);
    }
    return kept;
  }
}

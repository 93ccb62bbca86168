package io.vellum.sample;

import io.vellum.FrameInput;
import io.vellum.Tensor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** MediaPipe's face detection; the same as samples/face_detection in C++, which names the sources. */
final class BlazeFace extends Network {
  private static final int VALUES = 16;
  private static final float LEAST_SCORE = 0.5f;
  private static final float SAME_FACE = 0.3f;

  BlazeFace(String title, String file) {
    super(title, file, true);
  }

  @Override
  FrameInput normalise(FrameInput frame) {
    return frame.normalise(127.5f, 1 / 127.5f);
  }

  @Override
  List<Mark> decode(Map<String, Tensor> outputs, int side) {
    List<Mark> faces = new ArrayList<>();
    float[] scores = outputOrNull(outputs, 1, 896, 1);
    if (scores != null) { // a TFLite model has both grids in one output
      float[] boxes = output(outputs, 1, 896, VALUES);
      decodeGrid(16, 2, scores, boxes, 0, side, faces);
      decodeGrid(8, 6, scores, boxes, 512, side, faces);
    } else {
      decodeGrid(16, 2, output(outputs, 1, 512, 1), output(outputs, 1, 512, VALUES), 0, side, faces);
      decodeGrid(8, 6, output(outputs, 1, 384, 1), output(outputs, 1, 384, VALUES), 0, side, faces);
    }
    return merge(faces);
  }

  private static void decodeGrid(int cells, int perCell, float[] scores, float[] boxes, int first, int side, List<Mark> faces) {
    for (int i = 0; i < cells * cells * perCell; ++i) {
      float score = sigmoid(scores[first + i]);
      int cell = i / perCell;
      float[] points = points(boxes, (first + i) * VALUES, (cell % cells + 0.5f) / cells, (cell / cells + 0.5f) / cells, side);
      if (score >= LEAST_SCORE && finite(points)) faces.add(new Mark(Mark.Kind.BOX, "face", score, points));
    }
  }

  /** Two corners and six keypoints, relative to the centre of the anchor's cell. */
  private static float[] points(float[] box, int at, float anchorX, float anchorY, float side) {
    float[] points = new float[VALUES];
    float x = anchorX + box[at] / side;
    float y = anchorY + box[at + 1] / side;
    float halfWidth = box[at + 2] / side / 2;
    float halfHeight = box[at + 3] / side / 2;
    points[0] = x - halfWidth;
    points[1] = y - halfHeight;
    points[2] = x + halfWidth;
    points[3] = y + halfHeight;
    for (int i = 4; i < VALUES; i += 2) {
      points[i] = anchorX + box[at + i] / side;
      points[i + 1] = anchorY + box[at + i + 1] / side;
    }
    return points;
  }

  /** Weighted non-maximum suppression: the best face becomes the average of all that overlap it, by score. */
  private static List<Mark> merge(List<Mark> faces) {
    Collections.sort(faces, (a, b) -> Float.compare(b.score, a.score));
    List<Mark> merged = new ArrayList<>();
    while (!faces.isEmpty()) {
      Mark best = faces.get(0);
      List<Mark> same = new ArrayList<>();
      List<Mark> others = new ArrayList<>();
      for (Mark face : faces)
        (face == best || overlap(best.points, face.points) > SAME_FACE ? same : others).add(face);
      merged.add(average(same));
      faces = others;
    }
    return merged;
  }

  private static Mark average(List<Mark> faces) {
    float total = 0;
    for (Mark face : faces) total += face.score;
    float[] points = new float[VALUES];
    for (Mark face : faces)
      for (int i = 0; i < VALUES; ++i) points[i] += face.score / total * face.points[i];
    return new Mark(Mark.Kind.BOX, "face", faces.get(0).score, points);
  }
}

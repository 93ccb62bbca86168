package io.vellum.sample;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.List;

/** Decodes PP-OCR's detection map to lines of text; the same as samples/ocr/text_lines in C++, which names the sources. */
final class TextLines {
  private static final float LEAST_PIXEL = 0.3f;
  private static final float LEAST_LINE = 0.6f;
  private static final float GROWTH = 1.6f;
  private static final int LEAST_PIXELS = 9;

  private TextLines() {}

  /** A line, possibly turned. */
  static final class Line {
    /** Mean probability of its core. */
    final float score;
    /** x, y of top left, top right, bottom right and bottom left in the direction of reading. */
    final float[] corners;

    Line(float score, float[] corners) {
      this.score = score;
      this.corners = corners;
    }

    float width() {
      return distance(corners, 0, 1);
    }

    float height() {
      return distance(corners, 0, 3);
    }

    float middle(int axis) {
      return (corners[axis] + corners[4 + axis]) / 2;
    }
  }

  /** Lines in reading order. map: [height][width] of probabilities. */
  static List<Line> find(float[] map, int width, int height) {
    boolean[] seen = new boolean[map.length];
    List<Line> lines = new ArrayList<>();
    for (int i = 0; i < map.length; ++i) {
      if (seen[i] || !(map[i] >= LEAST_PIXEL)) continue;
      Line line = lineFrom(map, width, height, i, seen);
      if (line != null && line.score >= LEAST_LINE) lines.add(line);
    }
    return inReadingOrder(lines);
  }

  /** Collects eight-connected pixels, the core of a line; null if they are fewer than a letter has. */
  private static Line lineFrom(float[] map, int width, int height, int start, boolean[] seen) {
    List<float[]> pixels = new ArrayList<>();
    Deque<Integer> open = new ArrayDeque<>(Collections.singletonList(start));
    seen[start] = true;
    double sum = 0;
    while (!open.isEmpty()) {
      int at = open.pop();
      int x = at % width;
      int y = at / width;
      sum += map[at];
      pixels.add(new float[] {x, y});
      for (int v = Math.max(y - 1, 0); v <= Math.min(y + 1, height - 1); ++v)
        for (int u = Math.max(x - 1, 0); u <= Math.min(x + 1, width - 1); ++u) {
          int next = v * width + u;
          if (seen[next] || !(map[next] >= LEAST_PIXEL)) continue;
          seen[next] = true;
          open.push(next);
        }
    }
    return pixels.size() < LEAST_PIXELS ? null : new Line((float) (sum / pixels.size()), grown(leastRectangle(hull(pixels))));
  }

  /** Andrew's monotone chain, without the last point again. */
  private static List<float[]> hull(List<float[]> points) {
    points.sort((a, b) -> a[0] != b[0] ? Float.compare(a[0], b[0]) : Float.compare(a[1], b[1]));
    List<float[]> hull = new ArrayList<>();
    for (int pass = 0; pass < 2; ++pass) {
      int base = hull.size();
      for (float[] point : points) {
        while (hull.size() >= base + 2 && turn(hull.get(hull.size() - 2), hull.get(hull.size() - 1), point) <= 0)
          hull.remove(hull.size() - 1);
        hull.add(point);
      }
      if (hull.size() > 1) hull.remove(hull.size() - 1);
      Collections.reverse(points);
    }
    return hull;
  }

  private static float turn(float[] a, float[] b, float[] c) {
    return (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]);
  }

  /** A rectangle along an axis: from..to along it, low..high across it. */
  private static final class Rectangle {
    final float axisX;
    final float axisY;
    float from = Float.POSITIVE_INFINITY;
    float to = Float.NEGATIVE_INFINITY;
    float low = Float.POSITIVE_INFINITY;
    float high = Float.NEGATIVE_INFINITY;

    Rectangle(List<float[]> hull, float axisX, float axisY) {
      this.axisX = axisX;
      this.axisY = axisY;
      for (float[] point : hull) {
        float along = point[0] * axisX + point[1] * axisY;
        float across = axisX * point[1] - axisY * point[0];
        from = Math.min(from, along);
        to = Math.max(to, along);
        low = Math.min(low, across);
        high = Math.max(high, across);
      }
    }

    float area() {
      return (to - from) * (high - low);
    }

    /** The corner in pixels, whose centres are at halves. */
    void put(float along, float across, float[] corners, int index) {
      corners[2 * index] = along * axisX - across * axisY + 0.5f;
      corners[2 * index + 1] = along * axisY + across * axisX + 0.5f;
    }
  }

  /** One side of the least rectangle around a convex polygon is along a side of the polygon. */
  private static Rectangle leastRectangle(List<float[]> hull) {
    Rectangle best = new Rectangle(hull, 1, 0);
    for (int i = 0; i < hull.size(); ++i) {
      float[] begin = hull.get(i);
      float[] end = hull.get((i + 1) % hull.size());
      float length = (float) Math.hypot(end[0] - begin[0], end[1] - begin[1]);
      if (length < 1e-6f) continue;
      Rectangle box = new Rectangle(hull, (end[0] - begin[0]) / length, (end[1] - begin[1]) / length);
      if (box.area() < best.area()) best = box;
    }
    return best;
  }

  /** The map has shrunken cores. Pixels have an extent of their own: half of one beyond each outermost centre. */
  private static float[] grown(Rectangle box) {
    float width = box.to - box.from + 1;
    float height = box.high - box.low + 1;
    float margin = GROWTH * width * height / (2 * (width + height));
    float[] corners = new float[8];
    box.put(box.from - margin, box.low - margin, corners, 0);
    box.put(box.to + margin, box.low - margin, corners, 1);
    box.put(box.to + margin, box.high + margin, corners, 2);
    box.put(box.from - margin, box.high + margin, corners, 3);
    // The text runs along the longer side, from left to right or from top to bottom.
    if (height > width) corners = rotated(corners, 1);
    float alongX = corners[2] - corners[0];
    float alongY = corners[3] - corners[1];
    boolean backwards = Math.abs(alongX) >= Math.abs(alongY) ? alongX < 0 : alongY < 0;
    return backwards ? rotated(corners, 2) : corners;
  }

  private static float[] rotated(float[] corners, int first) {
    float[] result = Arrays.copyOfRange(corners, 2 * first, 2 * first + 8);
    System.arraycopy(corners, 0, result, 8 - 2 * first, 2 * first);
    return result;
  }

  /** Rows first: a line belongs to the row whose first line's middle is within half a height of its own. */
  private static List<Line> inReadingOrder(List<Line> lines) {
    lines.sort((a, b) -> Float.compare(a.middle(1), b.middle(1)));
    for (int row = 0; row < lines.size(); ) {
      float limit = lines.get(row).middle(1) + lines.get(row).height() / 2;
      int end = row;
      while (end < lines.size() && lines.get(end).middle(1) <= limit) ++end;
      lines.subList(row, end).sort((a, b) -> Float.compare(a.middle(0), b.middle(0)));
      row = end;
    }
    return lines;
  }

  private static float distance(float[] corners, int a, int b) {
    return (float) Math.hypot(corners[2 * a] - corners[2 * b], corners[2 * a + 1] - corners[2 * b + 1]);
  }
}

package io.vellum.sample;

/** What a network has found. Points are fractions of its input, 0..1 from the top left corner, until a Recogniser maps them. */
final class Mark {
  enum Kind {
    /** The first two points are corners; further ones are marked in it. */
    BOX,
    /** Two points. */
    LINE,
    /** Any number of points. */
    POINTS,
    /** Text about the whole picture; no points. */
    NOTE
  }

  final Kind kind;
  final String label;
  final float score;
  /** x, y, x, y, ... */
  final float[] points;

  Mark(Kind kind, String label, float score, float... points) {
    this.kind = kind;
    this.label = label;
    this.score = score;
    this.points = points;
  }
}

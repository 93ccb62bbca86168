package io.vellum.sample;

import android.content.Context;
import android.graphics.Bitmap;
import android.graphics.Canvas;
import android.graphics.Color;
import android.graphics.Paint;
import android.graphics.Rect;
import android.view.View;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** Draws what was found over the preview. */
final class MarksView extends View {
  private final Paint lines = new Paint(Paint.ANTI_ALIAS_FLAG);
  private final Paint text = new Paint(Paint.ANTI_ALIAS_FLAG);
  private List<Mark> marks = Collections.emptyList();
  private String status = "";
  private final Paint smooth = new Paint(Paint.FILTER_BITMAP_FLAG);
  private Bitmap picture;

  MarksView(Context context) {
    super(context);
    float density = context.getResources().getDisplayMetrics().density;
    lines.setStyle(Paint.Style.STROKE);
    lines.setStrokeWidth(2 * density);
    lines.setColor(Color.GREEN);
    text.setTextSize(16 * density);
    text.setColor(Color.GREEN);
  }

  /** On the main thread. over: covers the whole preview; null: nothing does. */
  void show(List<Mark> found, Bitmap over, String about) {
    marks = found;
    picture = over;
    status = about;
    invalidate();
  }

  @Override
  protected void onDraw(Canvas canvas) {
    if (picture != null) canvas.drawBitmap(picture, null, new Rect(0, 0, getWidth(), getHeight()), smooth);
    float line = text.getTextSize();
    canvas.drawText(status, line / 2, 1.5f * line, text);
    float note = 3 * line;
    for (Mark mark : marks) {
      if (mark.kind == Mark.Kind.NOTE) {
        canvas.drawText(mark.label, line / 2, note, text);
        note += 1.5f * line;
      } else {
        draw(canvas, mark);
      }
    }
  }

  private void draw(Canvas canvas, Mark mark) {
    float[] points = mark.points.clone();
    for (int i = 0; i < points.length; i += 2) {
      points[i] *= getWidth();
      points[i + 1] *= getHeight();
    }
    if (mark.kind == Mark.Kind.LINE) {
      canvas.drawLine(points[0], points[1], points[2], points[3], lines);
      return;
    }
    if (mark.kind == Mark.Kind.POINTS) {
      canvas.drawPoints(points, lines);
      return;
    }
    // A turned frame may have turned the corners' order.
    float left = Math.min(points[0], points[2]);
    float top = Math.min(points[1], points[3]);
    canvas.drawRect(left, top, Math.max(points[0], points[2]), Math.max(points[1], points[3]), lines);
    canvas.drawText(String.format(Locale.ROOT, "%s %.2f", mark.label, mark.score), left, top - 4, text);
    for (int i = 4; i < points.length; i += 2) canvas.drawCircle(points[i], points[i + 1], lines.getStrokeWidth(), lines);
  }
}

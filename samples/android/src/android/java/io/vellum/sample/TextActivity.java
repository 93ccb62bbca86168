package io.vellum.sample;

import android.app.Activity;
import android.graphics.Typeface;
import android.os.Bundle;
import android.widget.ScrollView;
import android.widget.TextView;

/** A page of text: the memory of a session and how often each object is used again. */
public final class TextActivity extends Activity {
  static final String TEXT = "text";

  @Override
  protected void onCreate(Bundle state) {
    super.onCreate(state);
    TextView text = new TextView(this);
    text.setTypeface(Typeface.MONOSPACE);
    text.setTextIsSelectable(true);
    text.setText(getIntent().getStringExtra(TEXT));
    ScrollView page = new ScrollView(this);
    page.addView(text);
    setContentView(page);
  }
}

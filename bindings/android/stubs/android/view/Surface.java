package android.view;

/** Compile-time only: Android has the class. io.vellum.android passes its objects on to native code and calls no method. */
public class Surface {
  private Surface() {}
}

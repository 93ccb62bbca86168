package io.vellum;

/** What native code calls. Nothing is thrown back into it. */
final class Callbacks {
  private Callbacks() {}

  static void log(LogListener listener, int level, String message) {
    try {
      listener.log(LogLevel.values()[level], message);
    } catch (Throwable ignored) {
      // The listener's own; the driver's thread that logs could do nothing with it.
    }
  }

  static boolean goOn(KernelCheckListener listener, long done, long total) {
    try {
      return listener.progress(done, total);
    } catch (Throwable ignored) {
      return true;
    }
  }

  static void run(Runnable callback) {
    try {
      callback.run();
    } catch (Throwable ignored) {
      // As above.
    }
  }

  static void progress(TuneListener listener, String step, long done, long total) {
    try {
      listener.progress(step, done, total);
    } catch (Throwable ignored) {
      // As above.
    }
  }

  static boolean shouldStop(TuneListener listener) {
    try {
      return listener.shouldStop();
    } catch (Throwable ignored) {
      return false;
    }
  }
}

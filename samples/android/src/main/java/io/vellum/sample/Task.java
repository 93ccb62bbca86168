package io.vellum.sample;

import io.vellum.Device;
import io.vellum.Model;
import java.util.function.Function;

/** What the app can find in a frame: an entry of the menu. */
abstract class Task {
  /** For the menu. */
  final String title;
  /** The file name of its model, or of the last of them, without the extension. */
  final String file;

  Task(String title, String file) {
    this.title = title;
    this.file = file;
  }

  /**
   * Makes its sessions.
   *
   * @param models returns a model by its file name without the extension; the caller closes it
   * @param frames what the finder will get
   */
  abstract Finder open(Device device, Function<String, Model> models, Frames frames, Upright upright);
}

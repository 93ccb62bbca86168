package io.vellum.sample;

import io.vellum.Device;
import io.vellum.FrameFilter;
import io.vellum.FrameInput;
import io.vellum.Model;
import io.vellum.PictureOutput;
import io.vellum.SessionOptions;
import io.vellum.Tensor;
import io.vellum.TensorInfo;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** A network of the samples: what it reads of a frame, and what its outputs mean. Plain values, for any thread. */
abstract class Network extends Task {
  static final String PICTURE = "picture";

  /** Whether the frame keeps its proportions; otherwise it is stretched to the network's input. */
  final boolean keepsProportions;

  Network(String title, String file, boolean keepsProportions) {
    super(title, file);
    this.keepsProportions = keepsProportions;
  }

  @Override
  final Finder open(Device device, Function<String, Model> models, Frames frames, Upright upright) {
    return open(device, models, frames, upright, new SessionOptions());
  }

  final Recogniser open(Device device, Function<String, Model> models, Frames frames, Upright upright,
      SessionOptions options) {
    try (Model model = models.apply(file)) {
      return new Recogniser(device, model, this, frames.get(), upright, options);
    }
  }

  /** Sets how pixels become the network's values. */
  abstract FrameInput normalise(FrameInput frame);

  /** The picture that the device makes of the first output beside its values, named {@link #PICTURE}; null: none. */
  PictureOutput picture() {
    return null;
  }

  /** Returns what was found, the best first. side: of the network's input, in pixels. */
  abstract List<Mark> decode(Map<String, Tensor> outputs, int side);

  final FrameInput read(FrameInput frame) {
    return normalise(frame.filter(FrameFilter.AREA));
  }

  /** Returns {width, height} of an input [1, height, width, channels]. */
  static int[] size(TensorInfo input) {
    long[] shape = input.shape();
    if (shape.length != 4 || shape[3] > 4) throw new IllegalArgumentException(input + " is no picture");
    return new int[] {(int) shape[2], (int) shape[1]};
  }

  /** Outputs are identified by their shapes, not by names that a converter chose. */
  static float[] output(Map<String, Tensor> outputs, long... shape) {
    float[] values = outputOrNull(outputs, shape);
    if (values == null) throw new IllegalArgumentException("the model has no output " + Arrays.toString(shape));
    return values;
  }

  static float[] outputOrNull(Map<String, Tensor> outputs, long... shape) {
    for (Tensor tensor : outputs.values()) if (Arrays.equals(tensor.shape(), shape)) return tensor.toFloats();
    return null;
  }

  static float sigmoid(float logit) {
    return (float) (1 / (1 + Math.exp(-logit)));
  }

  static boolean finite(float... values) {
    for (float value : values) if (Float.isNaN(value) || Float.isInfinite(value)) return false;
    return true;
  }

  /** Intersection over union of two boxes; 0 if neither has an area. */
  static float overlap(float[] a, float[] b) {
    float common =
        area(Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3]));
    float both = area(a[0], a[1], a[2], a[3]) + area(b[0], b[1], b[2], b[3]) - common;
    return both > 0 ? common / both : 0;
  }

  private static float area(float left, float top, float right, float bottom) {
    return Math.max(right - left, 0) * Math.max(bottom - top, 0);
  }
}

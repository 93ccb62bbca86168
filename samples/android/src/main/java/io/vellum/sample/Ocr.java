package io.vellum.sample;

import io.vellum.Device;
import io.vellum.FrameTransform;
import io.vellum.MemoryPool;
import io.vellum.MemoryReport;
import io.vellum.Model;
import io.vellum.Session;
import io.vellum.SessionOptions;
import io.vellum.Status;
import io.vellum.Tensor;
import io.vellum.TensorInfo;
import io.vellum.VellumException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;

/** PP-OCR: finds lines of text and reads them; the same as samples/ocr in C++. Pictures and strips are cut out on the host. */
final class Ocr extends Task {
  private static final String DETECTOR = "ch_PP-OCRv4_det_infer";
  /** Strips are padded to whole steps, so that lines of a similar length share a session. */
  private static final int STRIP_STEP = 320;
  private static final int LONGEST_STRIP = 5 * STRIP_STEP;
  /** That of the bundle: a library that compiles no shader has none for the others. */
  private static final int BUNDLED_STRIP = 3 * STRIP_STEP;
  private static final int STRIP_HEIGHT = 48;
  private static final float LEAST_CONFIDENCE = 0.5f;
  private static final float[] DETECTOR_MEAN = {255 * 0.485f, 255 * 0.456f, 255 * 0.406f};
  private static final float[] DETECTOR_SCALE = {1 / (255 * 0.229f), 1 / (255 * 0.224f), 1 / (255 * 0.225f)};
  private static final float[] READER_MEAN = {127.5f, 127.5f, 127.5f};
  private static final float[] READER_SCALE = {1 / 127.5f, 1 / 127.5f, 1 / 127.5f};

  private final List<String> characters;

  /** @param characters of the reader's classes from the second one on; a blank is the last */
  Ocr(String title, List<String> characters) {
    super(title, "ch_PP-OCRv4_rec_infer");
    this.characters = characters;
  }

  @Override
  Finder open(Device device, Function<String, Model> models, Frames frames, Upright upright) {
    try (MemoryPool pool = MemoryPool.create(device);
        Model detector = models.apply(DETECTOR);
        Model reader = models.apply(file)) {
      return new Reader(device, detector, reader, pool, frames, upright);
    }
  }

  /** Text and its mean probability. The best class of each step; a class that repeats counts once, the first is no character. */
  Mark spell(float[] probabilities, float[] corners) {
    int classes = characters.size() + 2;
    StringBuilder text = new StringBuilder();
    float sum = 0;
    int count = 0;
    int last = 0;
    for (int step = 0; step + classes <= probabilities.length; step += classes) {
      int best = 0;
      for (int i = 1; i < classes; ++i) if (probabilities[step + i] > probabilities[step + best]) best = i;
      if (best != 0 && best != last) {
        text.append(best <= characters.size() ? characters.get(best - 1) : " ");
        sum += probabilities[step + best];
        ++count;
      }
      last = best;
    }
    return new Mark(Mark.Kind.BOX, text.toString(), count > 0 ? sum / count : 0, corners);
  }

  private final class Reader implements Finder {
    private final Upright upright;
    private final Cutout cutout;
    private final FrameTransform picture;
    private final Session detector;
    private final Session reader;
    private boolean takesAllWidths = true;

    Reader(Device device, Model detectorModel, Model readerModel, MemoryPool pool, Frames frames, Upright upright) {
      this.upright = upright;
      cutout = new Cutout(frames, upright.width, upright.height);
      boolean sideways = upright.degrees % 180 != 0;
      int width = detectorSize(sideways ? upright.height : upright.width);
      int height = detectorSize(sideways ? upright.width : upright.height);
      picture = upright.transform(false, width, height);
      reader = session(device, readerModel, pool, STRIP_HEIGHT, BUNDLED_STRIP);
      try {
        long[] shape = reader.outputs().get(0).shape();
        if (shape[shape.length - 1] != characters.size() + 2)
          throw new IllegalArgumentException(characters.size() + " characters are not the reader's: " + Arrays.toString(shape));
        detector = session(device, detectorModel, pool, height, width);
      } catch (RuntimeException failure) {
        reader.close();
        throw failure;
      }
    }

    private Session session(Device device, Model model, MemoryPool pool, int height, int width) {
      TensorInfo input = model.inputs().get(0);
      return Session.create(device, model, new SessionOptions().memoryPool(pool)
          .inputShape(input.name(), 1, 3, height, width).cachedShapes(LONGEST_STRIP / STRIP_STEP));
    }

    @Override
    public List<Mark> find(ByteBuffer frame) {
      run(frame);
      float[] map = detector.output(detector.outputs().get(0).name()).toFloats();
      List<Mark> marks = new ArrayList<>();
      for (TextLines.Line line : TextLines.find(map, (int) picture.networkWidth(), (int) picture.networkHeight())) {
        Mark read = read(frame, line);
        if (!read.label.isEmpty() && read.score >= LEAST_CONFIDENCE) marks.add(read);
      }
      return marks;
    }

    @Override
    public void run(ByteBuffer frame) {
      int width = (int) picture.networkWidth();
      int height = (int) picture.networkHeight();
      float[] planes = new float[3 * width * height];
      cutout.cut(frame, toFrame(0, 0, width, 0, 0, height), planes, width, height, width, DETECTOR_MEAN, DETECTOR_SCALE);
      infer(detector, planes, height, width);
    }

    /** What follows the text in its strip is grey. */
    private Mark read(ByteBuffer frame, TextLines.Line line) {
      float[] at = line.corners;
      int columns = Math.round(line.width() * STRIP_HEIGHT / Math.max(line.height(), 1));
      int width = stripWidth(Math.min(Math.max(columns, 1), LONGEST_STRIP));
      columns = Math.min(Math.max(columns, 1), width);
      float[] planes = new float[3 * width * STRIP_HEIGHT];
      cutout.cut(frame, toFrame(at[0], at[1], at[2], at[3], at[6], at[7]), planes, width, STRIP_HEIGHT, columns, READER_MEAN,
          READER_SCALE);
      infer(reader, planes, STRIP_HEIGHT, width);
      float[] first = upright.fractions(picture.toFrame(at[0], at[1]));
      float[] third = upright.fractions(picture.toFrame(at[4], at[5]));
      float[] corners = {first[0], first[1], third[0], third[1]};
      return spell(reader.output(reader.outputs().get(0).name()).toFloats(), corners);
    }

    private int stripWidth(int columns) {
      int width = (columns + STRIP_STEP - 1) / STRIP_STEP * STRIP_STEP;
      if (!takesAllWidths || width == BUNDLED_STRIP) return BUNDLED_STRIP;
      try {
        reader.prepare(Collections.singletonMap(reader.inputs().get(0).name(), new long[] {1, 3, STRIP_HEIGHT, width}));
        return width;
      } catch (VellumException lacking) {
        if (lacking.status() != Status.UNSUPPORTED) throw lacking;
        takesAllWidths = false;
        return BUNDLED_STRIP;
      }
    }

    private void infer(Session session, float[] planes, int height, int width) {
      session.setInput(session.inputs().get(0).name(), Tensor.of(planes, 1, 3, height, width));
      session.run();
    }

    private float[] toFrame(float... points) {
      float[] mapped = new float[points.length];
      for (int i = 0; i < points.length; i += 2) {
        double[] point = picture.toFrame(points[i], points[i + 1]);
        mapped[i] = (float) point[0];
        mapped[i + 1] = (float) point[1];
      }
      return mapped;
    }

    @Override
    public List<MemoryReport> memory() {
      return Arrays.asList(detector.memory(), reader.memory());
    }

    @Override
    public void close() {
      detector.close();
      reader.close();
    }
  }

  /** The detector needs multiples of 32. */
  private static int detectorSize(int pixels) {
    return Math.max(32, Math.round(pixels / 32f) * 32);
  }
}

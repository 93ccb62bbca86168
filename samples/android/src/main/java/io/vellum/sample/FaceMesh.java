package io.vellum.sample;

import io.vellum.Device;
import io.vellum.FrameInput;
import io.vellum.FrameTransform;
import io.vellum.MemoryPool;
import io.vellum.MemoryReport;
import io.vellum.Model;
import io.vellum.Session;
import io.vellum.SessionOptions;
import io.vellum.TensorInfo;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/** MediaPipe's face mesh: 468 points of each face that a detector finds; the same as samples/face_mesh in C++. */
final class FaceMesh extends Task {
  private static final int VALUES = 3 * 468;
  private static final float LEAST_PRESENCE = 0.5f;
  /** The region around a face, in sides of its box. */
  private static final double MARGIN = 1.5;

  private final Network detector;

  FaceMesh(String title, Network detector, String file) {
    super(title, file);
    this.detector = detector;
  }

  @Override
  Finder open(Device device, Function<String, Model> models, Frames frames, Upright upright) {
    try (MemoryPool pool = MemoryPool.create(device)) { // the networks follow one another
      SessionOptions options = new SessionOptions().memoryPool(pool);
      Recogniser faces = detector.open(device, models, frames, upright, options);
      try {
        return new Meshes(faces, device, models.apply(file), frames.get(), upright, options);
      } catch (RuntimeException failure) {
        faces.close();
        throw failure;
      }
    }
  }

  /** A square around the face, turned so that the eyes are level. face: in pixels of the frame, as BlazeFace has it. */
  static FrameTransform region(float[] face, int side) {
    double size = MARGIN * Math.max(Math.abs(face[2] - face[0]), Math.abs(face[3] - face[1]));
    double angle = Math.atan2(face[7] - face[5], face[6] - face[4]); // from the right eye to the left one
    return FrameTransform.rotated((face[0] + face[2]) / 2.0, (face[1] + face[3]) / 2.0, size, size, angle, side, side);
  }

  private static final class Meshes implements Finder {
    private final Recogniser faces;
    private final Upright upright;
    private final Session session;
    private final String input;
    private final int side;

    Meshes(Recogniser faces, Device device, Model model, FrameInput frame, Upright upright, SessionOptions options) {
      this.faces = faces;
      this.upright = upright;
      TensorInfo image = model.inputs().get(0);
      input = image.name();
      side = Network.size(image)[0];
      // The frame goes to the device once; the region of each face is an input of its own.
      try (Model own = model; Model framed = own.withFrames(input, frame.normalise(0, 1 / 255f).repeatBorder())) {
        session = Session.create(device, framed, options);
      }
    }

    @Override
    public List<Mark> find(ByteBuffer frame) {
      List<Mark> meshes = new ArrayList<>();
      List<Mark> found = faces.findInFrame(frame);
      if (!found.isEmpty()) session.setInput(input, frame);
      for (Mark face : found) {
        FrameTransform region = region(face.points, side);
        session.setInput(input + ".transform", region.tensor());
        session.run();
        float presence = Network.sigmoid(output(1)[0]);
        if (presence >= LEAST_PRESENCE)
          meshes.add(new Mark(Mark.Kind.POINTS, "face", presence, points(output(VALUES), region)));
      }
      return meshes;
    }

    private float[] points(float[] values, FrameTransform region) {
      float[] points = new float[VALUES / 3 * 2];
      for (int i = 0; i < VALUES / 3; ++i) {
        float[] point = upright.fractions(region.toFrame(values[3 * i], values[3 * i + 1]));
        System.arraycopy(point, 0, points, 2 * i, 2);
      }
      return points;
    }

    /** Outputs are identified by their number of values, not by names that a converter chose. */
    private float[] output(int count) {
      for (TensorInfo output : session.outputs())
        if (output.byteSize() == 4L * count) return session.output(output.name()).toFloats();
      throw new IllegalArgumentException("the model is no face mesh: it has no output of " + count + " values");
    }

    @Override
    public void run(ByteBuffer frame) {
      faces.run(frame);
    }

    @Override
    public List<MemoryReport> memory() {
      return Arrays.asList(faces.memory().get(0), session.memory());
    }

    @Override
    public void close() {
      session.close();
      faces.close();
    }
  }
}

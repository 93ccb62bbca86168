package io.vellum.sample;

import io.vellum.Device;
import io.vellum.FrameInput;
import io.vellum.FrameTransform;
import io.vellum.HardwareFrames;
import io.vellum.MemoryReport;
import io.vellum.Model;
import io.vellum.PictureOutput;
import io.vellum.Session;
import io.vellum.SessionOptions;
import io.vellum.Tensor;
import io.vellum.TensorInfo;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** One network on frames of one kind. For one thread at a time. */
final class Recogniser implements Finder {
  private final Network network;
  private final Upright upright;
  private final FrameTransform transform;
  private final Session session;
  private final String input;
  private final Map<String, Tensor> outputs = new LinkedHashMap<>();
  private HardwareFrames imported;

  /** @param frame the format of the frames; what the network reads of them is set here */
  Recogniser(Device device, Model model, Network network, FrameInput frame, Upright upright, SessionOptions options) {
    this.network = network;
    this.upright = upright;
    TensorInfo image = model.inputs().get(0);
    int[] size = Network.size(image);
    input = image.name();
    transform = upright.transform(network.keepsProportions, size[0], size[1]);
    try (Model framed = model.withFrames(input, network.read(frame).transform(transform))) {
      session = open(device, framed, network.picture(), options);
    }
    for (TensorInfo output : session.outputs()) outputs.put(output.name(), Tensor.allocate(output.type(), output.shape()));
  }

  private static Session open(Device device, Model framed, PictureOutput picture, SessionOptions options) {
    if (picture == null) return Session.create(device, framed, options);
    try (Model pictured = framed.withPicture(framed.outputs().get(0).name(), picture.name(Network.PICTURE))) {
      return Session.create(device, pictured, options);
    }
  }

  @Override
  public Tensor picture() {
    return outputs.get(Network.PICTURE);
  }

  @Override
  public List<Mark> find(ByteBuffer frame) {
    return upright(findInFrame(frame));
  }

  /**
   * Finds in a frame that `run` reads where it is, with the hardware frames of this network. Throws {@link
   * io.vellum.Status#UNSUPPORTED} where the device or the frame's format does not allow it.
   */
  List<Mark> findImported(Consumer<HardwareFrames> run) {
    if (imported == null)
      imported = HardwareFrames.create(session, input, Frames.MOST_BUFFERS);
    run.accept(imported);
    return upright(decode());
  }

  private List<Mark> upright(List<Mark> inFrame) {
    List<Mark> marks = new ArrayList<>();
    for (Mark mark : inFrame) marks.add(map(mark, (x, y) -> upright.fractions(new double[] {x, y})));
    return marks;
  }

  /** The same with points in pixels of the frame. */
  List<Mark> findInFrame(ByteBuffer frame) {
    run(frame);
    return decode();
  }

  private List<Mark> decode() {
    for (Map.Entry<String, Tensor> output : outputs.entrySet()) session.output(output.getKey(), output.getValue().buffer());
    List<Mark> marks = new ArrayList<>();
    for (Mark mark : network.decode(outputs, (int) transform.networkWidth())) marks.add(map(mark, this::toFrame));
    return marks;
  }

  @Override
  public void run(ByteBuffer frame) {
    session.setInput(input, frame);
    session.run();
  }

  @Override
  public List<MemoryReport> memory() {
    return Collections.singletonList(session.memory());
  }

  @Override
  public void close() {
    if (imported != null)
      imported.close();
    session.close();
  }

  private float[] toFrame(float x, float y) {
    double[] frame = transform.toFrame(x * transform.networkWidth(), y * transform.networkHeight());
    return new float[] {(float) frame[0], (float) frame[1]};
  }

  private interface MapPoint {
    float[] map(float x, float y);
  }

  private static Mark map(Mark mark, MapPoint map) {
    float[] points = new float[mark.points.length];
    for (int i = 0; i < points.length; i += 2)
      System.arraycopy(map.map(mark.points[i], mark.points[i + 1]), 0, points, i, 2);
    return new Mark(mark.kind, mark.label, mark.score, points);
  }
}

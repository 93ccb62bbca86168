package io.vellum.sample;

import io.vellum.Device;
import io.vellum.FrameInput;
import io.vellum.FrameTransform;
import io.vellum.Model;
import io.vellum.Session;
import io.vellum.Tensor;
import io.vellum.TensorInfo;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One network on frames of one kind. For one thread at a time. */
final class Recogniser implements AutoCloseable {
  private final Network network;
  private final Upright upright;
  private final FrameTransform transform;
  private final Session session;
  private final String input;
  private final Map<String, Tensor> outputs = new LinkedHashMap<>();

  /** @param frame the format of the frames; what the network reads of them is set here */
  Recogniser(Device device, Model model, Network network, FrameInput frame, Upright upright) {
    this.network = network;
    this.upright = upright;
    TensorInfo image = model.inputs().get(0);
    int[] size = Network.size(image);
    input = image.name();
    transform = upright.transform(network.keepsProportions, size[0], size[1]);
    try (Model framed = model.withFrames(input, network.read(frame).transform(transform))) {
      session = Session.create(device, framed);
    }
    for (TensorInfo output : session.outputs()) outputs.put(output.name(), Tensor.allocate(output.type(), output.shape()));
  }

  /** Returns what is found in a frame; points are fractions of the upright picture. */
  List<Mark> find(ByteBuffer frame) {
    run(frame);
    for (Map.Entry<String, Tensor> output : outputs.entrySet()) session.output(output.getKey(), output.getValue().buffer());
    List<Mark> marks = new ArrayList<>();
    for (Mark mark : network.decode(outputs, (int) transform.networkWidth())) marks.add(toPicture(mark));
    return marks;
  }

  /** One inference, without its outputs. */
  void run(ByteBuffer frame) {
    session.setInput(input, frame);
    session.run();
  }

  Session session() {
    return session;
  }

  @Override
  public void close() {
    session.close();
  }

  private Mark toPicture(Mark mark) {
    float[] points = new float[mark.points.length];
    for (int i = 0; i < points.length; i += 2) {
      double[] frame =
          transform.toFrame(mark.points[i] * transform.networkWidth(), mark.points[i + 1] * transform.networkHeight());
      System.arraycopy(upright.fractions(frame), 0, points, i, 2);
    }
    return new Mark(mark.kind, mark.label, mark.score, points);
  }
}

package io.vellum;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.Test;
import org.junit.function.ThrowingRunnable;

/** No misuse ends the JVM: each is an exception of the documented kind. */
public class MisuseTest {
  private static Device device;
  private static Model model;
  private static Session session;
  private static TensorInfo input;
  private static TensorInfo output;

  @BeforeClass
  public static void open() {
    device = Device.open();
    model = Model.load(Data.model(Data.FACES));
    session = Session.create(device, model);
    input = session.inputs().get(0);
    output = session.outputs().get(0);
    session.run(Collections.singletonMap(input.name(), Data.random(input, 1)));
  }

  @AfterClass
  public static void close() {
    session.close();
    model.close();
    device.close();
  }

  private static <T extends Throwable> T thrown(Class<T> type, ThrowingRunnable call) {
    return assertThrows(type, call);
  }

  private static void refused(Status status, ThrowingRunnable call) {
    VellumException refused = thrown(VellumException.class, call);
    assertEquals(refused.getMessage(), status, refused.status());
    assertTrue(refused.getMessage().length() > 5);
  }

  @Test
  public void closedObjectsThrow() {
    Device ownDevice = Device.open();
    Model ownModel = Model.load(Data.model(Data.FACES));
    Session ownSession = Session.create(ownDevice, ownModel);
    Tensor values = Data.random(input, 1);
    Map<String, Tensor> inputs = Collections.singletonMap(input.name(), values);
    Run run = ownSession.submit(inputs, Collections.emptyMap());
    run.close();
    thrown(IllegalStateException.class, run::await);
    thrown(IllegalStateException.class, run::isDone);
    thrown(IllegalStateException.class, run::cancel);
    ownSession.close();
    assertTrue(ownSession.isClosed());
    thrown(IllegalStateException.class, ownSession::run);
    thrown(IllegalStateException.class, ownSession::inputs);
    thrown(IllegalStateException.class, ownSession::memory);
    thrown(IllegalStateException.class, ownSession::layerTimes);
    thrown(IllegalStateException.class, () -> ownSession.submit(inputs, Collections.emptyMap()));
    thrown(IllegalStateException.class, () -> ownSession.setInput(input.name(), values));
    thrown(IllegalStateException.class, () -> ownSession.output(output.name()));
    ownModel.close();
    thrown(IllegalStateException.class, () -> Session.create(ownDevice, ownModel));
    thrown(IllegalStateException.class, () -> MemoryEstimate.of(ownModel, null, ownDevice));
    ownDevice.close();
    thrown(IllegalStateException.class, () -> Session.create(ownDevice, model));
    thrown(IllegalStateException.class, ownDevice::validationMessages);
    thrown(IllegalStateException.class, ownDevice::caps);
    thrown(IllegalStateException.class, ownDevice::forgetTuning);
    thrown(IllegalStateException.class, ownDevice::crashes);
    thrown(IllegalStateException.class, ownDevice::forgetCrashes);
  }

  @Test
  public void nullsAreNamed() {
    assertEquals("file is null", thrown(NullPointerException.class, () -> Model.load((String) null)).getMessage());
    assertEquals("bytes is null", thrown(NullPointerException.class, () -> Model.load((ByteBuffer) null)).getMessage());
    thrown(NullPointerException.class, () -> Device.open(null));
    thrown(NullPointerException.class, () -> Session.create(null, model));
    thrown(NullPointerException.class, () -> Session.create(device, null));
    thrown(NullPointerException.class, () -> session.setInput(null, new float[1]));
    thrown(NullPointerException.class, () -> session.setInput(input.name(), (float[]) null));
    thrown(NullPointerException.class, () -> session.setInput(input.name(), (ByteBuffer) null));
    thrown(NullPointerException.class, () -> session.setInput(input.name(), (Tensor) null));
    thrown(NullPointerException.class, () -> session.output(output.name(), null));
    thrown(NullPointerException.class, () -> session.output(null));
    thrown(NullPointerException.class, () -> session.prepare(null));
    thrown(NullPointerException.class, () -> session.prepare(Collections.singletonMap(input.name(), null)));
    thrown(NullPointerException.class, () -> session.prepare(Collections.singletonMap(null, new long[1])));
    thrown(NullPointerException.class, () -> session.submit(null, Collections.emptyMap()));
    thrown(NullPointerException.class, () -> session.submit(Collections.singletonMap(input.name(), null), new HashMap<>()));
    thrown(NullPointerException.class, () -> session.submit(new HashMap<>(), Collections.singletonMap(null, null)));
    thrown(NullPointerException.class, () -> model.withFrames(null, new FrameInput(FrameFormat.RGB8, 1, 1)));
    thrown(NullPointerException.class, () -> model.withFrames(input.name(), null));
    thrown(NullPointerException.class, () -> new SessionOptions().inputShape(null, 1));
    thrown(NullPointerException.class, () -> Session.create(device, model, new SessionOptions().disabledPasses((String) null)));
    thrown(NullPointerException.class, () -> Tensor.of((float[]) null, 1));
    thrown(NullPointerException.class, () -> Bundle.write(null, "file", (String) null, null));
  }

  @Test
  public void wrongSizesAreRefused() {
    refused(Status.INVALID_ARGUMENT, () -> session.setInput(input.name(), new float[3]));
    refused(Status.INVALID_ARGUMENT, () -> session.setInput(input.name(), ByteBuffer.allocateDirect(0)));
    refused(Status.INVALID_ARGUMENT, () -> session.setInput(input.name(), ByteBuffer.allocate(16)));
    refused(Status.INVALID_ARGUMENT, () -> session.output(output.name(), ByteBuffer.allocateDirect(4)));
    refused(Status.INVALID_ARGUMENT, () -> session.output(output.name(), ByteBuffer.allocate((int) output.byteSize() + 1)));
    refused(Status.INVALID_ARGUMENT, () -> Tensor.of(new float[5], 2, 3));
    refused(Status.INVALID_ARGUMENT, () -> Tensor.wrap(DataType.F32, ByteBuffer.allocateDirect(8), 3));
    refused(Status.INVALID_ARGUMENT, () -> Tensor.allocate(DataType.F32, -1));
    refused(Status.INVALID_ARGUMENT, () -> Tensor.allocate(DataType.F32, 1L << 40, 1L << 40));
    Tensor small = Tensor.allocate(DataType.F32, 4);
    refused(Status.INVALID_ARGUMENT,
        () -> session.submit(Collections.singletonMap(input.name(), Data.random(input, 1)),
            Collections.singletonMap(output.name(), small)));
    refused(Status.INVALID_ARGUMENT, () -> session.setInput(input.name(), small));
  }

  @Test
  public void buffersOfTheWrongKindAreRefused() {
    ByteBuffer readOnly = ByteBuffer.allocateDirect((int) output.byteSize()).asReadOnlyBuffer();
    thrown(ReadOnlyBufferException.class, () -> session.output(output.name(), readOnly));
    refused(Status.INVALID_ARGUMENT, () -> Tensor.wrap(DataType.U8, ByteBuffer.allocate(4), 4));
    Tensor constant = Tensor.wrap(output.type(), readOnly, output.shape());
    thrown(ReadOnlyBufferException.class,
        () -> session.submit(Collections.singletonMap(input.name(), Data.random(input, 1)),
            Collections.singletonMap(output.name(), constant)));
    refused(Status.INVALID_ARGUMENT, () -> session.setInput(input.name(), Tensor.allocate(DataType.I32, input.shape())));
    refused(Status.INVALID_ARGUMENT, () -> Tensor.allocate(DataType.U8, 4).toFloats());
  }

  @Test
  public void unknownNamesAreNotFound() {
    refused(Status.NOT_FOUND, () -> session.setInput("nothing", ByteBuffer.allocateDirect(4)));
    refused(Status.NOT_FOUND, () -> session.output("nothing"));
    refused(Status.NOT_FOUND, () -> session.output("nothing", ByteBuffer.allocateDirect(4)));
    refused(Status.NOT_FOUND, () -> Model.load("/no/such/file.onnx"));
    refused(Status.NO_DEVICE, () -> Device.open(new DeviceOptions().device("no such device")));
    refused(Status.NOT_FOUND, () -> model.withFrames("nothing", new FrameInput(FrameFormat.RGB8, 8, 8)));
  }

  @Test
  public void textArrivesAsUtf8() {
    // A character beyond 16 bits, which JNI's own UTF-8 would write as two surrogates.
    String name = "modèle \uD83D\uDE80.onnx";
    String message = thrown(VellumException.class, () -> Model.load("/no/such/" + name)).getMessage();
    assertTrue(message, message.contains(name));
    String half = thrown(VellumException.class, () -> Model.load("/no/such/\uD83D")).getMessage();
    assertTrue(half, half.contains("\uFFFD"));
    refused(Status.INVALID_ARGUMENT, () -> Model.load("a\0b"));
  }

  @Test
  public void optionsAreChecked() {
    refused(Status.INVALID_ARGUMENT, () -> new SessionOptions().inFlight(-1));
    refused(Status.INVALID_ARGUMENT, () -> Session.create(device, model, new SessionOptions().inFlight(0)));
    refused(Status.INVALID_ARGUMENT, () -> Session.create(device, model, new SessionOptions().strategy("no such strategy")));
    refused(Status.INVALID_ARGUMENT, () -> Session.create(device, model, new SessionOptions().disabledPasses("no such pass")));
    refused(Status.INVALID_ARGUMENT, () -> FrameTransform.stretch(0, 1, 1, 1));
    refused(Status.INVALID_ARGUMENT, () -> FrameTransform.letterbox(1, Double.NaN, 1, 1));
    refused(Status.INVALID_ARGUMENT, () -> new FrameInput(FrameFormat.RGB8, 0, 0).byteSize());
    refused(Status.UNSUPPORTED, () -> Model.load(Data.model(Data.FACES), new LoadLimits().nodes(3)));
  }

  @Test
  public void bytesThatAreNoModelAreRefused() {
    assertTrue(thrown(VellumException.class, () -> Model.load(ByteBuffer.allocateDirect(0))).getMessage().length() > 5);
    assertTrue(thrown(VellumException.class, () -> Model.load(ByteBuffer.wrap(new byte[100]))).getMessage().length() > 5);
  }

  @Test
  public void aSessionClosedWhileAThreadRunsItIsFreedAfterwards() throws Exception {
    Session busy = Session.create(device, model);
    busy.setInput(input.name(), Data.random(input, 1));
    Thread runner = new Thread(() -> {
      try {
        while (true) busy.run();
      } catch (IllegalStateException closed) {
        // The expected end.
      }
    });
    runner.start();
    Thread.sleep(30);
    busy.close();
    runner.join();
  }
}

package io.vellum;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/**
 * A model made ready on a device: planned, allocated, compiled, recorded. Sessions of one model on one device share
 * weights. Device and model may be closed before it.
 *
 * <p>May be used from any thread. {@link #submit} and {@link #trySubmit} run side by side; every other call waits until it
 * has the session alone, and for the runs under way.
 */
public final class Session extends NativeObject {
  /** The native session is for one thread at a time, except for submitting runs. */
  private final ReadWriteLock lock = new ReentrantReadWriteLock();
  private final Map<String, DataType> inputTypes = new HashMap<>();

  /** @param device is destroyed after the session, since its log listener may be called until then */
  Session(long address, @NotNull Handle device) {
    super("session", address, Native::sessionDestroy, device, null);
    for (TensorInfo input : inputs()) inputTypes.put(input.signatureName(), input.type());
    for (TensorInfo input : inputs()) inputTypes.put(input.name(), input.type());
  }

  public static @NotNull Session create(@NotNull Device device, @NotNull Model model) {
    return create(device, model, null);
  }

  /**
   * Makes a session: plans, allocates, compiles and records. If the shape of an input is neither fixed by the model nor
   * given, this happens at the first run.
   *
   * @param options {@code null}: the defaults
   */
  public static @NotNull Session create(@NotNull Device device, @NotNull Model model, @Nullable SessionOptions options) {
    Check.notNull(device, "device");
    Check.notNull(model, "model");
    SessionOptions given = options != null ? options : new SessionOptions();
    return device.handle.get(
        d -> model.handle.get(
            m -> new Session(given.withPool(() -> Native.sessionCreate(d, m, given)), device.handle)));
  }

  /** Makes a session on a thread of its own, and returns at once. @param options {@code null}: the defaults */
  public static @NotNull SessionCreation createAsync(
      @NotNull Device device, @NotNull Model model, @Nullable SessionOptions options) {
    Check.notNull(device, "device");
    Check.notNull(model, "model");
    SessionOptions given = options != null ? options : new SessionOptions();
    return device.handle.get(
        d -> model.handle.get(
            m -> new SessionCreation(given.withPool(() -> Native.sessionCreateAsync(d, m, given)), device.handle)));
  }

  /** The inputs, with the shapes of the last run or {@link #prepare}; before either, open dimensions are -1. */
  public @NotNull List<TensorInfo> inputs() {
    return alone(session -> Model.list(Native.sessionTensors(session, false)));
  }

  /** The outputs; data-dependent dimensions are -1 until a run has completed, and then that run's. */
  public @NotNull List<TensorInfo> outputs() {
    return alone(session -> Model.list(Native.sessionTensors(session, true)));
  }

  /** Warnings, e.g. about operators that run on the host. */
  public @NotNull List<String> warnings() {
    return alone(session -> Collections.unmodifiableList(Arrays.asList(Native.sessionWarnings(session))));
  }

  /** Prepares the session for these input shapes now instead of at the next run; omitted inputs keep their shape. */
  public void prepare(@NotNull Map<String, long[]> shapes) {
    Check.notNull(shapes, "shapes");
    String[] names = shapes.keySet().toArray(new String[0]);
    long[][] dims = new long[names.length][];
    for (int i = 0; i < names.length; ++i)
      dims[i] = Check.notNull(shapes.get(Check.notNull(names[i], "a name of shapes")), "a shape").clone();
    aloneDo(session -> Native.sessionPrepare(session, names, dims));
  }

  /**
   * Sets an input in its current shape, which keeps its value over runs. The runtime copies the bytes from position to
   * limit to where the device reads them; of a buffer that is not direct the binding makes a copy before.
   */
  public void setInput(@NotNull String name, @NotNull ByteBuffer values) {
    Check.notNull(name, "name");
    ByteBuffer direct = Buffers.readable(Check.notNull(values, "values"));
    aloneDo(s -> Native.sessionSetInput(s, name, null, direct, direct.position(), direct.remaining()));
  }

  /** Sets an input of type {@code F32} in its current shape. The array is copied once before the runtime copies it. */
  public void setInput(@NotNull String name, float @NotNull [] values) {
    requireType(Check.notNull(name, "name"), DataType.F32);
    setInput(name, Buffers.copyOf(Check.notNull(values, "values")));
  }

  /** Sets an input in the tensor's shape; if that is another than its current one, the next run prepares the session. */
  public void setInput(@NotNull String name, @NotNull Tensor tensor) {
    requireType(Check.notNull(name, "name"), Check.notNull(tensor, "tensor").type());
    ByteBuffer values = tensor.memory();
    aloneDo(s -> Native.sessionSetInput(s, name, tensor.dims(), values, 0, values.capacity()));
  }

  /**
   * Waits for all runs under way and gives memory back, for Android's onTrimMemory() and the like; the next run makes it
   * again. Inputs and outputs keep their values.
   */
  public void trim(@NotNull TrimLevel level) {
    Check.notNull(level, "level");
    aloneDo(session -> Native.sessionTrim(session, level.ordinal()));
  }

  /** The inputs that are state, and for each the output that a run leaves in it ({@link SessionOptions#state}). */
  public @NotNull Map<String, String> states() {
    String[] names = alone(Native::sessionStates);
    Map<String, String> states = new LinkedHashMap<>();
    for (int i = 0; i + 1 < names.length; i += 2) states.put(names[i], names[i + 1]);
    return states;
  }

  /** Returns all states to the model's initial values, else to zeros. */
  public void resetState() {
    aloneDo(Native::sessionResetState);
  }

  /** Returns a copy of one state, by the name of its input. */
  public @NotNull Tensor state(@NotNull String input) {
    Check.notNull(input, "input");
    for (TensorInfo info : inputs()) {
      if (!info.hasName(input)) continue;
      for (long dim : info.shape()) if (dim < 0) throw Check.invalid("state '" + input + "' has no values before a run");
      Tensor tensor = Tensor.allocate(info.type(), info.shape());
      ByteBuffer values = tensor.buffer();
      aloneDo(s -> Native.sessionGetState(s, info.name(), values, values.position(), values.remaining()));
      return tensor;
    }
    throw new VellumException(Status.NOT_FOUND, "'" + input + "' is no state of the session");
  }

  /** Sets one state, by the name of its input. */
  public void setState(@NotNull String input, @NotNull Tensor tensor) {
    requireType(Check.notNull(input, "input"), Check.notNull(tensor, "tensor").type());
    ByteBuffer values = tensor.memory();
    aloneDo(s -> Native.sessionSetState(s, input, values, 0, values.capacity()));
  }

  /** Copies all states on the device. */
  public @NotNull SavedState saveState() {
    return alone(session -> new SavedState(Native.sessionSaveState(session), handle.needed()));
  }

  /** Copies them back on the device, also to another session whose states have the same types and shapes. */
  public void restoreState(@NotNull SavedState saved) {
    Check.notNull(saved, "saved");
    saved.handle.use(copy -> aloneDo(session -> Native.sessionRestoreState(session, copy)));
  }

  /**
   * Binds several runs, called steps, for the current input shapes of a session that is prepared: states continue, an output may
   * become an input of the next step, and the device itself finds the end. The loop may be run any number of times.
   */
  public @NotNull StepLoop bindSteps(@NotNull StepOptions options) {
    Check.notNull(options, "options");
    return alone(
        session -> new StepLoop(Native.stepLoopCreate(session, options), options.stepOutputs(), handle.needed()));
  }

  /** Runs the steps of a loop of this session, and returns when they are done. */
  public @NotNull StepResults runSteps(@NotNull StepLoop loop, @NotNull Map<String, Tensor> inputs) {
    return runSteps(loop, inputs, null);
  }

  /**
   * Runs the steps of a loop of this session, and returns when they are done.
   *
   * @param inputs of the first step; those of {@link StepOptions#stepInput} for all steps. Inputs that are not listed keep
   *     their values
   * @param progress {@code null}: none
   */
  public @NotNull StepResults runSteps(
      @NotNull StepLoop loop, @NotNull Map<String, Tensor> inputs, @Nullable StepListener progress) {
    Check.notNull(loop, "loop");
    RunTensors in = new RunTensors(Check.notNull(inputs, "inputs"), "inputs");
    for (Map.Entry<String, Tensor> input : inputs.entrySet()) requireType(input.getKey(), input.getValue().type());
    return alone(session -> loop.run(session, in, progress));
  }

  /** Runs one inference and returns when it is done. Every input must have been set. */
  public void run() {
    aloneDo(Native::sessionRun);
  }

  /** Sets inputs, runs, and returns all outputs by name in the model's order. */
  public @NotNull Map<String, Tensor> run(@NotNull Map<String, Tensor> inputs) {
    Check.notNull(inputs, "inputs");
    Lock alone = lock.writeLock();
    alone.lock();
    try {
      for (Map.Entry<String, Tensor> input : inputs.entrySet()) setInput(input.getKey(), input.getValue());
      run();
      Map<String, Tensor> outputs = new LinkedHashMap<>();
      Map<String, String> states = states();
      for (TensorInfo output : outputs())
        if (!states.containsValue(output.name())) outputs.put(output.name(), read(output));
      return outputs;
    } finally {
      alone.unlock();
    }
  }

  /** Returns an output of the last {@link #run()}, in memory of its own. */
  public @NotNull Tensor output(@NotNull String name) {
    Check.notNull(name, "name");
    Lock alone = lock.writeLock();
    alone.lock();
    try {
      return read(find(name));
    } finally {
      alone.unlock();
    }
  }

  /**
   * Writes an output of the last {@link #run()} from position to limit, which must be exactly its bytes. For a buffer that
   * is not direct the binding makes a copy in between. Throws {@link java.nio.ReadOnlyBufferException}.
   */
  public void output(@NotNull String name, @NotNull ByteBuffer values) {
    Check.notNull(name, "name");
    Buffers.requireWritable(Check.notNull(values, "values"));
    ByteBuffer direct = values.isDirect() ? values : Buffers.allocate(values.remaining());
    aloneDo(s -> Native.sessionGetOutput(s, name, direct, direct.position(), direct.remaining()));
    if (direct != values) values.duplicate().put(direct);
  }

  /**
   * Begins an inference and returns as soon as the device has it. If {@link SessionOptions#inFlight} runs are under way, it
   * first waits for the oldest. Every input is given here, and its values are read before the call returns. The outputs'
   * memory is written until the run is done or closed; any output whose shape is known can be listed, and one that only the
   * run determines is kept for {@link Run#output}. Other outputs that are not listed are not read. Inputs of
   * {@link #setInput} and the outputs of the last {@link #run()} are dropped.
   */
  public @NotNull Run submit(@NotNull Map<String, Tensor> inputs, @NotNull Map<String, Tensor> outputs) {
    Run run = begin(inputs, Check.notNull(outputs, "outputs"), true);
    if (run == null) throw new VellumException(Status.INTERNAL, "vellum_session_submit() returned no run");
    return run;
  }

  /**
   * Does the same where a run can begin at once; otherwise returns {@code null}, so that a producer of frames can drop this
   * one. Never waits for the device, but for calls that need the session alone. Throws {@link Status#INVALID_ARGUMENT} if
   * the session is not prepared for these shapes.
   */
  public @Nullable Run trySubmit(@NotNull Map<String, Tensor> inputs, @NotNull Map<String, Tensor> outputs) {
    return begin(inputs, Check.notNull(outputs, "outputs"), false);
  }

  /** Begins an inference that keeps all of its outputs for {@link Run#output}; otherwise as above. */
  public @NotNull Run submit(@NotNull Map<String, Tensor> inputs) {
    Run run = begin(inputs, null, true);
    if (run == null) throw new VellumException(Status.INTERNAL, "vellum_session_submit_and_keep() returned no run");
    return run;
  }

  /** Does the same where a run can begin at once; otherwise returns {@code null}. */
  public @Nullable Run trySubmit(@NotNull Map<String, Tensor> inputs) {
    return begin(inputs, null, false);
  }

  /** Returns the memory of the session, object by object. */
  public @NotNull MemoryReport memory() {
    return alone(Native::sessionMemory);
  }

  /** The tasks of the last run in execution order; empty before it, and without {@link SessionOptions#profile}. */
  public @NotNull List<LayerTime> layerTimes() {
    return alone(session -> Collections.unmodifiableList(Arrays.asList(Native.sessionLayers(session))));
  }

  /**
   * Returns a self-contained HTML page of the last run of a session with {@link SessionOptions#profile}: the memory map,
   * shared objects, bytes by category, time per layer. Throws {@link Status#INVALID_ARGUMENT} before the first run.
   */
  public @NotNull String profileHtml(@NotNull String title) {
    Check.notNull(title, "title");
    return alone(session -> Native.sessionProfile(session, title, false, 0));
  }

  /** Returns the same with what the driver makes of the kernels, a report of this session's options. */
  public @NotNull String profileHtml(@NotNull String title, @NotNull KernelReport kernels) {
    Check.notNull(title, "title");
    Check.notNull(kernels, "kernels");
    return alone(
        session -> kernels.handle.get(report -> Native.sessionProfile(session, title, false, report)));
  }

  /** Returns the same as a trace in Chrome's trace event format (JSON), which Perfetto reads. */
  public @NotNull String profileTrace(@NotNull String title) {
    Check.notNull(title, "title");
    return alone(session -> Native.sessionProfile(session, title, true, 0));
  }

  /** Returns the memory plan for the input shapes of the last run. */
  public @NotNull MemoryPlan memoryPlan() {
    return new MemoryPlan(alone(Native::planOfSession));
  }

  /** The dispatches of one run; 0 before the session is prepared, as the two below. */
  public long dispatchCount() {
    return counts()[0];
  }

  /** The pipelines of one run that differ. */
  public long pipelineCount() {
    return counts()[1];
  }

  /** The pipeline barriers of one run. */
  public long barrierCount() {
    return counts()[2];
  }

  /**
   * Draws the memory plan for the shapes of the last run as an SVG document: tasks from left to right, addresses upwards, a
   * rectangle for each tensor. Throws {@link Status#INVALID_ARGUMENT} for a session without objects.
   */
  public @NotNull String memorySvg(@NotNull String title) {
    Check.notNull(title, "title");
    return alone(session -> Native.sessionMemorySvg(session, title));
  }

  /** @param outputs {@code null}: the run keeps all of its outputs */
  private @Nullable Run begin(Map<String, Tensor> inputs, @Nullable Map<String, Tensor> outputs, boolean wait) {
    RunTensors in = new RunTensors(Check.notNull(inputs, "inputs"), "inputs");
    for (Map.Entry<String, Tensor> input : inputs.entrySet()) requireType(input.getKey(), input.getValue().type());
    RunTensors out = outputs == null ? null : new RunTensors(outputs, "outputs");
    if (out != null) for (ByteBuffer values : out.values) Buffers.requireWritable(values);
    Map<String, Tensor> kept = outputs == null ? Collections.emptyMap() : outputs;
    Lock shared = lock.readLock();
    shared.lock();
    try {
      return handle.get(
          session -> {
            long run =
                out == null
                    ? Native.sessionSubmitAndKeep(session, in.names, in.shapes, in.values, wait)
                    : Native.sessionSubmit(session, in.names, in.shapes, in.values, out.names, out.values, wait);
            return run == 0 ? null : new Run(run, handle.needed(), kept);
          });
    } finally {
      shared.unlock();
    }
  }

  private TensorInfo find(String output) {
    List<TensorInfo> outputs = outputs();
    for (TensorInfo info : outputs) if (info.hasName(output)) return info;
    throw new VellumException(Status.NOT_FOUND, "there is no output '" + output + "'; the model has " + outputs);
  }

  private Tensor read(TensorInfo info) {
    for (long dim : info.shape())
      if (dim < 0) throw Check.invalid("output '" + info.name() + "' has no values before a run");
    Tensor tensor = Tensor.allocate(info.type(), info.shape());
    output(info.name(), tensor.buffer());
    return tensor;
  }

  private void requireType(String input, DataType type) {
    DataType expected = inputTypes.get(input);
    if (expected != null && expected != type)
      throw Check.invalid("input '" + input + "' takes values of type " + expected + ", not " + type);
  }

  private long[] counts() {
    return alone(Native::sessionCounts);
  }

  /** Calls with the session while no other call uses it. */
  <T> T alone(LongFunction<T> call) {
    Lock alone = lock.writeLock();
    alone.lock();
    try {
      return handle.get(call);
    } finally {
      alone.unlock();
    }
  }

  private void aloneDo(LongConsumer call) {
    alone(
        session -> {
          call.accept(session);
          return null;
        });
  }
}

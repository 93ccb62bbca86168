package io.vellum;

import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jetbrains.annotations.NotNull;
import org.jetbrains.annotations.Nullable;

/** How a session is made. The setters return the object itself. Not for several threads at once. */
public final class SessionOptions {
  /** For {@link #maxSubmitMs}: 16 on GPUs that may serve a display, else no limit. */
  public static final int SUBMIT_MS_AUTO = -1;

  // Read by native code, which also sets the defaults of those without an initialiser.
  // Generated from vellum/session_options.def: fields.
  private int precision;
  private int storage;
  private int memory;
  private String strategy;
  private int tasksPerSubmit;
  private boolean profile;
  private int cachedShapes;
  private int searchMs;
  private boolean inPlace;
  private boolean views;
  private boolean reorder;
  private long weightsBudget;
  private int winograd;
  private int inFlight;
  private boolean tuned;
  private int arithmetic;
  private boolean checkFinite;
  private int maxSubmitMs;
  private long memoryBudget;
  private boolean budgetAllowsFp16;
  private boolean hostFallback;
  private String state;
  private int repeatEvery;
  private int stateCapacity;
  private int statePrecision;
  // End of generated fields.
  private String[] shapeNames = {};
  private long[][] shapes = {};
  private String[] valueNames = {};
  private int[] valueTypes = {};
  private long[][] valueShapes = {};
  private ByteBuffer[] valueBytes = {};
  private String[] disabledPasses = {};
  private long memoryPool;

  private MemoryPool pool;
  private final Map<String, long[]> inputShapes = new LinkedHashMap<>();
  private final Map<String, Tensor> inputValues = new LinkedHashMap<>();

  /** Makes the defaults. */
  public SessionOptions() {
    Native.sessionDefaults(this);
  }

  // Generated from vellum/session_options.def: setters.
  /** Element type of stored tensors and weights. {@link Precision#FP32} by default. */
  public @NotNull SessionOptions precision(@NotNull Precision precision) {
    this.precision = Check.notNull(precision, "precision").ordinal();
    return this;
  }

  /** Storage of intermediate tensors; auto: the device's default. {@link Storage#AUTO} by default. */
  public @NotNull SessionOptions storage(@NotNull Storage storage) {
    this.storage = Check.notNull(storage, "storage").ordinal();
    return this;
  }

  /**
   * How intermediate tensors share memory: in shared objects, at offsets of one arena, or not at all (naive). {@link
   * MemoryMode#SHARED_OBJECTS} by default.
   */
  public @NotNull SessionOptions memory(@NotNull MemoryMode memory) {
    this.memory = Check.notNull(memory, "memory").ordinal();
    return this;
  }

  /** Strategy of the memory planner, a name from docs/planner.md. "best" by default. */
  public @NotNull SessionOptions strategy(@Nullable String strategy) {
    this.strategy = strategy;
    return this;
  }

  /** Tasks of a submit; 0: no limit. */
  public @NotNull SessionOptions tasksPerSubmit(int tasksPerSubmit) {
    this.tasksPerSubmit = Check.notNegative(tasksPerSubmit, "tasksPerSubmit");
    return this;
  }

  /** GPU timestamps around every task, for the times of layers. */
  public @NotNull SessionOptions profile(boolean profile) {
    this.profile = profile;
    return this;
  }

  /** Combinations of input shapes for which the session stays prepared; at least 1. 4 by default. */
  public @NotNull SessionOptions cachedShapes(int cachedShapes) {
    this.cachedShapes = Check.notNegative(cachedShapes, "cachedShapes");
    return this;
  }

  /** Milliseconds to search for a smaller memory plan; 0: no search. 100 by default. */
  public @NotNull SessionOptions searchMs(int searchMs) {
    this.searchMs = Check.notNegative(searchMs, "searchMs");
    return this;
  }

  /** Elementwise operators may overwrite an input that nothing reads afterwards. True by default. */
  public @NotNull SessionOptions inPlace(boolean inPlace) {
    this.inPlace = inPlace;
    return this;
  }

  /** Concatenations and splits of buffers need no copy. True by default. */
  public @NotNull SessionOptions views(boolean views) {
    this.views = views;
    return this;
  }

  /** Tasks may run in another order than the model's where that needs less memory. True by default. */
  public @NotNull SessionOptions reorder(boolean reorder) {
    this.reorder = reorder;
    return this;
  }

  /** Bytes of device memory for weights, which then stream to the device layer by layer; 0: no budget. */
  public @NotNull SessionOptions weightsBudget(long weightsBudget) {
    this.weightsBudget = Check.notNegative(weightsBudget, "weightsBudget");
    return this;
  }

  /**
   * Faster 3x3 convolutions whose weights take 1.8 (f2) or 4 (f4) times the memory; auto: where tuning measured it to be faster.
   * {@link Winograd#AUTO} by default.
   */
  public @NotNull SessionOptions winograd(@NotNull Winograd winograd) {
    this.winograd = Check.notNull(winograd, "winograd").ordinal();
    return this;
  }

  /** Submitted runs that may be under way at once, each with its own tensors; at most 64. 1 by default. */
  public @NotNull SessionOptions inFlight(int inFlight) {
    this.inFlight = Check.notNegative(inFlight, "inFlight");
    return this;
  }

  /** Use the measurements of tuning on this device. True by default. */
  public @NotNull SessionOptions tuned(boolean tuned) {
    this.tuned = tuned;
    return this;
  }

  /**
   * Precision of products: fp16 needs fp16 tensors and a device that has it; sums are fp32; auto: fp16 where tuning measured it
   * to be faster. {@link Arithmetic#FP32} by default.
   */
  public @NotNull SessionOptions arithmetic(@NotNull Arithmetic arithmetic) {
    this.arithmetic = Check.notNull(arithmetic, "arithmetic").ordinal();
    return this;
  }

  /** NaN and infinities in inputs and outputs are errors. */
  public @NotNull SessionOptions checkFinite(boolean checkFinite) {
    this.checkFinite = checkFinite;
    return this;
  }

  /**
   * Bytes of device memory for everything that the session allocates, never exceeded: the session uses the fastest configuration
   * that fits, else it is out of memory; 0: no budget; not with {@link #weightsBudget} or a pool.
   */
  public @NotNull SessionOptions memoryBudget(long memoryBudget) {
    this.memoryBudget = Check.notNegative(memoryBudget, "memoryBudget");
    return this;
  }

  /** With {@link #memoryBudget}, fp16 tensors and weights are allowed where they are faster than what fits in fp32. */
  public @NotNull SessionOptions budgetAllowsFp16(boolean budgetAllowsFp16) {
    this.budgetAllowsFp16 = budgetAllowsFp16;
    return this;
  }

  /**
   * Operators without a kernel may run on the host; without this a model that has such operators is unsupported. True by default.
   */
  public @NotNull SessionOptions hostFallback(boolean hostFallback) {
    this.hostFallback = hostFallback;
    return this;
  }

  /**
   * Inputs that stay on the device as state and get the value of an output in each run: INPUT=OUTPUT;INPUT=OUTPUT, or auto: the
   * pairs that names show, such as past.0.key and present.0.key.
   */
  public @NotNull SessionOptions state(@Nullable String state) {
    this.state = state;
    return this;
  }

  /** Repeat every so many runs, the first among them; outputs with other bits are an error; 0: none. */
  public @NotNull SessionOptions repeatEvery(int repeatEvery) {
    this.repeatEvery = Check.notNegative(repeatEvery, "repeatEvery");
    return this;
  }

  /**
   * Tokens for which states that the model concatenates with new tokens (caches of decoders) have room; 0: such states are
   * refused.
   */
  public @NotNull SessionOptions stateCapacity(int stateCapacity) {
    this.stateCapacity = Check.notNegative(stateCapacity, "stateCapacity");
    return this;
  }

  /**
   * Precision of states that are caches of keys and values; int8: bytes with a scale for each token and head; auto: that of other
   * tensors. {@link StatePrecision#AUTO} by default.
   */
  public @NotNull SessionOptions statePrecision(@NotNull StatePrecision statePrecision) {
    this.statePrecision = Check.notNull(statePrecision, "statePrecision").ordinal();
    return this;
  }
  // End of generated setters.

  /** The shape of an input whose dimensions the model leaves open, or another batch. */
  public @NotNull SessionOptions inputShape(@NotNull String input, long @NotNull ... shape) {
    inputShapes.put(Check.notNull(input, "input"), Check.notNull(shape, "shape").clone());
    shapeNames = inputShapes.keySet().toArray(new String[0]);
    shapes = inputShapes.values().toArray(new long[0][]);
    return this;
  }

  /**
   * The values of an input that decides shapes ({@link TensorInfo#decidesShapes}). Estimates, plans and
   * bundles need those of all such inputs, a session takes the ones that are missing from its first run.
   */
  public @NotNull SessionOptions inputValue(@NotNull String input, @NotNull Tensor value) {
    inputValues.put(Check.notNull(input, "input"), Check.notNull(value, "value"));
    valueNames = inputValues.keySet().toArray(new String[0]);
    int count = valueNames.length;
    valueTypes = new int[count];
    valueShapes = new long[count][];
    valueBytes = new ByteBuffer[count];
    for (int i = 0; i < count; ++i) {
      Tensor given = inputValues.get(valueNames[i]);
      valueTypes[i] = given.type().ordinal();
      valueShapes[i] = given.shape();
      valueBytes[i] = given.memory();
    }
    return this;
  }

  /**
   * Milliseconds of predicted work that a run hands to the device at a time; 0: no limit; {@link #SUBMIT_MS_AUTO}, the
   * default. Results are the same bit for bit.
   */
  public @NotNull SessionOptions maxSubmitMs(int milliseconds) {
    maxSubmitMs = milliseconds == SUBMIT_MS_AUTO ? milliseconds : Check.notNegative(milliseconds, "maxSubmitMs");
    return this;
  }

  /** Names of graph passes to leave out, docs/models.md; to find faults. */
  public @NotNull SessionOptions disabledPasses(@NotNull String @NotNull ... passes) {
    disabledPasses = Check.notNull(passes, "passes").clone();
    for (String pass : disabledPasses) Check.notNull(pass, "a pass");
    return this;
  }

  /** Memory for the intermediate tensors that other sessions use, too; {@code null}: the session has its own. */
  public @NotNull SessionOptions memoryPool(@Nullable MemoryPool pool) {
    this.pool = pool;
    return this;
  }

  /** Makes a session with native code, for which the pool stays open meanwhile. */
  long withPool(@NotNull LongSupplier create) {
    if (pool == null) return create.getAsLong();
    return pool.handle.get(
        address -> {
          memoryPool = address;
          try {
            return create.getAsLong();
          } finally {
            memoryPool = 0;
          }
        });
  }
}

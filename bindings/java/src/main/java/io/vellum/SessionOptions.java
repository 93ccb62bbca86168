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
  private int precision;
  private int storage;
  private int memory;
  private String strategy;
  private String[] shapeNames = {};
  private long[][] shapes = {};
  private String[] valueNames = {};
  private int[] valueTypes = {};
  private long[][] valueShapes = {};
  private ByteBuffer[] valueBytes = {};
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
  private String[] disabledPasses = {};
  private int maxSubmitMs;
  private long memoryPool;
  private long memoryBudget;
  private boolean budgetAllowsFp16;

  private MemoryPool pool;
  private final Map<String, long[]> inputShapes = new LinkedHashMap<>();
  private final Map<String, Tensor> inputValues = new LinkedHashMap<>();

  /** Makes the defaults. */
  public SessionOptions() {
    Native.sessionDefaults(this);
  }

  /** Of stored intermediates and weights. */
  public @NotNull SessionOptions precision(@NotNull Precision precision) {
    this.precision = Check.notNull(precision, "precision").ordinal();
    return this;
  }

  public @NotNull SessionOptions arithmetic(@NotNull Arithmetic arithmetic) {
    this.arithmetic = Check.notNull(arithmetic, "arithmetic").ordinal();
    return this;
  }

  /** Of intermediate tensors. */
  public @NotNull SessionOptions storage(@NotNull Storage storage) {
    this.storage = Check.notNull(storage, "storage").ordinal();
    return this;
  }

  /** Whether tensors share objects. */
  public @NotNull SessionOptions memory(@NotNull MemoryMode memory) {
    this.memory = Check.notNull(memory, "memory").ordinal();
    return this;
  }

  /** The planner's strategy, a name from docs/planner.md; {@code null}: "best". */
  public @NotNull SessionOptions strategy(@Nullable String strategy) {
    this.strategy = strategy;
    return this;
  }

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

  /** The most tasks of a submit; 0: no limit. */
  public @NotNull SessionOptions tasksPerSubmit(int tasks) {
    tasksPerSubmit = Check.notNegative(tasks, "tasksPerSubmit");
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

  /** GPU timestamps around every task, for {@link Session#layerTimes}. */
  public @NotNull SessionOptions profile(boolean profile) {
    this.profile = profile;
    return this;
  }

  /** For how many combinations of input shapes the session stays ready; at least 1. 4 by default. */
  public @NotNull SessionOptions cachedShapes(int count) {
    cachedShapes = Check.notNegative(count, "cachedShapes");
    return this;
  }

  /** Milliseconds to search for a smaller plan; 0: no search. 100 by default. */
  public @NotNull SessionOptions searchMs(int milliseconds) {
    searchMs = Check.notNegative(milliseconds, "searchMs");
    return this;
  }

  /** Elementwise operators write over an input that dies there. True by default, as the two below. */
  public @NotNull SessionOptions inPlace(boolean inPlace) {
    this.inPlace = inPlace;
    return this;
  }

  /** Concatenations and splits of buffers without copies. */
  public @NotNull SessionOptions views(boolean views) {
    this.views = views;
    return this;
  }

  /** Tasks in another order than the model's where that needs less memory. */
  public @NotNull SessionOptions reorder(boolean reorder) {
    this.reorder = reorder;
    return this;
  }

  /** Bytes of device memory for weights, which then come layer by layer; 0: all at once. */
  public @NotNull SessionOptions weightsBudget(long bytes) {
    weightsBudget = Check.notNegative(bytes, "weightsBudget");
    return this;
  }

  /**
   * Bytes of device memory for everything that the session allocates, never exceeded; 0, the default: no budget. The session
   * finds the quickest way that fits, or is refused with {@link Status#OUT_OF_MEMORY}, whose message names the smallest budget
   * that suffices. Not with {@link #weightsBudget} or {@link #memoryPool}.
   */
  public @NotNull SessionOptions memoryBudget(long bytes) {
    memoryBudget = Check.notNegative(bytes, "memoryBudget");
    return this;
  }

  /** With {@link #memoryBudget}, {@link Precision#FP16} is one more way to fit. */
  public @NotNull SessionOptions budgetAllowsFp16(boolean allows) {
    budgetAllowsFp16 = allows;
    return this;
  }

  public @NotNull SessionOptions winograd(@NotNull Winograd winograd) {
    this.winograd = Check.notNull(winograd, "winograd").ordinal();
    return this;
  }

  /** Runs of {@link Session#submit} under way at once, each with tensors of its own. At most 64; 1 by default. */
  public @NotNull SessionOptions inFlight(int runs) {
    inFlight = Check.notNegative(runs, "inFlight");
    return this;
  }

  /** Use what {@link Device#tune} measured on the device. True by default. */
  public @NotNull SessionOptions tuned(boolean tuned) {
    this.tuned = tuned;
    return this;
  }

  /** NaN and infinities in inputs and outputs are errors. */
  public @NotNull SessionOptions checkFinite(boolean check) {
    checkFinite = check;
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

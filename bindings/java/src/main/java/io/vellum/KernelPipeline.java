package io.vellum;

import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jetbrains.annotations.NotNull;

/** A pipeline of a {@link KernelReport}. A plain value. */
public final class KernelPipeline {
  // Set by native code.
  private String shader;
  private String variant;
  private String[] defineNames;
  private String[] defineValues;
  private int[] workgroupSize;
  private KernelCode[] codes;

  KernelPipeline() {}

  public @NotNull String shader() {
    return shader;
  }

  /** The defines as text, without those that every kernel has for its tensors. */
  public @NotNull String variant() {
    return variant;
  }

  public int @NotNull [] workgroupSize() {
    return workgroupSize.clone();
  }

  /** Drivers may make code for several subgroup sizes. */
  public @NotNull List<KernelCode> codes() {
    return Collections.unmodifiableList(Arrays.asList(codes));
  }

  /** Returns the defines of the shader by name. */
  public @NotNull Map<String, String> defines() {
    Map<String, String> map = new LinkedHashMap<>();
    for (int i = 0; i < defineNames.length; ++i) map.put(defineNames[i], defineValues[i]);
    return map;
  }
}

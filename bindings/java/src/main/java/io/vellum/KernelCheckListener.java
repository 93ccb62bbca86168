package io.vellum;

/** Told how far {@link Device#checkKernels} is. */
public interface KernelCheckListener {
  /** Called before each operator. What it throws is ignored. Returns false to end the check. */
  boolean progress(long done, long total);
}

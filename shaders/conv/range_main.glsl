// The main() of a kernel whose results may have a range (range_of_results.glsl).
void main() {
  compute_results();
#ifdef RANGE
  merge_range(range_counter);
#endif
}

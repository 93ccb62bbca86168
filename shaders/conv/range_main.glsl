// The main() of a kernel with RANGE (range_of_results.glsl).
#ifdef RANGE
#undef main
void main() {
  compute_results();
  merge_range(range_counter);
}
#endif

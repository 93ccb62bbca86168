// The order of elements in ArgMax, or with MIN in ArgMin. Include this file after the parameter `last`: 1 selects
// the last of equal extrema, 0 the first. SEGMENTED: `best` may be from a segment after the first.

struct Extremum {
  float value;
  int index;
};

// Returns the extremum of two elements; `next` has the higher index. A NaN is the extremum only if it is the
// first element of the axis.
Extremum join(Extremum best, Extremum next) {
#ifdef MIN
  bool better = next.value < best.value;
#else
  bool better = next.value > best.value;
#endif
#ifdef SEGMENTED
  better = better || (is_nan(best.value) && best.index > 0);
#endif
  if (better || (last != 0 && next.value == best.value)) return next;
  return best;
}

// The order of ArgMax, or with MIN of ArgMin. Include it after the parameter `last`, 1: the last one of equal extrema, else the
// first. SEGMENTED: `best` may begin after the first element.

struct Extremum {
  float value;
  int index;
};

// The extremum of two, of which `next` has the higher index. A NaN is one where it is the first element of the axis, else none.
Extremum join(Extremum best, Extremum next) {
#ifdef MIN
  bool better = next.value < best.value;
#else
  bool better = next.value > best.value;
#endif
#ifdef SEGMENTED
  better = better || (isnan(best.value) && best.index > 0);
#endif
  if (better || (last != 0 && next.value == best.value)) return next;
  return best;
}

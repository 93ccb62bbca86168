// How Pad extends a tensor beyond its ends. runtime/kernels/movement/pad.cpp has the same constants.
#define PAD_CONSTANT 0
#define PAD_EDGE 1
#define PAD_REFLECT 2
#define PAD_WRAP 3

// The coordinate in [0, size) whose value the padded tensor has at coordinate i.
int pad_source(int i, int size, int mode) {
  if (mode == PAD_EDGE) return clamp(i, 0, size - 1);
  int period = mode == PAD_REFLECT ? max(2 * (size - 1), 1) : size;
  i %= period;
  if (i < 0) i += period;
  return i < size ? i : period - i;
}

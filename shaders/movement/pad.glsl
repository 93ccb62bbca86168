// The padding modes of Pad. runtime/kernels/movement/pad.cpp has the same constants.
#define PAD_CONSTANT 0
#define PAD_EDGE 1
#define PAD_REFLECT 2
#define PAD_WRAP 3

// Returns the coordinate in [0, size) whose value the padded tensor has at coordinate i. Include divide.glsl
// first: drivers for CPUs divide integers lane by lane.
int pad_source(int i, int size, int mode) {
  if (mode == PAD_EDGE) return clamp(i, 0, size - 1);
  if (mode == PAD_WRAP) return i < 0 ? size - 1 - divide(-i - 1, size).y : divide(i, size).y;
  int period = max(2 * (size - 1), 1);
  i = divide(abs(i), period).y;
  return i < size ? i : period - i;
}

// Weights of four neighbours at distances 1 + t, t, 1 - t and 2 - t: Keys' kernel, "Cubic convolution interpolation for
// digital image processing" (1981), with the coefficient a.
vec4 cubic_weights(float t, float a) {
  vec2 near = vec2(t, 1.0 - t), far = 1.0 + near;
  vec2 n = ((a + 2.0) * near - (a + 3.0)) * near * near + 1.0;
  vec2 f = ((a * far - 5.0 * a) * far + 8.0 * a) * far - 4.0 * a;
  return vec4(f.x, n.x, n.y, f.y);
}

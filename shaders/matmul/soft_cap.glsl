// Returns cap * tanh(scores / cap). The built-in tanh may be a quotient of overflowing exponentials, and close to zero 1 - e
// cancels, as in activation_tanh() (activation.glsl).
vec4 soft_capped(vec4 scores, float cap) {
  vec4 x = scores / cap, e = exp(-2.0 * abs(x)), x2 = x * x;
  vec4 series = x * (1.0 + x2 * (-1.0 / 3.0 + x2 * (2.0 / 15.0)));
  return cap * mix(sign(x) * (1.0 - e) / (1.0 + e), series, lessThan(abs(x), vec4(0.03)));
}

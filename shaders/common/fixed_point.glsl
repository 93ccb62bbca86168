// Converts quantised integers from one scale to another in fixed point, as LiteRT's reference kernels do
// (graph/operators/elementwise/fixed_multiplier.hpp). With FIXED_PAIR it also defines functions of two tensors of integers.
// Their parameters are appended to the kernel's: the multipliers fixed_a, fixed_b and fixed_y, their shifts and that of sums in
// fixed_shifts (a byte each), and the steps of the operands.
#ifndef FIXED_POINT_GLSL
#define FIXED_POINT_GLSL

// Returns sum * multiplier * 2^(shift - 31), rounded twice as in LiteRT: after the division by 2^31 halves are rounded up,
// after the shift to the right halves are rounded away from zero.
ivec4 fixed_product(ivec4 sum, ivec4 multiplier, ivec4 shift) {
  ivec4 high, low;
  imulExtended(sum << max(shift, ivec4(0)), multiplier, high, low);
  high = (high << 1) + ivec4(((uvec4(low) >> 30) + 1u) >> 1);
  ivec4 right = max(-shift, ivec4(0)), nudge = (ivec4(1) << right) >> 1;
  return (high + nudge + ((high >> 31) & -min(nudge, ivec4(1)))) >> right;
}

// The same, rounded once, halves up. `shift` is at most 0.
ivec4 fixed_product_once(ivec4 sum, ivec4 multiplier, ivec4 shift) {
  ivec4 high, low;
  imulExtended(sum, multiplier, high, low);
  ivec4 whole = (high << 1) + ivec4(uvec4(low) >> 31), half_up = whole + ivec4((uvec4(low) >> 30) & 1u);
  ivec4 right = -shift;
  return mix((whole + ((ivec4(1) << right) >> 1)) >> right, half_up, equal(right, ivec4(0)));
}

// Returns (256 * high + low + bias) * multiplier * 2^(shift - 31), rounded once, halves up. The bias has 64 bits, the sum at most
// 48, and `shift` is from -31 to 14.
ivec4 fixed_product_of_64_bits(ivec4 high, ivec4 low, uvec4 bias_low, ivec4 bias_high, ivec4 multiplier, ivec4 shift) {
  uvec4 carry, carry2;
  uvec4 sum_low = uaddCarry(uvec4(high) << 8, uvec4(low), carry);
  ivec4 sum_high = (high >> 24) + (low >> 31) + ivec4(carry);
  sum_low = uaddCarry(sum_low, bias_low, carry);
  sum_high += bias_high + ivec4(carry);
  // The product has the words top, middle and bottom.
  uvec4 middle, bottom;
  ivec4 top, upper;
  umulExtended(sum_low, uvec4(multiplier), middle, bottom);
  imulExtended(sum_high, multiplier, top, upper);
  middle = uaddCarry(middle, uvec4(upper), carry);
  top += ivec4(carry);
  // Adds half of the last bit that remains.
  uvec4 bits = uvec4(31 - shift), none = uvec4(0), last = bits - 1u;
  bvec4 in_bottom = lessThan(last, uvec4(32));
  bottom = uaddCarry(bottom, mix(none, uvec4(1) << (last & 31u), in_bottom), carry);
  middle = uaddCarry(middle, mix(uvec4(1) << (last & 31u), none, in_bottom), carry2);
  top += ivec4(carry2);
  middle = uaddCarry(middle, carry, carry2);
  top += ivec4(carry2);
  // Shifts by 0 and by 32 are apart, because the latter are undefined.
  uvec4 right = bits & 31u, left = (32u - right) & 31u;
  uvec4 whole = mix(middle, bottom, lessThan(bits, uvec4(32))), above = mix(uvec4(top), middle, lessThan(bits, uvec4(32)));
  return ivec4((whole >> right) | mix(above << left, none, equal(right, none)));
}

// Returns the integers of numbers on a grid of `step`.
ivec4 whole_steps(vec4 v, float step) { return ivec4(roundEven(v / step)); }

#ifdef FIXED_PAIR
ivec4 fixed_times(ivec4 v, int multiplier, int first_bit) {
  return fixed_product(v, ivec4(multiplier), ivec4(bitfieldExtract(fixed_shifts, first_bit, 8)));
}
int fixed_sum_shift() { return bitfieldExtract(fixed_shifts, 24, 8); }
ivec4 fixed_a_part(ivec4 a) { return fixed_times(a << fixed_sum_shift(), fixed_a, 0); }
ivec4 fixed_b_part(ivec4 b) { return fixed_times(b << fixed_sum_shift(), fixed_b, 8); }
ivec4 fixed_Add(ivec4 a, ivec4 b) { return fixed_times(fixed_a_part(a) + fixed_b_part(b), fixed_y, 16); }
ivec4 fixed_Sub(ivec4 a, ivec4 b) { return fixed_times(fixed_a_part(a) - fixed_b_part(b), fixed_y, 16); }
ivec4 fixed_SquaredDifference(ivec4 a, ivec4 b) {
  ivec4 difference = fixed_a_part(a) - fixed_b_part(b);
  return fixed_times(difference * difference, fixed_y, 16);
}
ivec4 fixed_Mul(ivec4 a, ivec4 b) { return fixed_times(a * b, fixed_y, 16); }
ivec4 fixed_PRelu(ivec4 a, ivec4 slope) {
  return mix(fixed_times(a, fixed_a, 0), fixed_Mul(a, slope), lessThan(a, ivec4(0)));
}
#endif

#endif

// Functions of the rows of quantised tensors in integers, in every layout and storage, and of long rows.
// litert_integers_test.cpp compares them with LiteRT.
#include "graph/operators/reduction/fixed_rows.hpp"

#include <gtest/gtest.h>

#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace fixed_rows_test {

// Integers of `bits` bits, spread over their whole range.
HostTensor integers(const Shape& shape, int bits, float step, int64_t zero) {
  std::vector<float> values;
  const int64_t count = int64_t{1} << bits;
  for (int64_t i = 0; i < element_count(shape); ++i)
    values.push_back(static_cast<float>((i * i * 37 + i * 101) % count - zero) * step);
  return HostTensor::f32(shape, values);
}

void check_kind(FixedRowsKind kind, const Shape& shape, int64_t axis, float step, float beta = 1.0f) {
  const int bits = kind == FixedRowsKind::softmax_16 ? 16 : 8;
  const int64_t zero = kind == FixedRowsKind::softmax_16 ? 32768 : 77;
  OperatorCase test{.type = "FixedRows", .inputs = {integers(shape, bits, step, zero)}};
  const bool is_length = kind >= FixedRowsKind::unit_length;
  test.attributes.set("kind", static_cast<int64_t>(kind));
  test.attributes.set("axis", axis);
  test.attributes.set("x_step", step);
  test.attributes.set("y_step", is_length ? 0x1p-7f : kind == FixedRowsKind::softmax ? 0x1p-8f : 0x1p-15f);
  test.attributes.set("y_least", int64_t{is_length ? -128 : 0});
  test.attributes.set("y_most", int64_t{is_length ? 127 : kind == FixedRowsKind::softmax ? 255 : 32767});
  test.attributes.set("beta", beta);
  check_operator(test);
}

TEST(FixedRows, Softmax) {
  check_kind(FixedRowsKind::softmax, {2, 21, 5, 3}, 1, 0.05f);
  check_kind(FixedRowsKind::softmax, {7, 40}, -1, 0.5f, 0.7f);
  check_kind(FixedRowsKind::softmax, {3, 1001}, -1, 0.02f);
  check_kind(FixedRowsKind::softmax, {6, 1}, -1, 0.1f);
}

TEST(FixedRows, SoftmaxOf16Bits) {
  check_kind(FixedRowsKind::softmax_16, {2, 6, 5, 3}, 1, 1e-4f);
  check_kind(FixedRowsKind::softmax_16, {5, 37}, -1, 1e-3f);
  check_kind(FixedRowsKind::softmax_16, {2, 700}, -1, 1e-5f);
}

TEST(FixedRows, UnitLength) {
  for (const FixedRowsKind kind : {FixedRowsKind::unit_length, FixedRowsKind::unit_length_u8}) {
    check_kind(kind, {2, 13, 4, 3}, 1, 0.25f);
    check_kind(kind, {4, 1}, -1, 0.25f);
    check_kind(kind, {3, 9000}, -1, 0.25f);
  }
}

}  // namespace fixed_rows_test
}  // namespace vellum::test

// Lowers convolutions and products of 8-bit integers with 32-bit sums, and all other integer products.
#include "graph/operators/matmul/quantized.hpp"

#include "graph/operators/matmul/matmul.hpp"
#include "kernels/conv/contraction.hpp"
#include "kernels/elementwise/elementwise.hpp"
#include "kernels/framework/contract.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/matmul/integer_product.hpp"

namespace vellum {

namespace {

// Returns input i minus its zero point, which is input `zero` and is read with the shape `zero_shape` for
// broadcasting.
TensorId centred(Lowering& lowering, size_t i, size_t zero, Shape zero_shape) {
  const TensorId x = lowering.read(i, Layout::linear);
  if (!lowering.has_input(zero)) return x;
  const Shape& shape = lowering.input_type(i).shape;
  const TensorId y = integer_workspace(lowering, "centred", shape);
  combine_integers(lowering, "Sub", DType::i32, {x, shape},
                   {lowering.read(zero, Layout::linear), std::move(zero_shape)}, {y, shape});
  return y;
}

// Returns the shape that broadcasts one value for all elements, or one for each index of dimension `axis` of
// `rank`.
Shape along(int64_t count, size_t axis, size_t rank) {
  Shape shape(rank, 1);
  shape[axis] = count;
  return shape;
}

int64_t count_of(const Lowering& lowering, size_t i) {
  return lowering.has_input(i) ? element_count(lowering.input_type(i).shape) : 1;
}

}  // namespace

void multiply_integers(Lowering& lowering, TensorId a, TensorId b) {
  const OperatorInput inputs[] = {{true, {DType::i64, lowering.input_type(0).shape}, nullptr},
                                  {true, {DType::i64, lowering.input_type(1).shape}, nullptr}};
  const MatMul::Extent e = MatMul().extent(inputs);
  Contraction c{{e.batch,
                 {broadcast_strides(Shape(e.a.begin(), e.a.end() - 2), e.batch),
                  broadcast_strides(Shape(e.b.begin(), e.b.end() - 2), e.batch)}},
                {{e.k}, {{1}, {e.n}}}};
  for (int64_t& stride : c.kept.strides[0]) stride *= e.m * e.k;
  for (int64_t& stride : c.kept.strides[1]) stride *= e.k * e.n;
  for (const auto& [dim, a_step, b_step] :
       {std::array{e.m, e.k, int64_t{0}}, std::array{e.n, int64_t{0}, int64_t{1}}}) {
    c.kept.dims.push_back(dim);
    c.kept.strides[0].push_back(a_step);
    c.kept.strides[1].push_back(b_step);
  }
  if (!fits_contract(c)) return lowering.run_on_host_for_rank();
  contract(lowering, a, b, lowering.write(0, Layout::linear), c);
}

void lower_matmul_integer(Lowering& lowering) {
  const size_t a_rank = lowering.input_type(0).shape.size(), b_rank = lowering.input_type(1).shape.size();
  if (std::max(a_rank, b_rank) > kMaxElementwiseRank)
    return lowering.run_on_host("MatMulInteger of more than six dimensions has no kernel");
  // A has a zero point for each row, B for each column.
  const TensorId a =
      centred(lowering, 0, 2, along(count_of(lowering, 2), a_rank > 1 ? a_rank - 2 : 0, a_rank));
  const TensorId b = centred(lowering, 1, 3, along(count_of(lowering, 3), b_rank - 1, b_rank));
  multiply_integers(lowering, a, b);
}

void lower_conv_integer(Lowering& lowering) {
  const size_t rank = lowering.input_type(0).shape.size();
  const TensorId x = centred(lowering, 0, 2, Shape(rank, 1));
  const TensorId w = centred(lowering, 1, 3, along(count_of(lowering, 3), 0, rank));
  const TensorId y = lowering.write(0, Layout::linear);
  convolve_by_contraction(lowering, lowering.op<ConvInteger>().conv, x, w, y);
}

}  // namespace vellum

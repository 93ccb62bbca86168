// MatMul, FixedMatMul and Gemm.
#include "graph/operators/matmul/matmul.hpp"

#include <algorithm>
#include <bit>

#include "graph/operators/matmul/fixed_matmul.hpp"
#include "kernels/conv/byte_matrices.hpp"
#include "kernels/conv/byte_weights.hpp"
#include "kernels/conv/dot_products.hpp"
#include "kernels/conv/pointwise.hpp"
#include "kernels/conv/result_table.hpp"
#include "kernels/conv/subgroup_broadcast.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "kernels/matmul/integer_product.hpp"
#include "kernels/matmul/matmul.hpp"
#include "shaders/matmul/matmul_packed.h"

namespace vellum {
namespace {

OperatorInput known_type(const Lowering& lowering, size_t i) {
  return {true, lowering.input_type(i), nullptr};
}

bool floating(const Lowering& lowering) {
  const DType type = lowering.output_type().dtype;
  return type == DType::f32 || type == DType::f16 || type == DType::f64;
}

// --- B constant and the same for all rows of A: packed like the weights of a 1x1 convolution ---

// Returns whether the kernel should use fp16 arithmetic. Linear kernels multiply four halves at a time, and
// read graph inputs as fp32.
bool should_multiply_halves(Lowering& lowering, const Product& p, Layout layout) {
  if (!should_multiply_halves(lowering)) return false;
  return layout == Layout::channels4 ||
         (p.k % 4 == 0 && lowering.tensor(lowering.read(0, layout)).desc.element == ElementType::f16);
}

Packing product_packing(const Product& p, const ConvWeights& weights) {
  Packing packing{PackingScheme::product, weights.packing_parameters()};
  for (const float factor : {p.alpha, p.beta}) packing.parameters.push_back(std::bit_cast<int32_t>(factor));
  for (const int64_t stride : p.b_strides) packing.parameters.push_back(stride);
  return packing;
}

float factor_of(const Product& p, const std::vector<float>& values, int64_t column, int64_t k) {
  return p.alpha * values[static_cast<size_t>(k * p.b_strides[0] + column * p.b_strides[1])];
}

// Returns the packed weights. `bias`: one value, one for each column, or empty.
WeightValues product_values(const Lowering& lowering, const Product& p, const ConvWeights& weights,
                            std::vector<float> bias) {
  if (bias.size() == 1) bias.assign(static_cast<size_t>(p.n), bias.front());
  for (float& value : bias) value *= p.beta;
  WeightOrigin origin{product_packing(p, weights), {*lowering.constant(1)}};
  if (p.has_c) origin.sources.push_back(*lowering.constant(2));
  const auto pack = [weights, p, b = *lowering.constant(1), bias = std::move(bias)](auto by) {
    const std::vector<float> values = b.to_floats();
    return (weights.*by)([&](int64_t column, int64_t k, int64_t) { return factor_of(p, values, column, k); },
                         bias);
  };
  WeightValues values([pack] { return pack(&ConvWeights::pack); }, std::move(origin));
  if (weights.bytes) values.make_bytes = [pack] { return pack(&ConvWeights::pack_bytes); };
  return values;
}

ByteWeightsPointer byte_factors(const Lowering& lowering, const Product& p) {
  if (!lowering.may_have_byte_weights()) return nullptr;
  const std::vector<float> values = lowering.constant(1)->to_floats();
  return find_byte_weights(p.n, p.k,
                           [&](int64_t column, int64_t k) { return factor_of(p, values, column, k); });
}

// The weights as integers; null where they are none.
struct IntegerFactors {
  ByteWeightsPointer bytes, narrow;
};

IntegerFactors integer_factors(const Lowering& lowering, const Product& p) {
  IntegerFactors found{.bytes = byte_factors(lowering, p)};
  if (!lowering.has_only_integer_weights()) return found;
  const std::vector<float> values = lowering.constant(1)->to_floats();
  found.narrow = find_narrow_weights(
      {.outputs = p.n, .inputs = p.k, .fits_bytes = found.bytes != nullptr},
      [&](int64_t column, int64_t k, int64_t) { return factor_of(p, values, column, k); });
  return found;
}

// Multiplies in channels4: the rows of A are pixels of a 1x1 convolution. `result`: where the product is
// stored; kNoTensor: in output 0.
void multiply_channels4(Lowering& lowering, const Product& p, std::vector<float> bias,
                        TensorId result = kNoTensor) {
  const int64_t rows = lowering.of_whole(p.m);
  const bool in_a_row = lowering.desc_of_input(0).storage == Storage::image2d;
  const auto [bytes, narrow] = integer_factors(lowering, p);
  const ByteWeightsPointer steps = in_steps(lowering, bytes, p.activation);
  const PointwiseTile tile = lowering.best_of(
      tiles_for(narrow, pointwise_tiles("product", lowering.caps(),
                                        {.pixels = rows,
                                         .inputs = p.k,
                                         .outputs = p.n,
                                         .precision = lowering.options().precision,
                                         .row_pixels = in_a_row ? rows : 0,
                                         .multiplies_bytes = can_multiply_matrices(lowering, steps, p.k)})));
  ConvWeights weights{p.k, p.n, 1, 1, slices_of(tile)};
  if (narrow)
    weights.bytes = narrow;
  else if (accumulates_in_fp16(tile) && should_multiply_halves(lowering, p, Layout::channels4))
    weights.run = kRunOfSlices;
  else if (reads_bytes(tile))
    weights.bytes = bytes;
  if (multiplies_bytes(tile))
    weights.bytes = for_byte_matrices(steps);
  else if (std::holds_alternative<InvocationTile>(tile))
    weights.bytes = in_steps(lowering, weights.bytes, p.activation);
  if (reads_narrow_weights(tile)) weights.bytes = in_dot_products(lowering, weights.bytes, p.k);
  WeightValues values = product_values(lowering, p, weights, std::move(bias));
  const TensorId x = lowering.read(0, Layout::channels4);
  const TensorId residual = read_residual(lowering);
  const TensorId y = result == kNoTensor ? lowering.write(0, Layout::channels4) : result;
  dispatch_pointwise(lowering, x, y, weights, tile, p.activation, std::move(values), {.residual = residual});
}

InvocationTile best_linear_tile(Lowering& lowering, const Product& p, int64_t rows, bool may_broadcast) {
  const DeviceCaps& caps = lowering.caps();
  rows = lowering.of_whole(rows);
  const TileDemand demand{rows, 1, divide_up(p.n, 4), rows * p.n * p.k};
  std::vector<PricedTile> tiles = output_tiles(caps, demand);
  // Only weights of whole texels can be broadcast in a subgroup.
  if (p.k % 4 == 0 && may_broadcast)
    return lowering.best_of(with_subgroup_broadcast("product", caps, tiles, demand));
  std::vector<ParameterCandidate<InvocationTile>> candidates;
  for (const auto& [tile, cost, us] : tiles)
    candidates.push_back({tile_name("product", {tile}), cost, {tile}});
  return lowering.best_of(candidates);
}

// Multiplies in linear layout. `rows`: the rows of all matrices of A.
void multiply_linear(Lowering& lowering, const Product& p, int64_t rows) {
  const auto [bytes, narrow] = integer_factors(lowering, p);
  const InvocationTile tile = best_linear_tile(lowering, p, rows, !narrow);
  ConvWeights weights{p.k, p.n, 1, 1, tile.output.slices};
  if (narrow)
    weights.bytes = narrow;
  else if (!tile.broadcasts() && should_multiply_halves(lowering, p, Layout::linear))
    weights.run = kRunOfSlices;
  else
    weights.bytes = bytes;
  WeightValues values = product_values(lowering, p, weights, {});
  const TensorId x = lowering.read(0, Layout::linear);
  const TensorId grid =
      lowering.weight(lowering.node().name + "/weights", weight_grid(lowering, weights), std::move(values));
  const TensorId y = lowering.write(0, Layout::linear);
  const DeviceCaps& caps = lowering.caps();
  const int64_t blocks = whole_subgroups(caps, tile, divide_up(rows, tile.output.pixels));
  Dispatch dispatch =
      make_dispatch("matmul_packed", grid_1d(caps, blocks * weights.blocks()),
                    {reads("x", x), reads("w", grid), writes("y", y)},
                    MatmulPackedParameters{.activation_params = activation_params_or_bounds(p.activation),
                                           .y_rows = rows,
                                           .y_columns = p.n,
                                           .depth = p.k,
                                           .w_width = weights.width()});
  dispatch.macs = static_cast<uint64_t>(rows * p.n * p.k);
  dispatch.iterations = slice_iterations(lowering.tensor(x).desc, slices(p.k), weights.adds_in_runs());
  if (tile.broadcasts()) dispatch.subgroup_size = caps.subgroup_size;
  define_tile(dispatch, tile);
  define_halves(dispatch, weights.run);
  add_byte_weights(lowering, dispatch, weights);
  if (p.k % 4 == 0) dispatch.defines.emplace_back("QUADS", "1");
  define_activation_or_bounds(dispatch, p.activation);
  lowering.dispatch(std::move(dispatch));
}

// Returns whether the kernels for constant B would exceed the device's bound on iterations.
bool is_too_deep(const Lowering& lowering, int64_t k) {
  return kShortLoops + loop_iterations(divide_up(k, 4), 2) > lowering.caps().max_loop_iterations;
}

MatMul::Extent extent_of(const Lowering& lowering, const MatMul& op) {
  const OperatorInput inputs[] = {known_type(lowering, 0), known_type(lowering, 1)};
  return op.extent(inputs);
}

Product product_of(const MatMul& op, const MatMul::Extent& e) {
  Product p;
  p.m = e.m, p.n = e.n, p.k = e.k, p.batch = e.batch;
  p.alpha = op.alpha;
  p.a_strides[0] = e.k;
  p.b_strides[0] = e.n;
  if (op.transpose_a) p.a_strides[0] = 1, p.a_strides[1] = e.m;
  if (op.transpose_b) p.b_strides[0] = 1, p.b_strides[1] = e.k;
  p.a_batch = broadcast_strides(Shape(e.a.begin(), e.a.end() - 2), e.batch);
  p.b_batch = broadcast_strides(Shape(e.b.begin(), e.b.end() - 2), e.batch);
  for (int64_t& stride : p.a_batch) stride *= e.m * e.k;
  for (int64_t& stride : p.b_batch) stride *= e.k * e.n;
  return p;
}

// Returns whether C is the same in every row of the result.
bool same_in_all_rows(const Shape& c) { return c.size() < 2 || c[0] == 1; }

}  // namespace

void lower_matmul(Lowering& lowering) {
  const MatMul& op = lowering.op<MatMul>();
  if (!floating(lowering) && (op.transpose_a || op.transpose_b))
    return lowering.run_on_host("MatMul of transposed integers has no kernel");
  if (!floating(lowering))
    return multiply_integers(lowering, lowering.read(0, Layout::linear), lowering.read(1, Layout::linear));
  const MatMul::Extent e = extent_of(lowering, op);
  const Shape &a_shape = lowering.input_type(0).shape, &b_shape = lowering.input_type(1).shape;
  Product p = product_of(op, e);
  const bool one_b = element_count(Shape(e.b.begin(), e.b.end() - 2)) == 1;
  if (lowering.constant(1) && one_b && !op.transpose_a && e.a.size() - 2 == e.batch.size() &&
      !is_too_deep(lowering, e.k)) {
    const bool channels4 = a_shape.size() <= 2 && b_shape.size() == 2;
    if (channels4) return multiply_channels4(lowering, p, {});
    if (e.n % 4 == 0) return multiply_linear(lowering, p, element_count(e.batch) * e.m);
  }
  lower_linear_product(lowering, std::move(p));
}

void lower_fixed_matmul(Lowering& lowering) {
  const auto& op = lowering.op<FixedMatMul>();
  Product p = product_of(op.product, extent_of(lowering, op.product));
  p.activation = op.activation;
  if (op.multiplies_integers() && has_step(lowering, 0, op.fixed_point.a_step) &&
      has_step(lowering, 1, op.fixed_point.b_step))
    p.fixed_point = op.fixed_point;
  lower_linear_product(lowering, std::move(p));
}

void lower_gemm(Lowering& lowering) { lower_product(lowering, lowering.op<Gemm>()); }

namespace {

Product product_of(const Lowering& lowering, const Gemm& gemm) {
  const Shape &a = lowering.input_type(0).shape, &b = lowering.input_type(1).shape,
              &y = lowering.output_type().shape;
  Product p;
  p.m = y[0], p.n = y[1], p.k = a[gemm.transpose_a ? 0 : 1];
  p.a_strides[0] = a[1];
  p.b_strides[0] = b[1];
  if (gemm.transpose_a) std::swap(p.a_strides[0], p.a_strides[1]);
  if (gemm.transpose_b) std::swap(p.b_strides[0], p.b_strides[1]);
  p.alpha = gemm.alpha;
  p.beta = gemm.beta;
  p.has_c = lowering.has_input(2) && gemm.beta != 0.0f;
  p.activation = gemm.activation;
  return p;
}

std::vector<float> bias_values(const Lowering& lowering, const Product& p) {
  return p.has_c ? lowering.constant(2)->to_floats() : std::vector<float>();
}

}  // namespace

WeightValues gemm_values(Lowering& lowering, const Gemm& gemm, ConvWeights& weights) {
  const Product p = product_of(lowering, gemm);
  const auto [bytes, narrow] = integer_factors(lowering, p);
  if (narrow)
    weights.bytes = narrow;
  else if (should_multiply_halves(lowering, p, Layout::channels4))
    weights.run = kRunOfSlices;
  else
    weights.bytes = bytes;
  return product_values(lowering, p, weights, bias_values(lowering, p));
}

void lower_gemm_into(Lowering& lowering, const Gemm& gemm, TensorId y) {
  const Product p = product_of(lowering, gemm);
  multiply_channels4(lowering, p, bias_values(lowering, p), y);
}

void lower_product(Lowering& lowering, const Gemm& gemm) {
  if (!floating(lowering)) return lowering.run_on_host("integers have no kernel");
  const Shape& y = lowering.output_type().shape;
  Product p = product_of(lowering, gemm);
  const bool bias_known =
      !p.has_c || (lowering.constant(2) && same_in_all_rows(lowering.input_type(2).shape));
  if (lowering.constant(1) && bias_known && !gemm.transpose_a && !is_too_deep(lowering, p.k))
    return multiply_channels4(lowering, p, bias_values(lowering, p));
  if (lowering.has_input(kResultTable))
    return lowering.run_on_host("a table of the results of such a product has no kernel");
  if (lowering.has_input(3))
    return lowering.run_on_host("a residual of a product of computed matrices has no kernel");
  if (p.has_c) {
    const std::vector<int64_t> strides = broadcast_strides(lowering.input_type(2).shape, y);
    std::copy(strides.begin(), strides.end(), p.c_strides);
  }
  if (lowering.constant(0) && !lowering.constant(1) && lower_left_product(lowering, p)) return;
  lower_linear_product(lowering, std::move(p));
}

}  // namespace vellum

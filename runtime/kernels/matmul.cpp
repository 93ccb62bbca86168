// MatMul and Gemm.
#include "graph/matmul.hpp"

#include <algorithm>
#include <bit>

#include "kernels/activation.hpp"
#include "kernels/conv_weights.hpp"
#include "kernels/grid.hpp"
#include "kernels/integer_product.hpp"
#include "kernels/lowering.hpp"

namespace vellum {
namespace {

// y = activation(alpha * A B + beta * C), for each matrix of a batch.
struct Product {
  int64_t m = 0, n = 0, k = 0;
  Shape batch;                            // of y
  std::vector<int64_t> a_batch, b_batch;  // strides along `batch`, in elements; 0 where repeated
  int64_t a_strides[2] = {0, 1}, b_strides[2] = {0, 1}, c_strides[2] = {0, 0};  // of a row, of a column
  float alpha = 1.0f, beta = 0.0f;
  bool has_c = false;
  Activation activation;
};

OperatorInput known_type(const Lowering& lowering, size_t i) {
  return {true, lowering.input_type(i), nullptr};
}

bool floating(const Lowering& lowering) {
  const DType type = lowering.output_type().dtype;
  return type == DType::f32 || type == DType::f16 || type == DType::f64;
}

// --- Both operands known only at run time, or a form that has no faster kernel ---

// Merges neighbouring batch dimensions that both operands walk through evenly, and fills up to four.
bool to_four_batch_dimensions(Product& p) {
  for (size_t i = p.batch.size(); i-- > 1;) {
    if (p.a_batch[i - 1] != p.a_batch[i] * p.batch[i] || p.b_batch[i - 1] != p.b_batch[i] * p.batch[i])
      continue;
    p.batch[i - 1] *= p.batch[i];
    p.a_batch[i - 1] = p.a_batch[i];
    p.b_batch[i - 1] = p.b_batch[i];
    for (std::vector<int64_t>* list : {&p.batch, &p.a_batch, &p.b_batch})
      list->erase(list->begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (p.batch.size() > 4) return false;
  const size_t missing = 4 - p.batch.size();
  p.batch.insert(p.batch.begin(), missing, 1);
  p.a_batch.insert(p.a_batch.begin(), missing, 0);
  p.b_batch.insert(p.b_batch.begin(), missing, 0);
  return true;
}

void lower_linear(Lowering& lowering, Product p) {
  if (!to_four_batch_dimensions(p))
    return lowering.run_on_host("more than four batch dimensions that do not merge");
  const int64_t matrices = element_count(p.batch);
  const bool whole_quads = p.n % 4 == 0;
  const ConvTile tile =
      choose_conv_tile(lowering.caps(), p.m, matrices, divide_up(p.n, 4), p.m * p.n * p.k * matrices);
  const int64_t tiles = divide_up(p.n / 4, tile.slices) * divide_up(p.m, tile.pixels) * matrices;
  const Grid grid = grid_1d(lowering.caps(), whole_quads ? tiles : divide_up(p.m * p.n * matrices, 4));
  Dispatch dispatch;
  dispatch.shader = whole_quads ? "matmul" : "matmul_any";
  dispatch.workgroup_size = grid.workgroup_size;
  dispatch.workgroup_count = grid.workgroup_count;
  dispatch.bindings = {{lowering.read(0, Layout::linear), Access::read},
                       {lowering.read(1, Layout::linear), Access::read}};
  if (p.has_c) dispatch.bindings.push_back({lowering.read(2, Layout::linear), Access::read});
  dispatch.bindings.push_back({lowering.write(0, Layout::linear), Access::write});
  dispatch.defines = {{"HAS_C", p.has_c ? "1" : "0"}};
  if (whole_quads) define_tile(dispatch, tile);
  define_activation_or_bounds(dispatch, p.activation);
  PushConstants constants;
  push_activation_or_bounds(constants, p.activation);
  constants.ivec4(p.m, p.n, p.k, matrices);
  for (const std::vector<int64_t>* list : {&p.batch, &p.a_batch, &p.b_batch})
    constants.ivec4((*list)[0], (*list)[1], (*list)[2], (*list)[3]);
  constants.ints(
      {p.a_strides[0], p.a_strides[1], p.b_strides[0], p.b_strides[1], p.c_strides[0], p.c_strides[1]});
  constants.floats({p.alpha, p.beta});
  dispatch.push_constants = constants.bytes();
  lowering.dispatch(std::move(dispatch));
}

// --- B constant and the same for all rows of A: packed like the weights of a 1x1 convolution ---

struct PackedProduct {
  int64_t rows = 0;
  ConvWeights weights;
  ConvTile tile;
  std::function<std::vector<float>()> values;
  WeightOrigin origin;

  WeightValues weight_values() const { return {values, origin}; }
};

// `bias` has one value, or one per column, or none.
PackedProduct pack_product(Lowering& lowering, const Product& p, int64_t rows, std::vector<float> bias) {
  PackedProduct packed;
  packed.rows = rows;
  packed.tile = choose_tile(lowering, "product",
                            conv_tiles(lowering.caps(), rows, 1, divide_up(p.n, 4), rows * p.n * p.k));
  packed.weights = {p.k, p.n, 1, 1, packed.tile.slices};
  if (bias.size() == 1) bias.assign(static_cast<size_t>(p.n), bias.front());
  for (float& value : bias) value *= p.beta;
  std::string packing = "product " + packed.weights.to_text();
  for (const float factor : {p.alpha, p.beta})
    packing += " " + std::to_string(std::bit_cast<uint32_t>(factor));
  for (const int64_t stride : p.b_strides) packing += " " + std::to_string(stride);
  packed.origin = {std::move(packing), {*lowering.constant(1)}};
  if (p.has_c) packed.origin.sources.push_back(*lowering.constant(2));
  packed.values = [grid = packed.weights, p, b = *lowering.constant(1), bias = std::move(bias)] {
    const std::vector<float> values = b.to_floats();
    return grid.pack(
        [&](int64_t column, int64_t k, int64_t) {
          return p.alpha * values[static_cast<size_t>(k * p.b_strides[0] + column * p.b_strides[1])];
        },
        bias);
  };
  return packed;
}

// A and y as they are, matrices whose rows are pixels.
void lower_packed_channels4(Lowering& lowering, const Product& p, PackedProduct packed) {
  const TensorId x = lowering.read(0, Layout::channels4);
  const TensorId y = lowering.write(0, Layout::channels4);
  dispatch_pointwise(lowering, x, y, packed.weights, packed.tile, p.activation, packed.weight_values());
}

void lower_packed_linear(Lowering& lowering, const Product& p, PackedProduct packed) {
  const TensorId x = lowering.read(0, Layout::linear);
  const ConvWeights& weights = packed.weights;
  const TensorId grid =
      lowering.weight(lowering.node().name + "/weights",
                      weight_grid(lowering, weights.width(), weights.height()), packed.weight_values());
  const TensorId y = lowering.write(0, Layout::linear);
  const int64_t invocations = divide_up(packed.rows, packed.tile.pixels) * weights.blocks();
  Dispatch dispatch = conv_dispatch(lowering, "matmul_packed", invocations, x, grid, y);
  define_tile(dispatch, packed.tile);
  define_activation_or_bounds(dispatch, p.activation);
  PushConstants constants;
  push_activation_or_bounds(constants, p.activation);
  constants.ivec4(packed.rows, p.n, p.k, weights.width());
  dispatch.push_constants = constants.bytes();
  lowering.dispatch(std::move(dispatch));
}

// C is the same in every row of the result.
bool same_in_all_rows(const Shape& c) { return c.size() < 2 || c[0] == 1; }

}  // namespace

void lower_matmul(Lowering& lowering) {
  if (!floating(lowering))
    return multiply_integers(lowering, lowering.read(0, Layout::linear), lowering.read(1, Layout::linear));
  const OperatorInput inputs[] = {known_type(lowering, 0), known_type(lowering, 1)};
  const MatMul::Extent e = lowering.op<MatMul>().extent(inputs);
  const Shape &a_shape = lowering.input_type(0).shape, &b_shape = lowering.input_type(1).shape;
  Product p;
  p.m = e.m, p.n = e.n, p.k = e.k, p.batch = e.batch;
  p.a_strides[0] = e.k;
  p.b_strides[0] = e.n;
  const bool one_b = element_count(Shape(e.b.begin(), e.b.end() - 2)) == 1;
  if (lowering.constant(1) && one_b && e.a.size() - 2 == e.batch.size()) {
    PackedProduct packed = pack_product(lowering, p, element_count(e.batch) * e.m, {});
    if (a_shape.size() <= 2 && b_shape.size() == 2)
      return lower_packed_channels4(lowering, p, std::move(packed));
    if (e.n % 4 == 0) return lower_packed_linear(lowering, p, std::move(packed));
  }
  p.a_batch = broadcast_strides(Shape(e.a.begin(), e.a.end() - 2), e.batch);
  p.b_batch = broadcast_strides(Shape(e.b.begin(), e.b.end() - 2), e.batch);
  for (int64_t& stride : p.a_batch) stride *= e.m * e.k;
  for (int64_t& stride : p.b_batch) stride *= e.k * e.n;
  lower_linear(lowering, std::move(p));
}

void lower_gemm(Lowering& lowering) {
  if (!floating(lowering)) return lowering.run_on_host("integers have no kernel");
  const Gemm& gemm = lowering.op<Gemm>();
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
  const bool bias_known =
      !p.has_c || (lowering.constant(2) && same_in_all_rows(lowering.input_type(2).shape));
  if (lowering.constant(1) && bias_known && !gemm.transpose_a) {
    std::vector<float> bias = p.has_c ? lowering.constant(2)->to_floats() : std::vector<float>();
    return lower_packed_channels4(lowering, p, pack_product(lowering, p, p.m, std::move(bias)));
  }
  if (p.has_c) {
    const std::vector<int64_t> strides = broadcast_strides(lowering.input_type(2).shape, y);
    std::copy(strides.begin(), strides.end(), p.c_strides);
  }
  lower_linear(lowering, std::move(p));
}

}  // namespace vellum

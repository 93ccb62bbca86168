// Converters of products of matrices.
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/matmul/fixed_matmul.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "import/tflite/byte_tables.hpp"
#include "import/tflite/call.hpp"
#include "import/tflite/fixed_point.hpp"
#include "import/tflite/hybrid.hpp"

namespace vellum::tflite {
namespace {

// Emits a product of more than two dimensions, several of which are open. A Gemm is not possible, because its
// rows could not be reshaped back.
void fully_connected_of_open_rows(const Call& call, schema::FusedActivation activation) {
  auto transpose = std::make_shared<Transpose>();
  transpose->perm = Ints{1, 0};
  const ValueId weights = call.emit_inner(std::move(transpose), {call.writer.in_file_order(call.input(1))});
  std::vector<ValueId> factors{call.writer.in_file_order(call.input(0)), weights};
  if (!call.has_input(2)) return call.emit(std::make_shared<MatMul>(), std::move(factors), false, activation);
  const ValueId product = call.emit_inner(std::make_shared<MatMul>(), std::move(factors));
  call.emit(make_binary(BinaryKind::add), {product, call.writer.in_file_order(call.input(2))}, false,
            activation);
}

// Emits the product of x with a constant matrix (outputs x inputs) and a bias (optional) in fixed point, as a
// 1x1 convolution of images of one pixel.
void emit_in_fixed_point(const Call& call, ValueId x, const HostTensor& weights, std::optional<ValueId> bias,
                         std::shared_ptr<const FixedPoint> fixed, schema::FusedActivation activation) {
  const int64_t outputs = weights.shape()[0], inputs = weights.shape()[1];
  auto conv = std::make_shared<Conv>();
  conv->fixed_point = std::move(fixed);
  auto rows = std::make_shared<Reshape>();
  rows->shape = Ints{-1, inputs, 1, 1};
  std::vector<ValueId> values{call.emit_inner(std::move(rows), {x}),
                              call.writer.add_constant(call.writer.name_of(call.input(1)) + "_weights",
                                                       weights.reshaped({outputs, inputs, 1, 1}))};
  if (bias) values.push_back(*bias);
  const ValueId product = call.emit_inner(std::move(conv), std::move(values), activation);
  auto back = std::make_shared<Reshape>();
  back->shape = call.writer.type(call.output()).shape;
  const Shape& y = *back->shape;
  if (std::count(y.begin(), y.end(), kUnknownDim) == 0) back->shape->front() = -1;
  call.emit(std::move(back), {product}, false);
}

// Emits a layer in fixed point. Returns whether it is.
bool emit_in_fixed_point(const Call& call, schema::FusedActivation activation) {
  const HostTensor* constant = call.writer.constant(call.input(1));
  if (constant == nullptr || !call.writer.quantised(call.input(1))) return false;
  const int64_t outputs = constant->shape()[0];
  // With one multiplier for all channels, LiteRT multiplies the scales of bytes as floats.
  const bool multiplies_floats = call.writer.scales_of(call.input(1)).size() == 1 &&
                                 call.writer.stored_type(call.input(0)) != DType::i16;
  const auto fixed = read_fixed_point(call, outputs, multiplies_floats);
  if (fixed == nullptr) return false;
  fixed->rounds_once = !fixed->has_16_bits;
  for (const FixedMultiplier& multiplier : fixed->multipliers)
    if (fixed->rounds_once && multiplier.shift > 0) return false;
  emit_in_fixed_point(
      call, call.writer.in_file_order(call.input(0)), *constant,
      call.has_input(2) ? std::optional(call.writer.in_file_order(call.input(2))) : std::nullopt, fixed,
      activation);
  return true;
}

// A row of floats for each image of the batch, and weights of integers. LiteRT quantises each row by itself
// (dequantise_batches() of passes/).
bool emit_hybrid_row(const Call& call, const Shape& y, const schema::FullyConnectedOptions& options) {
  const Shape &weights = call.writer.type(call.input(1)).shape, &x = call.writer.type(call.input(0)).shape;
  const Shape each(x.empty() ? x.end() : x.begin() + 1, x.end());
  if (weights[1] < 1 || !is_known(each) || element_count(each) != weights[1]) return false;
  if (!is_hybrid(call, weights[0])) return false;
  if (std::count(y.begin(), y.end(), kUnknownDim) > 1) return false;
  auto row = std::make_shared<Reshape>();
  row->shape = Ints{-1, weights[1]};
  const ValueId value = call.emit_inner(std::move(row), {call.writer.in_file_order(call.input(0))});
  const HostTensor filters = call.writer.constant(call.input(1))->reshaped({weights[0], weights[1], 1, 1});
  const StepsForm form =
      options.asymmetric_quantize_inputs() ? StepsForm::signed_bytes : StepsForm::symmetric;
  const ValueId product = emit_hybrid(call, Conv(), value, filters, form, options.activation(), true);
  auto back = std::make_shared<Reshape>();
  back->shape = y;
  if (std::count(y.begin(), y.end(), kUnknownDim) == 0) back->shape->front() = -1;
  call.emit(std::move(back), {product}, false);
  return true;
}

}  // namespace

// Inputs x, weights (outputs x inputs), bias (optional): all but the last dimension of x are rows.
void convert_fully_connected(const Call& call) {
  const auto& options = call.required_options<schema::FullyConnectedOptions>();
  if (options.weights_format() != schema::WeightsFormat::standard) refuse_unsupported("shuffled weights");
  const Shape& weights = call.writer.type(call.input(1)).shape;
  const Shape& y = call.writer.type(call.output()).shape;
  if (weights.size() != 2 || !is_known(weights)) refuse_model("weights of shape " + to_string(weights));
  const Shape& x_shape = call.writer.type(call.input(0)).shape;
  const bool keeps_rows = options.keep_num_dims() && x_shape.size() != 2;
  if (keeps_rows && std::count(y.begin(), y.end(), kUnknownDim) > 1)
    return fully_connected_of_open_rows(call, options.activation());
  if (!keeps_rows && y.size() != 2)
    refuse_model("its output has " + std::to_string(y.size()) + " dimensions, expected 2");
  if (emit_in_fixed_point(call, options.activation()) || emit_hybrid_row(call, y, options)) return;
  ValueId x = call.writer.in_file_order(call.input(0));
  if (x_shape.size() != 2 || x_shape[1] != weights[1]) {
    auto rows = std::make_shared<Reshape>();
    rows->shape = Ints{-1, weights[1]};
    x = call.emit_inner(std::move(rows), {x});
  }
  auto gemm = std::make_shared<Gemm>();
  gemm->transpose_b = true;
  std::vector<ValueId> values{x, call.writer.in_file_order(call.input(1))};
  if (call.has_input(2)) values.push_back(call.writer.in_file_order(call.input(2)));
  if (!keeps_rows) {
    call.emit(std::move(gemm), std::move(values), false, options.activation());
    return;
  }
  const ValueId product = call.emit_inner(std::move(gemm), std::move(values), options.activation());
  auto back = std::make_shared<Reshape>();
  back->shape = y;
  call.emit(std::move(back), {product}, false);
}

namespace {

// Returns the operator of a product. That of two computed tensors of 8 bits multiplies integers; kernels for
// a constant in batches multiply its real numbers.
std::shared_ptr<const Operator> matmul_of(const Call& call) {
  const auto a = grid_scale(call, call.input(0)), b = grid_scale(call, call.input(1)),
             y = grid_scale(call, call.output());
  auto product = std::make_shared<MatMul>();
  if (!a || !b || !y || call.writer.constant(call.input(0)) || call.writer.constant(call.input(1)) ||
      a->has_16_bits() != b->has_16_bits() || a->has_16_bits() != y->has_16_bits())
    return product;
  if (a->has_16_bits()) {
    const double multiplier = static_cast<double>(a->scale * b->scale) / static_cast<double>(y->scale);
    product->alpha = short_multiplier_ratio(multiplier).value_or(1.0f);
    return product;
  }
  auto fixed = std::make_shared<FixedMatMul>();
  fixed->fixed_point = fixed_matmul(a->scale, b->scale, y->scale);
  if (!fixed->fixed_point) return product;
  return fixed;
}

// Emits the product of x with one constant matrix of 8-bit integers. Returns whether it is one. `transposed`:
// the constant is (outputs x inputs).
bool emit_product_with_constant(const Call& call, ValueId x, bool transposed) {
  const HostTensor* constant = call.writer.constant(call.input(1));
  if (constant == nullptr || constant->elements() == 0) return false;
  const Shape &shape = constant->shape(), &y = call.writer.type(call.output()).shape;
  const size_t rank = shape.size();
  if (rank < 2 || constant->elements() != shape[rank - 1] * shape[rank - 2]) return false;
  if (std::count(y.begin(), y.end(), kUnknownDim) > 1) return false;
  auto fixed = read_fixed_point(call, shape[rank - (transposed ? 2 : 1)], true);
  if (fixed == nullptr) return false;
  HostTensor matrix = constant->reshaped({shape[rank - 2], shape[rank - 1]});
  if (!transposed) {
    const HostTensor* inputs[] = {&matrix};
    matrix = Transpose().evaluate(inputs)[0];
  }
  emit_in_fixed_point(call, x, matrix, std::nullopt, std::move(fixed), schema::FusedActivation::none);
  return true;
}

ValueId adjoint_of(const Call& call, ValueId value, size_t rank) {
  if (rank < 2) refuse_model("an adjoint of a vector");
  auto transpose = std::make_shared<Transpose>();
  transpose->perm = Ints(rank);
  std::iota(transpose->perm->begin(), transpose->perm->end(), int64_t{0});
  std::swap((*transpose->perm)[rank - 1], (*transpose->perm)[rank - 2]);
  return call.emit_inner(std::move(transpose), {value});
}

}  // namespace

void convert_batch_matmul(const Call& call) {
  const auto* options = call.options<schema::BatchMatMulOptions>();
  const bool adjoint_x = options != nullptr && options->adjoint_x(),
             adjoint_y = options != nullptr && options->adjoint_y();
  ValueId x = call.writer.in_file_order(call.input(0));
  if (adjoint_x) x = adjoint_of(call, x, call.writer.rank(call.input(0)));
  if (emit_product_with_constant(call, x, adjoint_y)) return;
  ValueId y = call.writer.in_file_order(call.input(1));
  if (adjoint_y) y = adjoint_of(call, y, call.writer.rank(call.input(1)));
  call.emit(matmul_of(call), {x, y}, false);
}

}  // namespace vellum::tflite

// Converters of operators that sum, or select, along axes.
#include <algorithm>
#include <cmath>
#include <utility>

#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/elementwise/cast.hpp"
#include "graph/operators/reduction/fixed_rows.hpp"
#include "graph/operators/reduction/normalization.hpp"
#include "graph/operators/reduction/reduce.hpp"
#include "graph/operators/reduction/softmax.hpp"
#include "import/tflite/byte_tables.hpp"
#include "import/tflite/call.hpp"

namespace vellum::tflite {
namespace {

// `axes`: of the order in which x is held.
FixedMean read_fixed_mean(const Call& call, ReduceKind kind, const Ints& axes, bool image) {
  const auto x = grid_scale(call, call.input(0)), y = grid_scale(call, call.output());
  if (!x || !y || x->has_16_bits() != y->has_16_bits()) return {};
  const bool is_short = x->has_16_bits();
  if (is_short && kind != ReduceKind::mean) return {};
  const Ints shape = by_axis(call.writer.type(call.input(0)).shape, image);
  int64_t count = 1;
  for (const int64_t axis : axes) {
    if (shape[static_cast<size_t>(axis)] < 1) return {};
    count = checked_multiply(count, shape[static_cast<size_t>(axis)]);
  }
  return kind == ReduceKind::sum ? fixed_total(x->scale, y->scale, count)
                                 : fixed_mean(x->scale, y->scale, count, is_short ? 16 : 8);
}

// Emits a function of rows in integers, along the channels.
void emit_fixed_rows(const Call& call, bool image, FixedRowsKind kind, const ByteScale& x, const ByteScale& y,
                     float beta = 1.0f) {
  auto op = std::make_shared<FixedRows>();
  op->kind = kind;
  op->axis = image ? 1 : -1;
  op->x_step = x.scale;
  op->y_step = y.scale;
  op->y_least = y.low - y.zero;
  op->y_most = y.high - y.zero;
  op->beta = beta;
  call.emit(std::move(op), {call.writer.in_order(call.input(0), image)}, image);
}

// LiteRT has fixed steps of the results, as the sum of a row is one.
bool emit_fixed_softmax(const Call& call, bool image, float beta) {
  const auto x = grid_scale(call, call.input(0)), y = grid_scale(call, call.output());
  if (!x || !y || x->has_16_bits() != y->has_16_bits() || !FixedRows::is_scale(beta * x->scale)) return false;
  const bool is_short = x->has_16_bits();
  const float step = is_short ? 0x1p-15f : 0x1p-8f;
  if (std::abs(y->scale - step) > 0.001f * step || y->zero != (is_short ? 0 : y->low)) return false;
  emit_fixed_rows(call, image, is_short ? FixedRowsKind::softmax_16 : FixedRowsKind::softmax, *x, *y, beta);
  return true;
}

bool emit_fixed_unit_length(const Call& call, bool image) {
  const auto x = byte_scale(call, call.input(0)), y = byte_scale(call, call.output());
  if (!x || !y || y->scale != 0x1p-7f) return false;
  const bool is_unsigned = x->low == 0;
  if (y->low != x->low || y->zero != (is_unsigned ? 128 : 0)) return false;
  emit_fixed_rows(call, image, is_unsigned ? FixedRowsKind::unit_length_u8 : FixedRowsKind::unit_length, *x,
                  *y);
  return true;
}

}  // namespace

void convert_reduce(const Call& call) {
  constexpr std::pair<std::string_view, ReduceKind> kKinds[] = {
      {"MEAN", ReduceKind::mean},      {"SUM", ReduceKind::sum},          {"REDUCE_MAX", ReduceKind::max},
      {"REDUCE_MIN", ReduceKind::min}, {"REDUCE_PROD", ReduceKind::prod}, {"REDUCE_ANY", ReduceKind::max},
      {"REDUCE_ALL", ReduceKind::min}};
  const int32_t x = call.input(0);
  const size_t rank = call.writer.rank(x);
  const auto* options = call.options<schema::ReducerOptions>();
  auto op = std::make_shared<Reduce>();
  for (const auto& [type, kind] : kKinds) {
    if (type == call.type) op->kind = kind;
  }
  op->keep_dims = options != nullptr && options->keep_dims();
  Ints axes;
  for (const int64_t axis : call.writer.constant_ints(call.input(1), "the axes")) {
    const auto normal = static_cast<int64_t>(normalize_axis(axis, rank));
    if (std::find(axes.begin(), axes.end(), normal) == axes.end()) axes.push_back(normal);
  }
  if (axes.empty()) refuse_unsupported("a reduction over no axes");
  // If the reduced dimensions are dropped, the others must be in the file's order. They are if the channels,
  // or height and width, are reduced.
  const auto reduces = [&](int64_t axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); };
  const bool image =
      call.writer.held_as_image(x) && (op->keep_dims || reduces(3) || (reduces(1) && reduces(2)));
  if (image) {
    for (int64_t& axis : axes) axis = image_axis(axis);
  }
  if (op->kind == ReduceKind::mean || op->kind == ReduceKind::sum)
    op->fixed_mean = read_fixed_mean(call, op->kind, axes, image);
  op->axes = axes;
  const bool stays_image = image && op->keep_dims;
  call.emit(std::move(op), {call.writer.in_order(x, image)}, stays_image);
}

void convert_arg(const Call& call) {
  const Ints axis = call.writer.constant_ints(call.input(1), "the axis");
  if (axis.size() != 1) refuse_model("the axis is not one number");
  auto op = std::make_shared<ArgReduce>();
  op->minimum = call.type == "ARG_MIN";
  op->axis = axis[0];
  op->keep_dims = false;
  const ValueId indices = call.emit_inner(std::move(op), {call.writer.in_file_order(call.input(0))});
  auto to_type = std::make_shared<Cast>();
  to_type->to = call.writer.type(call.output()).dtype;
  call.emit(std::move(to_type), {indices}, false);
}

// Works along the last dimension of the file's order: the channels of an image.
void convert_softmax(const Call& call) {
  const bool image = call.prefers_image();
  const auto* options = call.options<schema::SoftmaxOptions>();
  if (call.type == "SOFTMAX" && emit_fixed_softmax(call, image, options == nullptr ? 1.0f : options->beta()))
    return;
  ValueId x = call.writer.in_order(call.input(0), image);
  if (options != nullptr && options->beta() != 1.0f) {
    x = call.emit_inner(make_binary(BinaryKind::mul), {x, call.scalar(options->beta())});
  }
  auto op = std::make_shared<Softmax>();
  if (call.type == "LOG_SOFTMAX") op->kind = SoftmaxKind::log_softmax;
  op->axis = image ? 1 : -1;
  call.emit(std::move(op), {x}, image);
}

// x / max(|x|, 1e-3): TFLite bounds the sum of squares by 1e-6.
void convert_l2_normalization(const Call& call) {
  const bool image = call.prefers_image();
  const auto* options = call.options<schema::L2NormOptions>();
  const bool activates = options != nullptr && options->activation() != schema::FusedActivation::none;
  if (!activates && emit_fixed_unit_length(call, image)) return;
  const ValueId x = call.writer.in_order(call.input(0), image);
  auto norm = std::make_shared<Reduce>();
  norm->kind = ReduceKind::l2;
  norm->axes = Ints{image ? 1 : -1};
  const ValueId length = call.emit_inner(std::move(norm), {x});
  const ValueId bounded = call.emit_inner(make_binary(BinaryKind::max), {length, call.scalar(1e-3f)});
  call.emit(make_binary(BinaryKind::div), {x, bounded}, image,
            options != nullptr ? options->activation() : schema::FusedActivation::none);
}

// Sums over channels: the file gives their number to each side, and a factor for each of them.
void convert_local_response_normalization(const Call& call) {
  const auto& options = call.required_options<schema::LocalResponseNormalizationOptions>();
  if (options.radius() < 0 || options.radius() > (1 << 20))
    refuse_model("a radius of " + std::to_string(options.radius()));
  auto norm = std::make_shared<Lrn>();
  norm->size = 2 * int64_t{options.radius()} + 1;
  norm->alpha = options.alpha() * static_cast<float>(norm->size);
  norm->beta = options.beta();
  norm->bias = options.bias();
  call.emit(std::move(norm), {call.writer.as_image(call.input(0))}, true);
}

}  // namespace vellum::tflite

// Quantised operators of com.microsoft, which ONNX Runtime's quantiser and optimiser write. They become
// dequantisations, an operator on floats, and a quantisation. Products of 8-bit weights with values that are
// quantised at run time become MatMulInteger.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include <algorithm>
#include <utility>

#include "graph/composed.hpp"
#include "graph/operators/contrib.hpp"
#include "graph/operators/contrib_rows.hpp"
#include "graph/operators/matmul/block_product.hpp"
#include "graph/operators/movement/block_gather.hpp"

namespace vellum {
namespace {

// Adds a DequantizeLinear of input `first`, with its scale at `first` + 1 and, if there is one, its zero
// point at `first` + 2.
ValueId dequantize(Body& body, size_t first, int64_t axis = 1) {
  std::vector<ValueId> inputs{body.input(first, "a quantised tensor"), body.input(first + 1, "its scale")};
  if (body.has_input(first + 2)) inputs.push_back(body.input(first + 2, "its zero point"));
  return body.add("DequantizeLinear", inputs, {{"axis", axis}});
}

// Adds a QuantizeLinear of `y` with the scale of input `first` and, if there is one, the zero point of
// `first` + 1; the output has integers of the type of input `typed`.
void output_quantized(Body& body, ValueId y, size_t first, size_t typed) {
  std::vector<ValueId> inputs{y, body.input(first, "the scale of the output")};
  inputs.push_back(
      body.has_input(first + 1)
          ? body.input(first + 1, "the zero point of the output")
          : body.constant(HostTensor(body.type(body.input(typed, "a quantised tensor")).dtype, {})));
  body.output(body.add("QuantizeLinear", inputs));
}

// QLinearAdd and QLinearMul.
std::shared_ptr<const Operator> make_qlinear_binary(const NodeSpec& spec) {
  const std::string type = spec.type.substr(kContribPrefix.size() + std::string_view("QLinear").size());
  return composed(spec, [type](Body& body) {
    const ValueId a = dequantize(body, 0), b = dequantize(body, 3);
    output_quantized(body, body.add(type, {a, b}), 6, 0);
  });
}

// The axes of a tensor whose channels are last as those of one whose channels are second, and the inverse.
Ints channels_second(size_t rank) {
  Ints order{0, static_cast<int64_t>(rank) - 1};
  for (size_t axis = 1; axis + 1 < rank; ++axis) order.push_back(static_cast<int64_t>(axis));
  return order;
}
Ints channels_last(size_t rank) {
  Ints order{0};
  for (size_t axis = 2; axis < rank; ++axis) order.push_back(static_cast<int64_t>(axis));
  order.push_back(1);
  return order;
}

// QLinearSigmoid, QLinearLeakyRelu, QLinearAveragePool and QLinearGlobalAveragePool. The pools may have
// channels last.
std::shared_ptr<const Operator> make_qlinear_unary(const NodeSpec& spec) {
  const bool are_last = get_flag(*spec.attributes, "channels_last", false);
  const std::string type = spec.type.substr(kContribPrefix.size() + std::string_view("QLinear").size());
  const auto real = standard_operator(spec, type, 1, {"channels_last"});
  return composed(spec, [real, are_last](Body& body) {
    ValueId x = dequantize(body, 0);
    const size_t rank = body.shape(x).size();
    if (!are_last) return output_quantized(body, body.add(real, {x}), 3, 0);
    if (rank < 3) refuse_model("channels_last for a tensor of " + std::to_string(rank) + " dimensions");
    const ValueId y = body.add(real, {body.transpose(x, channels_second(rank))});
    output_quantized(body, body.transpose(y, channels_last(rank)), 3, 0);
  });
}

// QLinearConcat. Inputs: scale and zero point of the output, then each tensor with its scale and zero point.
std::shared_ptr<const Operator> make_qlinear_concat(const NodeSpec& spec) {
  const auto concat = standard_operator(spec, "Concat", 1, {});
  return composed(spec, [concat](Body& body) {
    std::vector<ValueId> tensors;
    for (size_t first = 2; first < body.input_count(); first += 3) tensors.push_back(dequantize(body, first));
    output_quantized(body, body.add(concat, tensors), 0, 2);
  });
}

// QGemm. The output has floats if it has no scale. C has the scale of the products.
std::shared_ptr<const Operator> make_qgemm(const NodeSpec& spec) {
  const Attributes& a = *spec.attributes;
  const float alpha = a.get_float("alpha", 1.0f);
  const bool trans_a = get_flag(a, "transA", false), trans_b = get_flag(a, "transB", false);
  return composed(spec, [=](Body& body) {
    const int64_t columns = trans_b ? 0 : 1;
    std::vector<ValueId> inputs{dequantize(body, 0), dequantize(body, 3, columns)};
    if (body.has_input(6)) {
      const ValueId scale = body.add("Mul", {body.input(1, "a_scale"), body.input(4, "b_scale")});
      const ValueId c = body.cast(body.input(6, "C"), body.type(scale).dtype);
      const ValueId factor = body.scalar(body.type(scale).dtype, static_cast<double>(alpha));
      inputs.push_back(body.add("Mul", {body.add("Mul", {c, scale}), factor}));
    }
    const ValueId y = body.add(
        "Gemm", inputs, {{"alpha", alpha}, {"transA", int64_t{trans_a}}, {"transB", int64_t{trans_b}}});
    if (body.has_input(7)) return output_quantized(body, y, 7, 0);
    body.output(y);
  });
}

// Before operator set 13 the softmax is over all dimensions from the axis on.
std::shared_ptr<const Operator> make_qlinear_softmax(const NodeSpec& spec) {
  const int64_t opset = spec.attributes->get_int("opset", 13), axis = spec.attributes->get_int("axis", -1);
  return composed(spec, [=](Body& body) {
    const ValueId x = dequantize(body, 0);
    const Shape shape = body.shape(x);
    if (opset >= 13) return output_quantized(body, body.add("Softmax", {x}, {{"axis", axis}}), 3, 0);
    const size_t first = normalize_axis(axis, shape.size());
    const Shape matrix{product(shape, 0, first), product(shape, first, shape.size())};
    const ValueId y = body.add("Softmax", {body.reshape(x, matrix)}, {{"axis", int64_t{1}}});
    output_quantized(body, body.reshape(y, shape), 3, 0);
  });
}

// Inputs condition, X, its scale and zero point, Y, its scale and zero point, scale and zero point of the
// result.
std::shared_ptr<const Operator> make_qlinear_where(const NodeSpec& spec) {
  return composed(spec, [](Body& body) {
    const ValueId x = dequantize(body, 1), y = dequantize(body, 4);
    output_quantized(body, body.add("Where", {body.input(0, "condition"), x, y}), 7, 1);
  });
}

std::shared_ptr<const Operator> make_qlinear_reduce_mean(const NodeSpec& spec) {
  const auto mean = standard_operator(spec, "ReduceMean", 1, {});
  return composed(
      spec, [mean](Body& body) { output_quantized(body, body.add(mean, {dequantize(body, 0)}), 3, 0); });
}

// Returns a sum of integers times the scales of both factors, plus input `bias`. Scales of columns broadcast.
void output_scaled(Body& body, ValueId integers, ValueId a_scale, ValueId b_scale, size_t bias) {
  const DType dtype = body.type(b_scale).dtype;
  ValueId scale = b_scale;
  const Shape of_columns = body.shape(b_scale), product_shape = body.shape(integers);
  if (of_columns.size() > 1 && element_count(of_columns) != 1 &&
      of_columns.size() + 1 == product_shape.size()) {
    Shape rows = of_columns;  // one for each column of each matrix of a batch
    rows.insert(rows.end() - 1, 1);
    scale = body.reshape(b_scale, rows);
  }
  scale = body.add("Mul", {a_scale, scale});
  ValueId y = body.add("Mul", {body.cast(integers, dtype), scale});
  if (body.has_input(bias)) y = body.add("Add", {y, body.input(bias, "bias")});
  body.output(y);
}

// Inputs A, B, scale of A, scale of B, zero point of A, zero point of B, bias.
std::shared_ptr<const Operator> make_matmul_integer_to_float(const NodeSpec& spec) {
  return composed(spec, [](Body& body) {
    const ValueId sums = body.add("MatMulInteger", {body.input(0, "A"), body.input(1, "B"),
                                                    body.optional_input(4), body.optional_input(5)});
    output_scaled(body, sums, body.input(2, "a_scale"), body.input(3, "b_scale"), 6);
  });
}

// Inputs A of floats, B, scale of B, zero point of B, bias.
std::shared_ptr<const Operator> make_dynamic_quantize_matmul(const NodeSpec& spec) {
  return composed(spec, [](Body& body) {
    const std::vector<ValueId> a = body.add_several("DynamicQuantizeLinear", {body.input(0, "A")}, 3);
    const ValueId sums = body.add("MatMulInteger", {a[0], body.input(1, "B"), a[2], body.optional_input(3)});
    output_scaled(body, sums, a[1], body.input(2, "b_scale"), 4);
  });
}

// Weights (directions, inputs, 4 * hidden), of 8 bits, as floats (directions, 4 * hidden, inputs). The
// parameters have one value, one for each direction, or one for each of its columns.
ValueId dequantized_gates(Body& body, size_t weights, size_t parameters) {
  const ValueId w = body.input(weights, "weights"), scale = body.input(parameters, "their scale");
  const Shape shape = body.shape(w);
  if (shape.size() != 3) refuse_model("weights have shape " + to_string(shape) + ", not three dimensions");
  const int64_t count = element_count(body.shape(scale)), gates = checked_multiply(shape[0], shape[2]);
  if (count != 1 && count != shape[0] && count != gates)
    refuse_model("a scale of shape " + to_string(body.shape(scale)) + " for weights of " + to_string(shape));
  // A DequantizeLinear, so that kernels look for the integers again (Graph::has_integer_weights).
  const auto flat = [&](ValueId value) { return body.reshape(value, count == 1 ? Shape{} : Shape{count}); };
  std::vector<ValueId> inputs{
      body.reshape(body.transpose(w, {0, 2, 1}), {count, element_count(shape) / std::max<int64_t>(count, 1)}),
      flat(scale)};
  if (body.has_input(parameters + 1)) {
    const ValueId zero = body.input(parameters + 1, "their zero point");
    if (element_count(body.shape(zero)) != count)
      refuse_model("a zero point of shape " + to_string(body.shape(zero)) + " beside a scale of " +
                   to_string(body.shape(scale)));
    inputs.push_back(flat(zero));
  }
  return body.reshape(body.add("DequantizeLinear", inputs, {{"axis", int64_t{0}}}),
                      {shape[0], shape[2], shape[1]});
}

// The LSTM in floats: its inputs and states are not rounded to 8 bits.
std::shared_ptr<const Operator> make_dynamic_quantize_lstm(const NodeSpec& spec) {
  NodeSpec plain = spec;
  plain.input_present.resize(8, false);
  const auto lstm = standard_operator(plain, "LSTM", 8, {});
  return composed(spec, [lstm, outputs = spec.output_count](Body& body) {
    std::vector<ValueId> inputs{body.input(0, "X"), dequantized_gates(body, 1, 8),
                                dequantized_gates(body, 2, 10)};
    for (size_t i = 3; i < 8; ++i) inputs.push_back(body.optional_input(i));
    while (inputs.back() == kNoValue) inputs.pop_back();
    const std::vector<ValueId> results = body.add_several(lstm, inputs, 3);
    for (size_t i = 0; i < outputs; ++i) body.output(results[i]);
  });
}

int64_t dimension(const Attributes& attributes, const char* name) {
  constexpr int64_t kLargest = int64_t{1} << 31;
  const int64_t value = attributes.get_int(name, 0);
  if (value < 1 || value > kLargest) refuse_model(std::string(name) + " is " + std::to_string(value));
  return value;
}

// Blocks of powers of two: 16 at least.
int64_t block_size(const Attributes& attributes, int64_t otherwise) {
  const int64_t size = attributes.get_int("block_size", otherwise);
  if (size < 16 || size > 1 << 20 || (size & (size - 1)) != 0)
    refuse_model("block_size is " + std::to_string(size));
  return size;
}

int64_t bits_of_weights(const Attributes& attributes) {
  const int64_t bits = attributes.get_int("bits", 4);
  if (bits != 2 && bits != 4 && bits != 8) refuse_unsupported("weights of " + std::to_string(bits) + " bits");
  return bits;
}

// Returns whether input i is omitted or known before running.
bool is_known_if_present(const Body& body, size_t i) {
  return !body.has_input(i) || body.rule_inputs()[i].constant != nullptr;
}

// Returns whether the weights can stay packed: known, with their blocks in order.
bool has_packed_kernel(const Body& body) {
  return !body.has_input(4) && is_known_if_present(body, 1) && is_known_if_present(body, 2) &&
         is_known_if_present(body, 3);
}

// Inputs A, packed B, scales, zero points, blocks of rows, bias.
std::shared_ptr<const Operator> make_matmul_bits(const NodeSpec& spec) {
  const Attributes& a = *spec.attributes;
  auto packed = std::make_shared<BlockProduct>();
  packed->weights.rows = dimension(a, "K");
  packed->weights.columns = dimension(a, "N");
  packed->weights.bits = bits_of_weights(a);
  packed->weights.block = block_size(a, 0);
  a.ignore("accuracy_level");    // how exactly ONNX Runtime may compute
  a.ignore("weight_prepacked");  // a hint in files of its optimiser
  return composed(spec, [packed = std::shared_ptr<const BlockProduct>(packed)](Body& body) {
    if (has_packed_kernel(body)) {
      std::vector<ValueId> inputs{body.input(0, "A"), body.input(1, "B"), body.input(2, "scales"),
                                  body.optional_input(3), body.optional_input(5)};
      while (inputs.back() == kNoValue) inputs.pop_back();
      return body.output(body.add(packed, inputs));
    }
    const auto weights = std::make_shared<BlockWeights>(packed->weights);
    const ValueId b = body.add(weights, {body.input(1, "B"), body.input(2, "scales"), body.optional_input(3),
                                         body.optional_input(4)});
    ValueId y = body.add("MatMul", {body.input(0, "A"), b});
    if (body.has_input(5)) y = body.add("Add", {y, body.input(5, "bias")});
    body.output(y);
  });
}

// Integers of 4 bits, two in a byte of the last dimension, as one each.
ValueId nibbles(Body& body, ValueId packed) {
  Shape shape = body.shape(packed);
  if (shape.empty()) refuse_model("packed integers without a dimension");
  Shape apart = shape;
  apart.push_back(1);
  const ValueId low = body.add("BitwiseAnd", {packed, body.scalar(DType::u8, 15)});
  const ValueId high =
      body.add("BitShift", {packed, body.scalar(DType::u8, 4)}, {{"direction", std::string("RIGHT")}});
  const ValueId both =
      body.add("Concat", {body.reshape(low, apart), body.reshape(high, apart)}, {{"axis", int64_t{-1}}});
  shape.back() = checked_multiply(shape.back(), 2);
  return body.reshape(both, shape);
}

// Returns whether each byte of `data` holds two integers of 4 bits. Tensors of uint4 are stored as bytes,
// too; these have no greater number than 15.
bool holds_nibbles(const Body& body, int64_t block) {
  const HostTensor& data = constant_input(body.rule_inputs(), 0, "data");
  const Shape scales = input_type(body.rule_inputs(), 2, "scales").shape;
  if (data.dtype() != DType::u8 || data.shape().empty() || scales.empty()) return false;
  const int64_t length = data.shape().back();
  const bool fits_pairs = (2 * length + block - 1) / block == scales.back(),
             fits_bytes = (length + block - 1) / block == scales.back();
  if (fits_pairs != fits_bytes) return fits_pairs;
  const auto bytes = data.as<uint8_t>();
  return std::ranges::any_of(bytes, [](uint8_t byte) { return byte > 15; });
}

// Returns whether the table can stay packed: a known matrix, whose rows are gathered and have the blocks.
bool has_packed_rows(const Body& body, int64_t axis, int64_t quantize_axis) {
  for (const size_t i : {0, 2, 3})
    if (!is_known_if_present(body, i)) return false;
  const TensorType& data = input_type(body.rule_inputs(), 0, "data");
  const bool is_bytes = data.dtype == DType::u8 || data.dtype == DType::i8;
  return is_bytes && data.shape.size() == 2 && normalize_axis(axis, 2) == 0 &&
         normalize_axis(quantize_axis, 2) == 1;
}

// Inputs data, indices, scales, zero points: rows of a table of blocks, as floats.
std::shared_ptr<const Operator> make_gather_block_quantized(const NodeSpec& spec) {
  const Attributes& a = *spec.attributes;
  const int64_t axis = a.get_int("gather_axis", 0), quantize_axis = a.get_int("quantize_axis", 1),
                block = block_size(a, 128), bits = bits_of_weights(a);
  if (bits == 2) refuse_unsupported("GatherBlockQuantized of 2 bits");
  return composed(spec, [=](Body& body) {
    ValueId data = body.input(0, "data"), zero = body.optional_input(3);
    const ValueId scales = body.input(2, "scales");
    const bool packed = bits == 4 && holds_nibbles(body, block);
    if (has_packed_rows(body, axis, quantize_axis)) {
      auto rows = std::make_shared<BlockGather>();
      rows->bits = bits, rows->block = block, rows->packed_pairs = packed;
      rows->is_centred = packed || bits == 8;
      std::vector<ValueId> inputs{data, body.input(1, "indices"), scales};
      if (zero != kNoValue) inputs.push_back(zero);
      return body.output(body.add(std::move(rows), inputs));
    }
    // The packed zero points of an odd number of blocks have one too many.
    if (packed && zero != kNoValue) zero = body.slice(nibbles(body, zero), -1, 0, body.shape(scales).back());
    if (packed) data = nibbles(body, data);
    if (zero == kNoValue && (packed || bits == 8)) {
      HostTensor middle(body.type(data).dtype, body.shape(scales));
      if (middle.dtype() == DType::u8)
        std::ranges::fill(middle.mutable_as<uint8_t>(), static_cast<uint8_t>(1 << (bits - 1)));
      zero = body.constant(std::move(middle));
    }
    std::vector<ValueId> inputs{data, scales};
    if (zero != kNoValue) inputs.push_back(zero);
    const ValueId table =
        body.add("DequantizeLinear", inputs, {{"axis", quantize_axis}, {"block_size", block}});
    body.output(body.add("Gather", {table, body.input(1, "indices")}, {{"axis", axis}}));
  });
}

constexpr ContribRow kQuantisedRows[] = {
    {"com.microsoft.QLinearAdd", make_qlinear_binary},
    {"com.microsoft.QLinearMul", make_qlinear_binary},
    {"com.microsoft.QLinearSigmoid", make_qlinear_unary},
    {"com.microsoft.QLinearLeakyRelu", make_qlinear_unary},
    {"com.microsoft.QLinearAveragePool", make_qlinear_unary},
    {"com.microsoft.QLinearGlobalAveragePool", make_qlinear_unary},
    {"com.microsoft.QLinearConcat", make_qlinear_concat},
    {"com.microsoft.QLinearSoftmax", make_qlinear_softmax},
    {"com.microsoft.QLinearWhere", make_qlinear_where},
    {"com.microsoft.QLinearReduceMean", make_qlinear_reduce_mean},
    {"com.microsoft.QGemm", make_qgemm},
    {"com.microsoft.MatMulIntegerToFloat", make_matmul_integer_to_float},
    {"com.microsoft.DynamicQuantizeMatMul", make_dynamic_quantize_matmul},
    {"com.microsoft.DynamicQuantizeLSTM", make_dynamic_quantize_lstm},
    {"com.microsoft.MatMulNBits", make_matmul_bits},
    {"com.microsoft.GatherBlockQuantized", make_gather_block_quantized},
};

}  // namespace

std::span<const ContribRow> quantised_contrib_operators() { return kQuantisedRows; }

}  // namespace vellum

#include "graph/operators/matmul/quantized.hpp"

#include "graph/operators/elementwise/quantize.hpp"
#include "graph/operators/matmul/matmul.hpp"

namespace vellum {

namespace {

const TensorType& byte_input(Inputs inputs, size_t index, std::string_view what) {
  const TensorType& type = input_type(inputs, index, what);
  if (!is_byte(type.dtype)) refuse_model("input '" + std::string(what) + "' is " + to_string(type));
  return type;
}

// A zero point of the tensor's dtype: one value, or one per index along `axis`.
void check_zero_point(Inputs inputs, size_t index, std::string_view what, const TensorType& tensor,
                      int64_t axis) {
  if (!has_input(inputs, index)) return;
  const TensorType& zero = input_type(inputs, index, what);
  if (zero.dtype != tensor.dtype) refuse_model("input '" + std::string(what) + "' is " + to_string(zero));
  check_per_axis(zero, what, tensor.shape, axis);
}

void check_scalar(Inputs inputs, size_t index, std::string_view what) {
  if (element_count(input_type(inputs, index, what).shape) != 1) {
    refuse_unsupported("input '" + std::string(what) + "' with more than one value");
  }
}

// tensor - zero point as `dtype`; differences of bytes are exact in any of them.
HostTensor centred(const HostTensor& tensor, const HostTensor* zero_point, size_t axis, DType dtype) {
  Ints values = tensor.to_ints();
  if (zero_point != nullptr) {
    const Ints zero = zero_point->to_ints();
    const auto inner =
        static_cast<size_t>(zero.size() == 1 ? 1 : product(tensor.shape(), axis + 1, tensor.shape().size()));
    for (size_t i = 0; i < values.size(); ++i) values[i] -= zero[i / inner % zero.size()];
  }
  return HostTensor::from<int64_t>(dtype, tensor.shape(), values);
}

const HostTensor* optional_tensor(HostInputs inputs, size_t index) {
  return index < inputs.size() ? inputs[index] : nullptr;
}

// Returns the result of Conv's shape rule for these shapes as floating point.
Shape conv_shape(const Conv& conv, const TensorType& x, const TensorType& w) {
  const OperatorInput floats[] = {{true, {DType::f32, x.shape}, nullptr},
                                  {true, {DType::f32, w.shape}, nullptr}};
  return conv.infer(floats)[0].shape;
}

}  // namespace

std::vector<TensorType> ConvInteger::infer(Inputs inputs) const {
  const TensorType &x = byte_input(inputs, 0, "x"), &w = byte_input(inputs, 1, "w");
  check_zero_point(inputs, 2, "x_zero_point", x, 0);
  if (has_input(inputs, 2)) check_scalar(inputs, 2, "x_zero_point");
  check_zero_point(inputs, 3, "w_zero_point", w, 0);
  return {{DType::i32, conv_shape(conv, x, w)}};
}

std::vector<HostTensor> ConvInteger::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  std::vector<int64_t> y;
  conv.convolve(centred(*inputs[0], optional_tensor(inputs, 2), 0, DType::f32),
                centred(*inputs[1], optional_tensor(inputs, 3), 0, DType::f32),
                [&](int64_t, std::span<const double> plane) {
                  for (const double sum : plane) y.push_back(static_cast<int64_t>(sum));
                });
  return {HostTensor::from<int64_t>(type.dtype, type.shape, y)};
}

std::vector<TensorType> QLinearConv::infer(Inputs inputs) const {
  const TensorType &x = byte_input(inputs, 0, "x"), &w = byte_input(inputs, 3, "w");
  check_scalar(inputs, 1, "x_scale");
  check_scalar(inputs, 2, "x_zero_point");
  check_zero_point(inputs, 2, "x_zero_point", x, 0);
  check_per_axis(float_input_type(inputs, 4, "w_scale"), "w_scale", w.shape, 0);
  check_zero_point(inputs, 5, "w_zero_point", w, 0);
  check_scalar(inputs, 6, "y_scale");
  check_scalar(inputs, 7, "y_zero_point");
  const Shape shape = conv_shape(conv, x, w);
  if (has_input(inputs, 8) && input_type(inputs, 8, "B") != TensorType{DType::i32, {w.shape[0]}}) {
    refuse_model("B is " + to_string(inputs[8].type) + ", expected " + std::to_string(w.shape[0]) + " int32");
  }
  return {{byte_input(inputs, 7, "y_zero_point").dtype, shape}};
}

std::vector<HostTensor> QLinearConv::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const auto x_scale = inputs[1]->to_floats(), w_scale = inputs[4]->to_floats(),
             y_scale = inputs[6]->to_floats();
  const int64_t y_zero = inputs[7]->to_ints()[0];
  const HostTensor* bias_tensor = optional_tensor(inputs, 8);
  const Ints bias =
      bias_tensor != nullptr ? bias_tensor->to_ints() : Ints(static_cast<size_t>(inputs[3]->shape()[0]), 0);
  std::vector<int64_t> y;
  conv.convolve(
      centred(*inputs[0], inputs[2], 0, DType::f32), centred(*inputs[3], inputs[5], 0, DType::f32),
      [&](int64_t filter, std::span<const double> plane) {
        const auto m = static_cast<size_t>(filter);
        const double factor = static_cast<double>(x_scale[0]) *
                              static_cast<double>(w_scale[w_scale.size() == 1 ? 0 : m]) /
                              static_cast<double>(y_scale[0]);
        for (const double sum : plane) {
          y.push_back(requantize((sum + static_cast<double>(bias[m])) * factor, y_zero, type.dtype));
        }
      });
  return {HostTensor::from<int64_t>(type.dtype, type.shape, y)};
}

std::vector<TensorType> MatMulInteger::infer(Inputs inputs) const {
  const TensorType &a = byte_input(inputs, 0, "A"), &b = byte_input(inputs, 1, "B");
  const OperatorInput products[] = {{true, {DType::i64, a.shape}, nullptr},
                                    {true, {DType::i64, b.shape}, nullptr}};
  const Shape shape = MatMul().infer(products)[0].shape;
  check_zero_point(inputs, 2, "a_zero_point", a, -2);
  check_zero_point(inputs, 3, "b_zero_point", b, -1);
  return {{DType::i32, shape}};
}

namespace {

// Zero points of A go with its rows, those of B with its columns.
HostTensor multiply_centred(const HostTensor& a, const HostTensor* a_zero, const HostTensor& b,
                            const HostTensor* b_zero) {
  const size_t a_rank = a.shape().size(), b_rank = b.shape().size();
  const HostTensor left = centred(a, a_zero, a_rank > 1 ? a_rank - 2 : 0, DType::i64);
  const HostTensor right = centred(b, b_zero, b_rank - 1, DType::i64);
  return MatMul().evaluate(std::array{&left, &right})[0];
}

}  // namespace

std::vector<HostTensor> MatMulInteger::evaluate(HostInputs inputs) const {
  infer_known(*this, inputs);
  return {
      cast(multiply_centred(*inputs[0], optional_tensor(inputs, 2), *inputs[1], optional_tensor(inputs, 3)),
           DType::i32)};
}

namespace {

// Scale and zero point of a tensor: one value, or one per index along `axis`.
void check_grid(Inputs inputs, size_t first, std::string_view what, const TensorType& tensor, int64_t axis) {
  const std::string scale = std::string(what) + "_scale", zero = std::string(what) + "_zero_point";
  const TensorType &scale_type = float_input_type(inputs, first, scale),
                   &zero_type = input_type(inputs, first + 1, zero);
  if (zero_type.dtype != tensor.dtype) refuse_model("input '" + zero + "' is " + to_string(zero_type));
  if (element_count(scale_type.shape) != 1) check_per_axis(scale_type, scale, tensor.shape, axis);
  if (element_count(zero_type.shape) != 1) check_per_axis(zero_type, zero, tensor.shape, axis);
}

}  // namespace

std::vector<TensorType> QLinearMatMul::infer(Inputs inputs) const {
  const TensorType &a = byte_input(inputs, 0, "a"), &b = byte_input(inputs, 3, "b");
  const OperatorInput products[] = {{true, {DType::i64, a.shape}, nullptr},
                                    {true, {DType::i64, b.shape}, nullptr}};
  const Shape y = MatMul().infer(products)[0].shape;
  check_grid(inputs, 1, "a", a, a.shape.size() > 1 ? -2 : 0);
  check_grid(inputs, 4, "b", b, -1);
  for (const size_t i : {6, 7}) check_scalar(inputs, i, "y_scale or y_zero_point");
  if (a.shape.size() < 2) check_scalar(inputs, 1, "a_scale");  // a vector has one row
  if (b.shape.size() < 2) check_scalar(inputs, 4, "b_scale");
  return {{byte_input(inputs, 7, "y_zero_point").dtype, y}};
}

std::vector<HostTensor> QLinearMatMul::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const auto a_scale = inputs[1]->to_floats(), b_scale = inputs[4]->to_floats();
  const auto y_scale = static_cast<double>(inputs[6]->to_floats()[0]);
  const int64_t zero = inputs[7]->to_ints()[0];
  Ints y = multiply_centred(*inputs[0], inputs[2], *inputs[3], inputs[5]).to_ints();
  // A vector has no rows, or no columns, and one scale.
  const size_t columns = b_scale.size(), rows = a_scale.size();
  const size_t row_length =
      inputs[3]->shape().size() > 1 ? static_cast<size_t>(inputs[3]->shape().back()) : 1;
  for (size_t i = 0; i < y.size(); ++i) {
    const double factor = static_cast<double>(a_scale[i / row_length % rows]) *
                          static_cast<double>(b_scale[i % columns]) / y_scale;
    y[i] = requantize(static_cast<double>(y[i]) * factor, zero, type.dtype);
  }
  return {HostTensor::from<int64_t>(type.dtype, type.shape, y)};
}

// From conv.cpp; reads the attributes of a convolution, which these two share.
std::shared_ptr<const Operator> make_conv(const NodeSpec& spec);

namespace {

Conv read_conv(const NodeSpec& spec) {
  NodeSpec conv = spec;
  conv.input_present = {true, true};  // x and w: scales and zero points are no inputs of a convolution
  return dynamic_cast<const Conv&>(*make_conv(conv));
}

}  // namespace

std::shared_ptr<const Operator> make_conv_integer(const NodeSpec& spec) {
  auto op = std::make_shared<ConvInteger>();
  op->conv = read_conv(spec);
  return op;
}

std::shared_ptr<const Operator> make_qlinear_conv(const NodeSpec& spec) {
  auto op = std::make_shared<QLinearConv>();
  op->conv = read_conv(spec);
  return op;
}

std::shared_ptr<const Operator> make_matmul_integer(const NodeSpec&) {
  return std::make_shared<MatMulInteger>();
}

std::shared_ptr<const Operator> make_qlinear_matmul(const NodeSpec&) {
  return std::make_shared<QLinearMatMul>();
}

namespace {

// The work of an operator that sums `terms` products for each element of its output.
uint64_t work_of_sums(Inputs inputs, Outputs outputs, int64_t terms) {
  return saturating_add(elementwise_work(inputs, outputs),
                        saturating_multiply(static_cast<uint64_t>(element_count(outputs[0].shape)),
                                            saturating_multiply(static_cast<uint64_t>(terms), 2)));
}

int64_t terms_of_conv(const Shape& w) { return product(w, 1, w.size()); }

}  // namespace

uint64_t ConvInteger::work(Inputs inputs, Outputs outputs) const {
  return work_of_sums(inputs, outputs, terms_of_conv(inputs[1].type.shape));
}

uint64_t QLinearConv::work(Inputs inputs, Outputs outputs) const {
  return work_of_sums(inputs, outputs, terms_of_conv(inputs[3].type.shape));
}

uint64_t MatMulInteger::work(Inputs inputs, Outputs outputs) const {
  return work_of_sums(inputs, outputs, inputs[0].type.shape.back());
}

uint64_t QLinearMatMul::work(Inputs inputs, Outputs outputs) const {
  return work_of_sums(inputs, outputs, inputs[0].type.shape.back());
}

}  // namespace vellum

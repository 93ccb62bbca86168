#include "graph/operators/matmul/matmul.hpp"

#include <algorithm>
#include <type_traits>

#include "graph/real.hpp"

namespace vellum {

namespace {

// A matrix with strides, so that a transpose exchanges them.
template <typename T>
struct MatrixView {
  const T* data;
  int64_t row_stride, column_stride;
};

// Returns a matrix of rows x columns that is stored by rows, or, transposed, by columns.
template <typename T>
MatrixView<T> view(const T* data, int64_t rows, int64_t columns, bool transposed) {
  return transposed ? MatrixView<T>{data, 1, rows} : MatrixView<T>{data, columns, 1};
}

// Adds A (m x k) times B (k x n) to `sums`, row-major m x n.
template <typename T, typename Sum>
void multiply(MatrixView<T> a, MatrixView<T> b, int64_t m, int64_t k, int64_t n, Sum* sums) {
  for (int64_t row = 0; row < m; ++row) {
    for (int64_t inner = 0; inner < k; ++inner) {
      const auto factor = static_cast<Sum>(a.data[row * a.row_stride + inner * a.column_stride]);
      const T* b_row = b.data + inner * b.row_stride;
      Sum* out = sums + row * n;
      for (int64_t column = 0; column < n; ++column) {
        out[column] += factor * static_cast<Sum>(b_row[column * b.column_stride]);
      }
    }
  }
}

// Returns a sum as an element. Only sums of floats are scaled.
template <typename Element, typename Sum>
Element scaled(Sum sum, float alpha) {
  if constexpr (std::is_floating_point_v<Sum>) sum *= static_cast<Sum>(alpha);
  return static_cast<Element>(sum);
}

// Floating point is summed in double, products of float64 among them; integers are 64 bits that wrap around.
template <typename Visit>
void visit_compute_type(DType dtype, Visit&& visit) {
  if (is_float(dtype)) {
    visit_real(dtype, [&](auto tag) {
      using Real = typename decltype(tag)::type;
      visit(kRealType<Real>, Real{}, double{});
    });
  } else {
    visit(DType::u64, uint64_t{}, uint64_t{});
  }
}

void print_transposed(Attributes& attributes, bool a, bool b) {
  if (a) attributes.set("transA", int64_t{1});
  if (b) attributes.set("transB", int64_t{1});
}

TensorType numeric_type(Inputs inputs, size_t index, std::string_view what) {
  const TensorType& type = input_type(inputs, index, what);
  if (type.dtype == DType::boolean) refuse_model("input '" + std::string(what) + "' is bool");
  return type;
}

// Floats may be of different widths: weights stay halves where the rest of a graph has become float32.
bool may_multiply(DType a, DType b) { return a == b || (is_float(a) && is_float(b)); }

}  // namespace

MatMul::Extent MatMul::extent(Inputs inputs) const {
  const TensorType a = numeric_type(inputs, 0, "A"), b = numeric_type(inputs, 1, "B");
  const size_t least_a = transpose_a ? 2 : 1, least_b = transpose_b ? 2 : 1;
  if (!may_multiply(a.dtype, b.dtype) || a.shape.size() < least_a || b.shape.size() < least_b) {
    refuse_model("A is " + to_string(a) + " and B is " + to_string(b));
  }
  Extent e{a.shape, b.shape, {}, 0, 0, 0};
  if (e.a.size() == 1) e.a.insert(e.a.begin(), 1);
  if (e.b.size() == 1) e.b.push_back(1);
  if (transpose_a) std::swap(e.a.back(), e.a[e.a.size() - 2]);
  if (transpose_b) std::swap(e.b.back(), e.b[e.b.size() - 2]);
  e.m = e.a[e.a.size() - 2];
  e.k = e.a.back();
  e.n = e.b.back();
  if (e.b[e.b.size() - 2] != e.k) {
    refuse_model("A of shape " + to_string(a.shape) + " and B of shape " + to_string(b.shape) +
                 " do not multiply");
  }
  e.batch = broadcast(Shape(e.a.begin(), e.a.end() - 2), Shape(e.b.begin(), e.b.end() - 2));
  return e;
}

std::vector<TensorType> MatMul::infer(Inputs inputs) const {
  const Extent e = extent(inputs);
  TensorType y{inputs[0].type.dtype, e.batch};
  if (inputs[0].type.shape.size() > 1) y.shape.push_back(e.m);
  if (inputs[1].type.shape.size() > 1) y.shape.push_back(e.n);
  return {y};
}

std::vector<HostTensor> MatMul::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const Extent e = extent(known_inputs(inputs));
  HostTensor result;
  visit_compute_type(type.dtype, [&](DType compute, auto element, auto zero) {
    using Element = decltype(element);
    using Sum = decltype(zero);
    const HostTensor a = cast(*inputs[0], compute), b = cast(*inputs[1], compute);
    HostTensor y(compute, type.shape);
    Element* out = y.template mutable_as<Element>().data();
    std::vector<Sum> sums(static_cast<size_t>(e.m * e.n));
    auto strides_a = broadcast_strides(Shape(e.a.begin(), e.a.end() - 2), e.batch);
    auto strides_b = broadcast_strides(Shape(e.b.begin(), e.b.end() - 2), e.batch);
    for_each_offset<2>(e.batch, {strides_a, strides_b}, {0, 0}, [&](const auto& matrix) {
      std::fill(sums.begin(), sums.end(), Sum{});
      const Element *first_a = a.template as<Element>().data() + matrix[0] * e.m * e.k,
                    *first_b = b.template as<Element>().data() + matrix[1] * e.k * e.n;
      multiply<Element, Sum>(view(first_a, e.m, e.k, transpose_a), view(first_b, e.k, e.n, transpose_b), e.m,
                             e.k, e.n, sums.data());
      for (const Sum sum : sums) *out++ = scaled<Element>(sum, alpha);
    });
    result = cast(y, type.dtype);
  });
  return {result};
}

uint64_t MatMul::macs(Inputs inputs) const {
  return static_cast<uint64_t>(checked_multiply(element_count(infer(inputs)[0].shape), extent(inputs).k));
}

Attributes MatMul::attributes() const {
  Attributes result;
  if (alpha != 1.0f) result.set("alpha", alpha);
  print_transposed(result, transpose_a, transpose_b);
  return result;
}

std::vector<TensorType> Gemm::infer(Inputs inputs) const {
  const TensorType a = numeric_type(inputs, 0, "A"), b = numeric_type(inputs, 1, "B");
  if (!may_multiply(a.dtype, b.dtype) || a.shape.size() != 2 || b.shape.size() != 2 ||
      a.shape[transpose_a ? 0 : 1] != b.shape[transpose_b ? 1 : 0]) {
    refuse_model("A is " + to_string(a) + " and B is " + to_string(b) + ", which do not multiply");
  }
  TensorType y{a.dtype, {a.shape[transpose_a ? 1 : 0], b.shape[transpose_b ? 0 : 1]}};
  if (has_input(inputs, 2)) {
    const TensorType& c = input_type(inputs, 2, "C");
    if (c.dtype != a.dtype || c.shape.size() > 2 || broadcast(c.shape, y.shape) != y.shape) {
      refuse_model("C is " + to_string(c) + ", the product " + to_string(y));
    }
  }
  if (has_input(inputs, 3)) {
    const TensorType& residual = input_type(inputs, 3, "residual");
    const TensorType row{y.dtype, {1, y.shape[1]}};
    if (residual != y && residual != row)
      refuse_model("the residual is not of the product's type " + to_string(y));
  }
  return {y};
}

std::vector<HostTensor> Gemm::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const int64_t m = type.shape[0], n = type.shape[1];
  const Shape &a_shape = inputs[0]->shape(), &b_shape = inputs[1]->shape();
  const int64_t k = a_shape[transpose_a ? 0 : 1];
  const bool has_c = inputs.size() > 2 && inputs[2] != nullptr && beta != 0.0f;
  // Integers too are scaled in double: alpha and beta are real numbers.
  const HostTensor a = cast(*inputs[0], DType::f64), b = cast(*inputs[1], DType::f64);
  const bool has_residual = inputs.size() > 3 && inputs[3] != nullptr;
  const HostTensor residual = has_residual ? cast(*inputs[3], DType::f64) : HostTensor(DType::f64, {1});
  const HostTensor c = has_c ? cast(*inputs[2], DType::f64) : HostTensor(DType::f64, {1});
  HostTensor y(DType::f64, type.shape);
  auto out = y.mutable_as<double>();
  MatrixView<double> left{a.as<double>().data(), a_shape[1], 1}, right{b.as<double>().data(), b_shape[1], 1};
  if (transpose_a) std::swap(left.row_stride, left.column_stride);
  if (transpose_b) std::swap(right.row_stride, right.column_stride);
  multiply<double, double>(left, right, m, k, n, out.data());
  const auto added = c.as<double>(), residuals = residual.as<double>();
  size_t i = 0;
  for_each_offset<1>(type.shape, {broadcast_strides(c.shape(), type.shape)}, {0}, [&](const auto& at) {
    const double bias = has_c ? static_cast<double>(beta) * added[static_cast<size_t>(at[0])] : 0.0;
    out[i] = static_cast<double>(alpha) * out[i] + bias;
    if (has_residual) out[i] = bounded_sum(activation, out[i]) + residuals[i % residuals.size()];
    if (activation && type.dtype == DType::f64) {
      out[i] = apply_in_double(activation, out[i]);
    } else if (activation) {
      out[i] = static_cast<double>(apply(activation, static_cast<float>(out[i])));
    }
    ++i;
  });
  return {cast(y, type.dtype)};
}

uint64_t Gemm::macs(Inputs inputs) const {
  const Shape y = infer(inputs)[0].shape;
  return static_cast<uint64_t>(checked_multiply(element_count(y), inputs[0].type.shape[transpose_a ? 0 : 1]));
}

std::shared_ptr<const Operator> Gemm::with_activation(const Activation& added) const {
  return copy_with_activation(*this, added);
}

Attributes Gemm::attributes() const {
  Attributes result;
  if (alpha != 1.0f) result.set("alpha", alpha);
  if (beta != 1.0f) result.set("beta", beta);
  print_transposed(result, transpose_a, transpose_b);
  print_activation(result, activation);
  return result;
}

std::shared_ptr<const Operator> make_matmul(const NodeSpec& spec) {
  auto op = std::make_shared<MatMul>();
  op->alpha = spec.attributes->get_float("alpha", 1.0f);
  op->transpose_a = get_flag(*spec.attributes, "transA", false);
  op->transpose_b = get_flag(*spec.attributes, "transB", false);
  return op;
}

std::shared_ptr<const Operator> make_gemm(const NodeSpec& spec) {
  auto op = std::make_shared<Gemm>();
  op->alpha = spec.attributes->get_float("alpha", 1.0f);
  op->beta = spec.attributes->get_float("beta", 1.0f);
  op->transpose_a = get_flag(*spec.attributes, "transA", false);
  op->transpose_b = get_flag(*spec.attributes, "transB", false);
  if (spec.opset < 7) get_flag(*spec.attributes, "broadcast", false);  // C broadcasts anyway
  return op;
}

}  // namespace vellum

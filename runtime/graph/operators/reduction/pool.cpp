#include "graph/operators/reduction/pool.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "graph/real.hpp"

namespace vellum {

namespace {

PoolKind kind_of(std::string_view type) {
  if (type.ends_with("MaxPool")) return PoolKind::max;
  return type.ends_with("AveragePool") ? PoolKind::average : PoolKind::lp;
}

int64_t read_p(const NodeSpec& spec) {
  if (spec.opset < 2) refuse_unsupported("a norm that need not be whole (before opset 2)");
  const int64_t p = spec.attributes->get_int("p", 2);
  if (p < 1) refuse_model("the norm p is " + std::to_string(p));
  return p;
}

// Reduces the elements of one window.
class Accumulator {
 public:
  Accumulator(PoolKind kind, int64_t p) : kind_(kind), p_(static_cast<double>(p)) {
    if (kind == PoolKind::max) value_ = -INFINITY;
  }
  void add(double x, int64_t index) {
    if (kind_ == PoolKind::max) {
      if (index_ < 0 || x > value_ || std::isnan(x)) {
        value_ = x;
        index_ = index;
      }
    } else {
      value_ += kind_ == PoolKind::average ? x : std::pow(std::fabs(x), p_);
    }
    ++count_;
  }
  double value(int64_t divisor) const {
    if (kind_ == PoolKind::average) return divisor > 0 ? value_ / static_cast<double>(divisor) : 0;
    return kind_ == PoolKind::max ? value_ : std::pow(value_, 1.0 / p_);
  }
  int64_t count() const { return count_; }
  int64_t index() const { return std::max<int64_t>(index_, 0); }

 private:
  PoolKind kind_;
  double p_, value_ = 0.0;
  int64_t index_ = -1, count_ = 0;
};

// Elements of the padded input that a window at `out` covers along one axis: what count_include_pad counts.
int64_t padded_taps(const WindowPlacement& p, size_t axis, int64_t out) {
  const int64_t start = out * p.strides[axis] - p.pads_begin[axis];
  const int64_t end = p.input[axis] + p.pads_end[axis];
  return std::clamp<int64_t>((end - start + p.dilations[axis] - 1) / p.dilations[axis], 0, p.kernel[axis]);
}

// The taps of a window along one axis that are within the input.
struct TapRange {
  TapRange(const WindowPlacement& p, size_t axis, int64_t out)
      : origin(out * p.strides[axis] - p.pads_begin[axis]) {
    const int64_t dilation = p.dilations[axis];
    begin = origin < 0 ? (-origin + dilation - 1) / dilation : 0;
    end = origin >= p.input[axis]
              ? 0
              : std::min(p.kernel[axis], (p.input[axis] - origin + dilation - 1) / dilation);
  }
  int64_t origin, begin = 0, end = 0;
};

// Calls add(z, y, x, index in the window) for the elements of the window at `out`.
template <typename Add>
void visit_window(const WindowPlacement& p, const std::array<int64_t, 3>& out, Add&& add) {
  const TapRange tz(p, 0, out[0]), ty(p, 1, out[1]), tx(p, 2, out[2]);
  for (int64_t kz = tz.begin; kz < tz.end; ++kz) {
    const int64_t z = tz.origin + kz * p.dilations[0];
    for (int64_t ky = ty.begin; ky < ty.end; ++ky) {
      const int64_t y = ty.origin + ky * p.dilations[1];
      for (int64_t kx = tx.begin; kx < tx.end; ++kx)
        add(z, y, tx.origin + kx * p.dilations[2], (kz * p.kernel[1] + ky) * p.kernel[2] + kx);
    }
  }
}

}  // namespace

int32_t FixedAverage::operator()(int32_t sum, int32_t count) const {
  const int32_t divisor = std::max(count, 1), stored = sum + divisor * zero;
  return (stored + (stored > 0 ? divisor / 2 : -(divisor / 2))) / divisor - zero;
}

WindowPlacement Pool::place(Inputs inputs) const {
  const Shape& x = input_type(inputs, 0, "X").shape;
  if (x.size() < 3) refuse_model("X has shape " + to_string(x) + ", expected N x C x spatial");
  return window.place(std::span(x).subspan(2), window.kernel);
}

std::string_view Pool::type() const {
  return kind == PoolKind::max ? "MaxPool" : kind == PoolKind::average ? "AveragePool" : "LpPool";
}

std::vector<TensorType> Pool::infer(Inputs inputs) const {
  const TensorType& x = input_type(inputs, 0, "X");
  // MaxPool since opset 12 takes 8-bit integers too.
  const bool small_integer = x.dtype == DType::u8 || x.dtype == DType::i8;
  if (!(kind == PoolKind::max && small_integer)) float_input_type(inputs, 0, "X");
  TensorType y{x.dtype, {}};
  const WindowPlacement placement = place(inputs);
  y.shape = {x.shape[0], x.shape[1]};
  y.shape.insert(y.shape.end(), placement.output.begin(), placement.output.end());
  if (with_indices) return {y, {window_indices ? DType::f32 : DType::i64, y.shape}};
  return {y};
}

std::shared_ptr<const Operator> Pool::with_activation(const Activation& added) const {
  return kind == PoolKind::average ? copy_with_activation(*this, added) : nullptr;
}

namespace {

template <typename Real>
double activated(const Activation& activation, double value) {
  if (!activation) return value;
  if constexpr (std::is_same_v<Real, double>) return apply_in_double(activation, value);
  return static_cast<double>(apply(activation, static_cast<float>(value)));
}

}  // namespace

// Writes the value of every window to `y_tensor` and, unless `indices` is empty, where its maximum is.
template <typename Real>
void Pool::pool_windows(const HostTensor& x_tensor, const WindowPlacement& w, HostTensor& y_tensor,
                        std::span<int64_t> indices) const {
  const Real* x = x_tensor.template as<Real>().data();
  Real* y = y_tensor.template mutable_as<Real>().data();
  auto index_out = indices.begin();
  const int64_t planes = y_tensor.shape()[0] * y_tensor.shape()[1], in_plane = element_count(w.input);
  const auto& in = w.input;
  for (int64_t plane = 0; plane < planes; ++plane, x += in_plane) {
    for (int64_t oz = 0; oz < w.output[0]; ++oz) {
      for (int64_t oy = 0; oy < w.output[1]; ++oy) {
        for (int64_t ox = 0; ox < w.output[2]; ++ox) {
          Accumulator window_value(kind, p);
          int32_t integers = 0;
          visit_window(w, {oz, oy, ox}, [&](int64_t iz, int64_t iy, int64_t ix, int64_t number) {
            const int64_t row_major = (iz * in[1] + iy) * in[2] + ix;
            const int64_t column_major = (ix * in[1] + iy) * in[0] + iz;
            const int64_t index = plane * in_plane + (column_major_indices ? column_major : row_major);
            window_value.add(static_cast<double>(x[row_major]), window_indices ? number : index);
            if (averages_integers())
              integers += integer_of(static_cast<float>(x[row_major]), fixed_average.step);
          });
          const int64_t padded = padded_taps(w, 0, oz) * padded_taps(w, 1, oy) * padded_taps(w, 2, ox);
          const double value =
              averages_integers()
                  ? static_cast<double>(static_cast<float>(fixed_average(
                                            integers, static_cast<int32_t>(window_value.count()))) *
                                        fixed_average.step)
                  : window_value.value(count_include_pad ? padded : window_value.count());
          *y++ = static_cast<Real>(activated<Real>(activation, value));
          if (!indices.empty()) *index_out++ = window_value.index();
        }
      }
    }
  }
}

std::vector<HostTensor> Pool::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const WindowPlacement w = as_3d(place(known_inputs(inputs)));
  HostTensor y, indices(DType::i64, with_indices ? type.shape : Shape{0});
  visit_real(type.dtype, [&](auto tag) {
    using Real = typename decltype(tag)::type;
    y = HostTensor(kRealType<Real>, type.shape);
    pool_windows<Real>(cast(*inputs[0], kRealType<Real>), w, y, indices.mutable_as<int64_t>());
  });
  std::vector<HostTensor> outputs{cast(y, type.dtype)};
  if (with_indices && window_indices) {
    indices = cast(indices, DType::f32);
    for (float& index : indices.mutable_as<float>()) index += 0.1f;
  }
  if (with_indices) outputs.push_back(std::move(indices));
  return outputs;
}

uint64_t Pool::work(Inputs inputs, Outputs outputs) const {
  uint64_t taps = 1;
  const WindowPlacement w = place(inputs);
  for (size_t i = 0; i < w.kernel.size(); ++i)
    taps = saturating_multiply(taps, static_cast<uint64_t>(std::min(w.kernel[i], w.input[i])));
  const uint64_t cost = kind == PoolKind::lp ? 32 : 4;  // of a tap
  return saturating_add(elementwise_work(inputs, outputs),
                        saturating_multiply(static_cast<uint64_t>(element_count(outputs[0].shape)),
                                            saturating_multiply(taps, cost)));
}

Attributes Pool::attributes() const {
  Attributes result;
  window.print(result);
  if (kind == PoolKind::average) result.set("count_include_pad", int64_t{count_include_pad});
  if (kind == PoolKind::lp) result.set("p", p);
  if (window_indices) result.set("window_indices", int64_t{1});
  print_activation(result, activation);
  return result;
}

std::shared_ptr<const Operator> make_pool(const NodeSpec& spec) {
  auto op = std::make_shared<Pool>();
  op->kind = kind_of(spec.type);
  op->window = read_window(*spec.attributes);
  op->window.ceil_mode = get_flag(*spec.attributes, "ceil_mode", false);
  if (op->window.kernel.empty()) refuse_model("attribute 'kernel_shape' is missing");
  if (op->kind == PoolKind::average)
    op->count_include_pad = get_flag(*spec.attributes, "count_include_pad", false);
  if (op->kind == PoolKind::lp) op->p = read_p(spec);
  if (op->kind == PoolKind::max) {
    op->column_major_indices = get_flag(*spec.attributes, "storage_order", false);
    op->with_indices = spec.output_count > 1;
  }
  return op;
}

std::string_view GlobalPool::type() const {
  return kind == PoolKind::max       ? "GlobalMaxPool"
         : kind == PoolKind::average ? "GlobalAveragePool"
                                     : "GlobalLpPool";
}

std::vector<TensorType> GlobalPool::infer(Inputs inputs) const {
  TensorType y = float_input_type(inputs, 0, "X");
  if (y.shape.size() < 2) refuse_model("X has shape " + to_string(y.shape) + ", expected N x C x spatial");
  std::fill(y.shape.begin() + 2, y.shape.end(), 1);
  return {y};
}

std::vector<HostTensor> GlobalPool::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  return visit_real(type.dtype, [&](auto tag) {
    using Real = typename decltype(tag)::type;
    const HostTensor x_tensor = cast(*inputs[0], kRealType<Real>);
    const Shape& shape = x_tensor.shape();
    const int64_t planes = shape[0] * shape[1], plane = product(shape, 2, shape.size());
    const Real* x = x_tensor.as<Real>().data();
    HostTensor y_tensor(kRealType<Real>, type.shape);
    auto y = y_tensor.mutable_as<Real>();
    for (int64_t i = 0; i < planes; ++i) {
      Accumulator value(kind, p);
      for (int64_t k = 0; k < plane; ++k) value.add(static_cast<double>(*x++), k);
      y[static_cast<size_t>(i)] = static_cast<Real>(value.value(plane));
    }
    return std::vector{cast(y_tensor, type.dtype)};
  });
}

Attributes GlobalPool::attributes() const {
  Attributes result;
  if (kind == PoolKind::lp) result.set("p", p);
  return result;
}

std::shared_ptr<const Operator> make_global_pool(const NodeSpec& spec) {
  auto op = std::make_shared<GlobalPool>();
  op->kind = kind_of(spec.type);
  if (op->kind == PoolKind::lp) op->p = read_p(spec);
  return op;
}

}  // namespace vellum

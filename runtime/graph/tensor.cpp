#include "graph/tensor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>

#include "graph/element.hpp"
#include "graph/halves.hpp"
#include "graph/tensor_memory.hpp"
#include "vellum/error.hpp"

namespace vellum {

size_t size_of(DType type) {
  return visit_element(type, [](auto tag) { return sizeof(typename decltype(tag)::type); });
}

std::string_view name(DType type) {
  switch (type) {
    case DType::f32:
      return "float32";
    case DType::f16:
      return "float16";
    case DType::f64:
      return "float64";
    case DType::i64:
      return "int64";
    case DType::i32:
      return "int32";
    case DType::i16:
      return "int16";
    case DType::i8:
      return "int8";
    case DType::u64:
      return "uint64";
    case DType::u32:
      return "uint32";
    case DType::u16:
      return "uint16";
    case DType::u8:
      return "uint8";
    case DType::boolean:
      return "bool";
  }
  return "unknown";
}

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  bool overflow = false, empty = false;
  for (const int64_t dim : shape) {
    if (dim < 0) throw Error(ErrorCode::invalid_argument, "shape " + to_string(shape) + " is not known");
    if (dim == 0) {
      empty = true;
    } else if (count > INT64_MAX / dim) {
      overflow = true;
    } else {
      count *= dim;
    }
  }
  if (empty) return 0;
  if (overflow) throw Error(ErrorCode::unsupported, "shape " + to_string(shape) + " has too many elements");
  return count;
}

int64_t checked_element_count(const Shape& shape) {
  const int64_t count = element_count(shape);
  if (count > kMaxElements) {
    throw Error(ErrorCode::unsupported,
                "a tensor of shape " + to_string(shape) + " has more than 2^31 elements");
  }
  return count;
}

bool is_known(const Shape& shape) {
  for (const int64_t dim : shape) {
    if (dim < 0) return false;
  }
  return true;
}

std::string to_string(const Shape& shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (const int64_t dim : shape) {
    if (!text.empty()) text += 'x';
    text += dim == kUnknownDim ? "?" : std::to_string(dim);
  }
  return text;
}

Shape broadcast(const Shape& a, const Shape& b) {
  const size_t rank = std::max(a.size(), b.size());
  Shape result(rank);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t dim_a = i + a.size() < rank ? 1 : a[i + a.size() - rank];
    const int64_t dim_b = i + b.size() < rank ? 1 : b[i + b.size() - rank];
    if (dim_a != dim_b && dim_a != 1 && dim_b != 1) {
      throw Error(ErrorCode::invalid_argument,
                  "shapes " + to_string(a) + " and " + to_string(b) + " do not broadcast");
    }
    result[i] = dim_a == 1 ? dim_b : dim_a;
  }
  return result;
}

std::vector<int64_t> row_major_strides(const Shape& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

namespace {

// calloc, because the system provides zero pages that cost nothing until they are written.
std::shared_ptr<std::byte> allocate_zeroed(size_t bytes) {
  const std::shared_ptr<TensorMemory> limited = limited_tensor_memory();
  if (limited) limited->take(bytes);
  void* memory = std::calloc(bytes == 0 ? 1 : bytes, 1);
  if (memory == nullptr) {
    if (limited) limited->used -= bytes;
    throw Error(ErrorCode::out_of_memory, "cannot allocate " + std::to_string(bytes) + " bytes for a tensor");
  }
  if (!limited) return {static_cast<std::byte*>(memory), [](std::byte* pointer) { std::free(pointer); }};
  return {static_cast<std::byte*>(memory), [limited, bytes](std::byte* pointer) {
            std::free(pointer);
            limited->used -= bytes;
          }};
}

size_t bytes_of(const TensorType& type) {
  const auto count = static_cast<uint64_t>(element_count(type.shape));
  // size_t has 32 bits on small phones.
  if (count > SIZE_MAX / size_of(type.dtype)) {
    throw Error(ErrorCode::out_of_memory,
                "a tensor of shape " + to_string(type.shape) + " does not fit in memory");
  }
  return static_cast<size_t>(count) * size_of(type.dtype);
}

}  // namespace

HostTensor::HostTensor(DType dtype, Shape shape) : type_{dtype, std::move(shape)}, writable_(true) {
  checked_element_count(type_.shape);
  data_ = allocate_zeroed(bytes_of(type_));
}

HostTensor::HostTensor(DType dtype, Shape shape, std::shared_ptr<const std::byte> data)
    : type_{dtype, std::move(shape)}, data_(std::move(data)) {
  checked_element_count(type_.shape);
  const size_t bytes = bytes_of(type_);
  if (reinterpret_cast<uintptr_t>(data_.get()) % size_of(dtype) != 0 || data_ == nullptr) {
    if (data_ == nullptr && bytes != 0) throw Error(ErrorCode::internal, "a tensor without data");
    auto copy = allocate_zeroed(bytes);
    if (bytes != 0) std::memcpy(copy.get(), data_.get(), bytes);
    data_ = std::move(copy);
    writable_ = true;
  }
}

template <typename T>
HostTensor HostTensor::from(DType dtype, Shape shape, std::span<const T> elements) {
  HostTensor tensor(dtype, std::move(shape));
  if (elements.size() != static_cast<size_t>(tensor.elements())) {
    throw Error(ErrorCode::invalid_argument,
                std::to_string(elements.size()) + " elements given for shape " + to_string(tensor.shape()));
  }
  visit_element(dtype, [&](auto tag) {
    using Element = typename decltype(tag)::type;
    auto out = tensor.mutable_as<Element>();
    for (size_t i = 0; i < elements.size(); ++i) out[i] = convert<Element>(elements[i]);
  });
  return tensor;
}

template HostTensor HostTensor::from(DType, Shape, std::span<const float>);
template HostTensor HostTensor::from(DType, Shape, std::span<const double>);
template HostTensor HostTensor::from(DType, Shape, std::span<const int64_t>);
template HostTensor HostTensor::from(DType, Shape, std::span<const int32_t>);
template HostTensor HostTensor::from(DType, Shape, std::span<const int16_t>);
template HostTensor HostTensor::from(DType, Shape, std::span<const int8_t>);
template HostTensor HostTensor::from(DType, Shape, std::span<const uint64_t>);
template HostTensor HostTensor::from(DType, Shape, std::span<const uint32_t>);
template HostTensor HostTensor::from(DType, Shape, std::span<const uint16_t>);
template HostTensor HostTensor::from(DType, Shape, std::span<const uint8_t>);

HostTensor HostTensor::f32(Shape shape, std::span<const float> elements) {
  return from(DType::f32, std::move(shape), elements);
}

HostTensor HostTensor::i64(Shape shape, std::span<const int64_t> elements) {
  return from(DType::i64, std::move(shape), elements);
}

int64_t HostTensor::elements() const { return data_ == nullptr ? 0 : element_count(type_.shape); }

size_t HostTensor::byte_size() const { return data_ == nullptr ? 0 : bytes_of(type_); }

std::byte* HostTensor::mutable_data() {
  if (data_ == nullptr) return nullptr;
  if (!writable_ || data_.use_count() > 1) {
    auto copy = allocate_zeroed(byte_size());
    std::memcpy(copy.get(), data_.get(), byte_size());
    data_ = std::move(copy);
    writable_ = true;
  }
  // The bytes were allocated as non-const by allocate_zeroed() and belong to this tensor alone.
  return const_cast<std::byte*>(data_.get());
}

HostTensor HostTensor::reshaped(Shape shape) const {
  if (element_count(shape) != elements()) {
    throw Error(ErrorCode::invalid_argument,
                "a tensor of shape " + to_string(type_.shape) + " cannot be reshaped to " + to_string(shape));
  }
  HostTensor result = *this;
  result.type_.shape = std::move(shape);
  return result;
}

std::vector<float> HostTensor::to_floats() const {
  const HostTensor floats = cast(*this, DType::f32);
  const auto view = floats.as<float>();
  return {view.begin(), view.end()};
}

std::vector<int64_t> HostTensor::to_ints() const {
  const HostTensor ints = cast(*this, DType::i64);
  const auto view = ints.as<int64_t>();
  return {view.begin(), view.end()};
}

HostTensor::ElementKind HostTensor::element_kind(DType dtype) {
  switch (dtype) {
    case DType::f32:
    case DType::f64:
      return ElementKind::floating;
    case DType::i64:
    case DType::i32:
    case DType::i16:
    case DType::i8:
      return ElementKind::signed_integer;
    default:  // halves are their bits, booleans bytes
      return ElementKind::unsigned_integer;
  }
}

void HostTensor::check_element(size_t element_size, ElementKind kind) const {
  constexpr const char* kinds[] = {"structs", "floating-point numbers", "signed integers",
                                   "unsigned integers"};
  const bool bits = kind == ElementKind::opaque || kind == ElementKind::unsigned_integer;
  const bool same_kind = bits || kind == element_kind(type_.dtype);
  if (element_size == size_of(type_.dtype) && same_kind) return;
  throw Error(ErrorCode::invalid_argument, "a tensor of " + std::string(name(type_.dtype)) + " was read as " +
                                               kinds[static_cast<size_t>(kind)] + " of " +
                                               std::to_string(element_size) + " bytes");
}

HostTensor cast(const HostTensor& tensor, DType dtype) {
  if (tensor.data() == nullptr)
    throw Error(ErrorCode::invalid_argument, "a tensor that holds nothing has no elements to convert");
  if (tensor.dtype() == dtype) return tensor;
  HostTensor result(dtype, tensor.shape());
  visit_element(tensor.dtype(), [&](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    const auto in = tensor.as<From>();
    visit_element(dtype, [&](auto to_tag) {
      using To = typename decltype(to_tag)::type;
      auto out = result.mutable_as<To>();
      for (size_t i = 0; i < in.size(); ++i) out[i] = convert<To>(in[i]);
    });
  });
  return result;
}

uint16_t float_to_half(float value) { return nearest_half(value); }

float half_to_float(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1fu;
  const uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return sign ? -magnitude : magnitude;
  }
  const uint32_t bits =
      exponent == 31 ? 0x7f800000u | (mantissa << 13) : ((exponent + 112) << 23) | (mantissa << 13);
  return std::bit_cast<float>(sign | bits);
}

}  // namespace vellum

#include "import/tflite/tensors.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "graph/operator_support.hpp"
#include "import/tflite/sparse.hpp"

namespace vellum::tflite {

std::string tensor_name(const schema::Tensor& tensor) {
  return tensor.name() == nullptr ? std::string() : tensor.name()->str();
}

DType to_dtype(schema::TensorType type) {
  using schema::TensorType;
  switch (type) {
    case TensorType::float32:
      return DType::f32;
    case TensorType::float16:
      return DType::f16;
    case TensorType::float64:
      return DType::f64;
    case TensorType::int64:
      return DType::i64;
    case TensorType::int32:
      return DType::i32;
    case TensorType::int16:
      return DType::i16;
    case TensorType::int8:
    case TensorType::int4:  // in bytes of their own, see read_constant()
      return DType::i8;
    case TensorType::uint64:
      return DType::u64;
    case TensorType::uint32:
      return DType::u32;
    case TensorType::uint16:
      return DType::u16;
    case TensorType::uint8:
      return DType::u8;
    case TensorType::boolean:
      return DType::boolean;
    default:
      break;
  }
  refuse_unsupported("elements of TFLite type " + std::to_string(static_cast<int>(type)) +
                     " (string, complex, bfloat16, resource, ...) are not supported");
}

Shape read_shape(const schema::Tensor& tensor) {
  const auto* dims = tensor.shape();
  const auto* open = tensor.shape_signature();
  if (dims != nullptr && dims->size() > kMostDims) refuse_model(std::to_string(dims->size()) + " dimensions");
  Shape shape;
  for (flatbuffers::uoffset_t i = 0; dims != nullptr && i < dims->size(); ++i) {
    const bool is_open = open != nullptr && open->size() == dims->size() && open->Get(i) == -1;
    if (!is_open && dims->Get(i) < 0) refuse_model("negative dimension " + std::to_string(dims->Get(i)));
    shape.push_back(is_open ? kUnknownDim : dims->Get(i));
  }
  return shape;
}

namespace {

std::span<const std::byte> buffer_bytes(const File& source, const schema::Tensor& tensor) {
  const std::span<const std::byte> file = source.bytes;
  const auto* buffers = source.model.buffers();
  if (tensor.buffer() < source.outside.size()) return source.outside[tensor.buffer()];
  if (tensor.buffer() == 0 || buffers == nullptr) return {};
  if (tensor.buffer() >= buffers->size() || buffers->Get(tensor.buffer()) == nullptr) {
    refuse_model("there is no buffer " + std::to_string(tensor.buffer()));
  }
  const schema::Buffer& buffer = *buffers->Get(tensor.buffer());
  if (buffer.offset() > 1) {
    if (buffer.offset() > file.size() || buffer.size() > file.size() - buffer.offset()) {
      refuse_model("buffer " + std::to_string(tensor.buffer()) + " is outside the file");
    }
    return file.subspan(static_cast<size_t>(buffer.offset()), static_cast<size_t>(buffer.size()));
  }
  if (buffer.data() == nullptr) return {};
  return std::as_bytes(std::span(buffer.data()->data(), buffer.data()->size()));
}

HostTensor copy_elements(DType dtype, Shape shape, std::span<const std::byte> bytes) {
  // Before anything is allocated: a damaged shape may be of any size.
  const uint64_t needed = static_cast<uint64_t>(checked_element_count(shape)) * size_of(dtype);
  if (needed != bytes.size()) {
    refuse_model("it holds " + std::to_string(bytes.size()) + " bytes, but " +
                 to_string(TensorType{dtype, shape}) + " needs " + std::to_string(needed));
  }
  HostTensor result(dtype, std::move(shape));
  std::memcpy(result.mutable_data(), bytes.data(), bytes.size());
  if constexpr (std::endian::native == std::endian::big) {
    const auto element = static_cast<std::ptrdiff_t>(size_of(dtype));
    std::byte* data = result.mutable_data();
    for (std::byte* end = data + bytes.size(); data != end; data += element) {
      std::reverse(data, data + element);
    }
  }
  // A stored bool is any byte; the rest of the library relies on 0 and 1.
  if (dtype == DType::boolean) {
    for (uint8_t& byte : result.mutable_as<uint8_t>()) byte = byte != 0;
  }
  return result;
}

// The first of two integers is in the lower bits of their byte.
HostTensor unpack_4_bits(const Shape& shape, std::span<const std::byte> bytes) {
  const auto count = static_cast<uint64_t>(checked_element_count(shape));
  if ((count + 1) / 2 != bytes.size())
    refuse_model("it holds " + std::to_string(bytes.size()) + " bytes, but " + std::to_string(count) +
                 " integers of 4 bits need " + std::to_string((count + 1) / 2));
  HostTensor result(DType::i8, shape);
  size_t i = 0;
  for (int8_t& integer : result.mutable_as<int8_t>()) {
    const auto bits = static_cast<int>(bytes[i / 2]) >> (i % 2 == 0 ? 0 : 4) & 15;
    integer = static_cast<int8_t>(bits < 8 ? bits : bits - 16);
    ++i;
  }
  return result;
}

}  // namespace

std::optional<HostTensor> read_constant(File& file, const schema::Tensor& tensor) {
  const auto bytes = buffer_bytes(file, tensor);
  const bool has_4_bits = tensor.type() == schema::TensorType::int4;
  if (bytes.empty()) {
    if (has_4_bits) refuse_unsupported("it has 4 bits and is computed");
    return std::nullopt;
  }
  const DType dtype = to_dtype(tensor.type());
  const Shape shape = read_shape(tensor);
  if (!is_known(shape)) refuse_model("a constant has an open dimension");
  file.count(bytes.size());
  if (has_4_bits) {
    if (tensor.sparsity() != nullptr) refuse_unsupported("sparse, with 4 bits");
    file.count(2 * bytes.size());
    return unpack_4_bits(shape, bytes);
  }
  if (tensor.sparsity() == nullptr) return copy_elements(dtype, shape, bytes);
  const auto stored = static_cast<int64_t>(bytes.size() / size_of(dtype));
  // Real weights are rarely sparser than 1 in 10; a damaged shape must not make us allocate without end.
  constexpr int64_t kSparsest = 4096;
  if (checked_element_count(shape) / kSparsest > stored) refuse_model("sparse tensor: hardly any elements");
  file.count(static_cast<uint64_t>(element_count(shape)), size_of(dtype));
  return densify(*tensor.sparsity(),
                 copy_elements(dtype, {stored}, bytes.first(static_cast<size_t>(stored) * size_of(dtype))),
                 shape);
}

}  // namespace vellum::tflite

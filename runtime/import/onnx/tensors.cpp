#include "import/onnx/tensors.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <span>

#include "graph/narrow_types.hpp"
#include "import/onnx/external_data.hpp"
#include "vellum/error.hpp"

namespace vellum::onnx {
namespace {

using schema::TensorProto;

// Types of the standard that Vellum does not support, by number, because the schema of some packages lacks
// the newest names.
const char* unsupported_type_name(int32_t data_type) {
  switch (data_type) {
    case 8:
      return "string";
    case 14:
      return "complex64";
    case 15:
      return "complex128";
    case 24:
      return "float8e8m0";
    default:
      return nullptr;
  }
}

Shape read_dims(const TensorProto& tensor, const std::string& what) {
  Shape shape(tensor.dims().begin(), tensor.dims().end());
  for (const int64_t dim : shape) {
    if (dim < 0) throw Error(ErrorCode::corrupt_model, what + ": negative dimension " + std::to_string(dim));
  }
  return shape;
}

// Returns the bytes of the tensor. Every byte count below is compared with this one before an allocation.
uint64_t byte_size(DType dtype, const Shape& shape, const std::string& what) {
  uint64_t bytes = size_of(dtype);
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  for (const int64_t dim : shape) {
    if (static_cast<uint64_t>(dim) > uint64_t{std::numeric_limits<int64_t>::max()} / bytes) {
      throw Error(ErrorCode::corrupt_model, what + ": its dimensions " + to_string(shape) + " are too large");
    }
    bytes *= static_cast<uint64_t>(dim);
  }
  return bytes;
}

// ONNX stores raw and external bytes little-endian.
std::shared_ptr<const std::byte> to_native_order(std::shared_ptr<const std::byte> data, uint64_t bytes,
                                                 DType dtype) {
  if constexpr (std::endian::native == std::endian::little) {
    return data;
  } else {
    const size_t element = size_of(dtype);
    const std::shared_ptr<std::byte[]> swapped(new std::byte[std::max<uint64_t>(bytes, 1)]);
    for (uint64_t i = 0; i < bytes; i += element) {
      std::reverse_copy(data.get() + i, data.get() + i + element, swapped.get() + i);
    }
    return {swapped, swapped.get()};
  }
}

HostTensor from_raw(TensorProto& tensor, DType dtype, Shape shape, uint64_t bytes, const std::string& what) {
  if (tensor.raw_data().size() != bytes) {
    throw Error(ErrorCode::corrupt_model, what + ": it holds " + std::to_string(tensor.raw_data().size()) +
                                              " bytes, but its type and dims need " + std::to_string(bytes));
  }
  const std::shared_ptr<std::string> owner(tensor.release_raw_data());
  std::shared_ptr<const std::byte> data(owner, reinterpret_cast<const std::byte*>(owner->data()));
  return {dtype, std::move(shape), to_native_order(std::move(data), bytes, dtype)};
}

template <typename T, typename Field>
HostTensor from_field(const Field& field, DType dtype, Shape shape, uint64_t bytes, const std::string& what) {
  if (static_cast<uint64_t>(field.size()) != bytes / sizeof(T)) {
    throw Error(ErrorCode::corrupt_model, what + ": it holds " + std::to_string(field.size()) +
                                              " elements, but its dims need " +
                                              std::to_string(bytes / sizeof(T)));
  }
  HostTensor result(dtype, std::move(shape));
  const auto elements = result.mutable_as<T>();
  for (int i = 0; i < field.size(); ++i) {
    const auto value = field.Get(i);
    const T narrowed = static_cast<T>(value);
    // Sixteen-bit patterns and small integers are stored in wider fields.
    if constexpr (sizeof(T) < sizeof(value)) {
      if (static_cast<decltype(value)>(narrowed) != value) {
        throw Error(ErrorCode::corrupt_model,
                    what + ": element " + std::to_string(i) + " does not fit " + std::string(name(dtype)));
      }
    }
    elements[static_cast<size_t>(i)] = narrowed;
  }
  return result;
}

// The field of each type: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto, TensorProto.
HostTensor from_typed_field(const TensorProto& tensor, DType dtype, Shape shape, uint64_t bytes,
                            const std::string& what) {
  switch (dtype) {
    case DType::f32:
      return from_field<float>(tensor.float_data(), dtype, std::move(shape), bytes, what);
    case DType::f64:
      return from_field<double>(tensor.double_data(), dtype, std::move(shape), bytes, what);
    case DType::i64:
      return from_field<int64_t>(tensor.int64_data(), dtype, std::move(shape), bytes, what);
    case DType::u64:
      return from_field<uint64_t>(tensor.uint64_data(), dtype, std::move(shape), bytes, what);
    case DType::u32:
      return from_field<uint32_t>(tensor.uint64_data(), dtype, std::move(shape), bytes, what);
    case DType::i32:
      return from_field<int32_t>(tensor.int32_data(), dtype, std::move(shape), bytes, what);
    case DType::i16:
      return from_field<int16_t>(tensor.int32_data(), dtype, std::move(shape), bytes, what);
    case DType::i8:
      return from_field<int8_t>(tensor.int32_data(), dtype, std::move(shape), bytes, what);
    case DType::f16:
    case DType::u16:
      return from_field<uint16_t>(tensor.int32_data(), dtype, std::move(shape), bytes, what);
    case DType::boolean:
    case DType::u8:
      return from_field<uint8_t>(tensor.int32_data(), dtype, std::move(shape), bytes, what);
  }
  throw Error(ErrorCode::internal, what + ": a data type without a reader");
}

// A stored bool is any byte; the rest of the library relies on 0 and 1.
HostTensor normalise_bools(HostTensor tensor) {
  const auto stored = tensor.as<uint8_t>();
  if (std::all_of(stored.begin(), stored.end(), [](uint8_t byte) { return byte <= 1; })) return tensor;
  for (uint8_t& byte : tensor.mutable_as<uint8_t>()) byte = byte != 0;
  return tensor;
}

}  // namespace

DType to_dtype(int32_t data_type, const std::string& what) {
  switch (data_type) {
    case TensorProto::FLOAT:
      return DType::f32;
    case TensorProto::UINT8:
      return DType::u8;
    case TensorProto::INT8:
      return DType::i8;
    case TensorProto::UINT16:
      return DType::u16;
    case TensorProto::INT16:
      return DType::i16;
    case TensorProto::INT32:
      return DType::i32;
    case TensorProto::INT64:
      return DType::i64;
    case TensorProto::BOOL:
      return DType::boolean;
    case TensorProto::FLOAT16:
      return DType::f16;
    case TensorProto::DOUBLE:
      return DType::f64;
    case TensorProto::UINT32:
      return DType::u32;
    case TensorProto::UINT64:
      return DType::u64;
    default:
      break;
  }
  if (const NarrowType* narrow = find_narrow_type(data_type)) return narrow->stored;
  if (const char* type_name = unsupported_type_name(data_type)) {
    throw Error(ErrorCode::unsupported, what + ": elements of type " + type_name + " are not supported");
  }
  throw Error(ErrorCode::corrupt_model, what + ": no such element type: " + std::to_string(data_type));
}

namespace {

// A tensor of a narrow type. Its typed field has a 16-bit pattern or a byte in each number.
HostTensor take_narrow_tensor(const TensorProto& tensor, const NarrowType& type, const std::string& what,
                              ExternalFiles& files) {
  const Shape shape = read_dims(tensor, what);
  const uint64_t elements = byte_size(type.stored, shape, what) / size_of(type.stored);
  const uint64_t bytes = packed_bytes(type, elements);
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    const auto data = read_external_data(tensor, what, files, bytes, elements * size_of(type.stored));
    return unpack(type, shape, {data.get(), static_cast<size_t>(bytes)});
  }
  std::string packed = tensor.raw_data();
  if (!tensor.has_raw_data())
    for (const int32_t value : tensor.int32_data())
      for (int shift = 0; shift < type.bits; shift += 8) packed += static_cast<char>(value >> shift & 0xff);
  if (packed.size() != bytes) {
    throw Error(ErrorCode::corrupt_model, what + ": it holds " + std::to_string(packed.size()) +
                                              " bytes, but its type and dims need " + std::to_string(bytes));
  }
  return unpack(type, shape, std::as_bytes(std::span(packed)));
}

}  // namespace

HostTensor take_tensor(TensorProto& tensor, const std::string& what, ExternalFiles& files) {
  const DType dtype = to_dtype(tensor.data_type(), what);
  if (tensor.has_segment())
    throw Error(ErrorCode::unsupported, what + ": a tensor in segments is not supported");
  if (const NarrowType* narrow = find_narrow_type(tensor.data_type()))
    return take_narrow_tensor(tensor, *narrow, what, files);
  Shape shape = read_dims(tensor, what);
  const uint64_t bytes = byte_size(dtype, shape, what);
  HostTensor result;
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    auto data = read_external_data(tensor, what, files, bytes, bytes);
    result = {dtype, std::move(shape), to_native_order(std::move(data), bytes, dtype)};
  } else if (tensor.has_raw_data() && (bytes > 0 || !tensor.raw_data().empty())) {
    result = from_raw(tensor, dtype, std::move(shape), bytes, what);
  } else {
    result = from_typed_field(tensor, dtype, std::move(shape), bytes, what);
  }
  return dtype == DType::boolean ? normalise_bools(std::move(result)) : result;
}

}  // namespace vellum::onnx

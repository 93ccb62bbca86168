#include "describe_tensor.hpp"

#include <optional>
#include <vector>

namespace vellum::lite {
namespace {

namespace schema = tflite::schema;
using Builder = flatbuffers::FlatBufferBuilder;

// The interpreter and the file number types differently.
std::optional<schema::TensorType> file_type(TfLiteType type) {
  switch (type) {
    case kTfLiteFloat32:
      return schema::TensorType::float32;
    case kTfLiteFloat16:
      return schema::TensorType::float16;
    case kTfLiteFloat64:
      return schema::TensorType::float64;
    case kTfLiteInt64:
      return schema::TensorType::int64;
    case kTfLiteInt32:
      return schema::TensorType::int32;
    case kTfLiteInt16:
      return schema::TensorType::int16;
    case kTfLiteInt8:
      return schema::TensorType::int8;
    case kTfLiteUInt64:
      return schema::TensorType::uint64;
    case kTfLiteUInt32:
      return schema::TensorType::uint32;
    case kTfLiteUInt16:
      return schema::TensorType::uint16;
    case kTfLiteUInt8:
      return schema::TensorType::uint8;
    case kTfLiteBool:
      return schema::TensorType::boolean;
    case kTfLiteComplex64:
      return schema::TensorType::complex64;
    default:
      return std::nullopt;
  }
}

flatbuffers::Offset<flatbuffers::Vector<int32_t>> numbers(Builder& builder, const TfLiteIntArray* array) {
  const std::span<const int> values = ints(array);
  return builder.CreateVector(values.data(), values.size());
}

flatbuffers::Offset<schema::Quantization> describe_grid(Builder& builder, const TfLiteTensor& tensor) {
  if (tensor.quantization.type != kTfLiteAffineQuantization || tensor.quantization.params == nullptr)
    return 0;
  const auto& given = *static_cast<const TfLiteAffineQuantization*>(tensor.quantization.params);
  if (given.scale == nullptr || given.scale->size <= 0) return 0;
  const std::span<const int> zeros = ints(given.zero_point);
  const auto scale = builder.CreateVector(given.scale->data, static_cast<size_t>(given.scale->size));
  const auto zero_point = builder.CreateVector(std::vector<int64_t>(zeros.begin(), zeros.end()));
  return schema::CreateQuantization(builder, scale, zero_point, schema::QuantizationDetails::NONE, 0,
                                    given.quantized_dimension);
}

flatbuffers::Offset<schema::Dimension> describe_dimension(Builder& builder,
                                                          const TfLiteDimensionMetadata& given) {
  if (given.format == kTfLiteDimDense)
    return schema::CreateDimension(builder, schema::DimensionFormat::dense, given.dense_size);
  const auto segments = schema::CreateInt32Vector(builder, numbers(builder, given.array_segments));
  const auto indices = schema::CreateInt32Vector(builder, numbers(builder, given.array_indices));
  return schema::CreateDimension(builder, schema::DimensionFormat::sparse_csr, given.dense_size,
                                 schema::IndexVector::Int32Vector, segments.Union(),
                                 schema::IndexVector::Int32Vector, indices.Union());
}

flatbuffers::Offset<schema::Sparsity> describe_sparsity(Builder& builder, const TfLiteTensor& tensor) {
  if (tensor.sparsity == nullptr) return 0;
  const TfLiteSparsity& given = *tensor.sparsity;
  std::vector<flatbuffers::Offset<schema::Dimension>> dimensions;
  for (int i = 0; i < given.dim_metadata_size; ++i)
    dimensions.push_back(describe_dimension(builder, given.dim_metadata[i]));
  const auto order = numbers(builder, given.traversal_order), blocks = numbers(builder, given.block_map);
  return schema::CreateSparsity(builder, order, blocks, builder.CreateVector(dimensions));
}

// The file's shape, with -1 for open dimensions; null where all are known.
flatbuffers::Offset<flatbuffers::Vector<int32_t>> describe_signature(Builder& builder,
                                                                     const TfLiteTensor& tensor,
                                                                     bool is_open) {
  if (is_open && ints(tensor.dims).size() > 1) {
    std::vector<int32_t> open(ints(tensor.dims).size(), -1);
    open.back() = ints(tensor.dims).back();  // channels
    return builder.CreateVector(open);
  }
  if (ints(tensor.dims_signature).empty()) return 0;
  return numbers(builder, tensor.dims_signature);
}

}  // namespace

std::string tensor_refusal(const TfLiteTensor& tensor) {
  if (!file_type(tensor.type)) return "elements of LiteRT's type " + std::to_string(tensor.type);
  return {};
}

flatbuffers::Offset<schema::Tensor> describe_tensor(Builder& builder, const TfLiteTensor& tensor,
                                                    const TensorEntry& entry) {
  const auto shape = numbers(builder, tensor.dims);
  const auto name = builder.CreateString(entry.name);
  const auto grid = describe_grid(builder, tensor);
  const auto sparsity = describe_sparsity(builder, tensor);
  const auto signature = describe_signature(builder, tensor, entry.is_open);
  return schema::CreateTensor(builder, shape, file_type(tensor.type).value(), entry.buffer, name, grid,
                              tensor.is_variable, sparsity, signature);
}

}  // namespace vellum::lite

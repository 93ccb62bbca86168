// Writer's functions that make real numbers of stored integers, and integers of real numbers.
#include "graph/narrow_types.hpp"
#include "graph/operators/elementwise/quantize.hpp"
#include "import/tflite/tensors.hpp"
#include "import/tflite/writer.hpp"

namespace vellum::tflite {

Writer::Quantisation Writer::read_quantisation(const schema::Tensor& entry, const TensorType& type) {
  const schema::Quantization& given = *entry.quantization();
  if (given.details_type() != schema::QuantizationDetails::NONE)
    refuse_unsupported("a quantisation of its own kind");
  const auto count = static_cast<int64_t>(given.scale()->size());
  std::vector<float> scale(given.scale()->begin(), given.scale()->end());
  Ints zero(scale.size(), 0);
  if (given.zero_point() != nullptr && given.zero_point()->size() > 0) {
    zero.assign(given.zero_point()->begin(), given.zero_point()->end());
  }
  if (zero.size() != scale.size()) refuse_model("its scales and zero points differ in number");
  for (size_t i = 0; i < scale.size(); ++i) {
    if (!(scale[i] > 0.0f && scale[i] <= 3e38f)) refuse_model("a scale is not a finite positive number");
    const DType bounds = is_byte(type.dtype) || type.dtype == DType::i16 ? type.dtype : DType::i8;
    const IntegerRange range = integer_range(bounds, static_cast<int>(8 * size_of(bounds)));
    if (zero[i] < range.low || zero[i] > range.high) refuse_model("zero point " + std::to_string(zero[i]));
    if (zero[i] != 0 && entry.sparsity() != nullptr) refuse_unsupported("sparse, with a zero point");
  }
  // Old converters gave biases the axis of their weights.
  const int64_t axis = count == 1 || type.shape.size() == 1 ? 0 : given.quantized_dimension();
  if (count > 1 && type.shape[normalize_axis(axis, type.shape.size())] != count) {
    refuse_model(std::to_string(count) + " scales do not fit " + to_string(type));
  }
  const Shape shape = count == 1 ? Shape{} : Shape{count};
  return {type.dtype, HostTensor::f32(shape, scale), HostTensor::from<int64_t>(type.dtype, shape, zero),
          axis};
}

// Converts constants to real numbers; computed tensors are computed as real numbers.
void Writer::make_real(Tensor& tensor, const schema::Tensor& entry) {
  const DType stored = tensor.type.dtype;
  const bool is_bias = stored == DType::i32 || (stored == DType::i64 && tensor.constant);
  if (!is_stored_grid(stored) && !is_bias)
    refuse_unsupported("it is quantised to " + to_string(tensor.type) + "; 8 and 16 bits are supported");
  Quantisation q = read_quantisation(entry, tensor.type);
  tensor.type.dtype = DType::f32;
  if (tensor.constant) {
    if (is_bias) tensor.bias = tensor.constant;
    tensor.constant = to_real(*tensor.constant, q);
    file_.has_integer_weights = true;
  } else if (q.scale.elements() != 1) {
    refuse_unsupported("it is computed, and quantised per channel");
  } else {
    is_quantised_ = true;
  }
  tensor.quantisation = std::move(q);
}

// Weights of blocks become floats; fuse_packed_weights finds the blocks again.
void Writer::make_real_of_blocks(Tensor& tensor, const schema::SubGraph& subgraph,
                                 const schema::BlockwiseQuantization& blocks) {
  if (!tensor.constant || tensor.quantisation) refuse_unsupported("it is computed, and quantised in blocks");
  const HostTensor& stored = *tensor.constant;
  if (stored.shape().empty() || is_float(stored.dtype()) || blocks.block_size() < 1)
    refuse_model("blocks of " + std::to_string(blocks.block_size()) + " of " + to_string(stored.type()));
  const int64_t row = stored.shape().back(), in_row = (row + blocks.block_size() - 1) / blocks.block_size();
  const int64_t count = row == 0 ? 0 : stored.elements() / row * in_row;
  const auto numbers = [&](int32_t index) {
    if (index < 0 || static_cast<size_t>(index) >= subgraph.tensors()->size())
      refuse_model("the scales of its blocks are tensor " + std::to_string(index));
    const auto found =
        read_constant(file_, *subgraph.tensors()->Get(static_cast<flatbuffers::uoffset_t>(index)));
    if (!found || found->elements() != count)
      refuse_model("its blocks have not one scale and zero point each");
    return found->to_floats();
  };
  const std::vector<float> scales = numbers(blocks.scales());
  const std::vector<float> zeros =
      blocks.zero_points() == -1 ? std::vector<float>(scales.size(), 0.0f) : numbers(blocks.zero_points());
  file_.count(static_cast<uint64_t>(stored.elements()), sizeof(float));
  std::vector<float> real = stored.to_floats();
  for (size_t i = 0; i < real.size(); ++i) {
    const size_t at_row = i / static_cast<size_t>(row), in = i % static_cast<size_t>(row);
    const size_t block = at_row * static_cast<size_t>(in_row) + in / static_cast<size_t>(blocks.block_size());
    real[i] = (real[i] - zeros[block]) * scales[block];
  }
  tensor.constant = HostTensor::f32(stored.shape(), real);
  tensor.type = tensor.constant->type();
  file_.has_integer_weights = true;
}

// A bias of 16-bit layers has 64 bits, of which few are in use.
HostTensor Writer::to_real(const HostTensor& stored, const Quantisation& quantisation) {
  file_.count(static_cast<uint64_t>(stored.elements()), sizeof(float));
  DequantizeLinear dequantise;
  dequantise.axis = quantisation.axis;
  if (stored.dtype() == DType::i64) {
    const HostTensor wide = cast(stored, DType::f64);
    const HostTensor* inputs[] = {&wide, &quantisation.scale};
    return dequantise.evaluate(inputs)[0];
  }
  const HostTensor* inputs[] = {&stored, &quantisation.scale, &quantisation.zero_point};
  return dequantise.evaluate(inputs)[0];
}

void Writer::set_dequantised(int32_t tensor, int32_t from) {
  set_constant(tensor, *at(from).constant);
  at(tensor).integers = at(from).quantisation;
}

ValueId Writer::table_of_rows(int32_t tensor) {
  const Tensor& entry = at(tensor);
  const auto& quantisation = entry.integers ? entry.integers : entry.quantisation;
  const bool is_table = quantisation && is_byte(quantisation->stored) && entry.type.shape.size() == 2;
  if (!is_table || (!entry.constant && !tables_.contains(tensor))) return in_file_order(tensor);
  if (const auto known = tables_.find(tensor); known != tables_.end()) return known->second;
  QuantizeLinear quantise;
  quantise.axis = quantisation->axis;
  const HostTensor* inputs[] = {&*entry.constant, &quantisation->scale, &quantisation->zero_point};
  auto dequantise = std::make_shared<DequantizeLinear>();
  dequantise->axis = quantisation->axis;
  const ValueId real = add_value(unique(entry.name + "_real"));
  add_node(std::move(dequantise),
           {add_constant(entry.name + "_integers", quantise.evaluate(inputs)[0]),
            add_constant(entry.name + "_scale", quantisation->scale),
            add_constant(entry.name + "_zero_point", quantisation->zero_point)},
           {real});
  if (quantisation->scale.elements() == 1) grids_[real] = grid_of(*quantisation);
  tables_[tensor] = real;
  return real;
}

ValueId Writer::quantised_value(ValueId real, const Tensor& tensor, const std::string& name) {
  if (!is_stored_grid(tensor.quantisation->stored)) {
    refuse_unsupported("graph output " + quoted_name(tensor.name) + " is quantised to more than 16 bits");
  }
  const ValueId stored = graph_.add_value(name);
  add_node(std::make_shared<QuantizeLinear>(),
           {real, add_constant(tensor.name + "_scale", tensor.quantisation->scale),
            add_constant(tensor.name + "_zero_point", tensor.quantisation->zero_point)},
           {stored});
  return stored;
}

}  // namespace vellum::tflite

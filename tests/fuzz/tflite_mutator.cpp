#include "tflite_mutator.hpp"

#include <vellum_tflite_objects_generated.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <vector>

namespace vellum {
namespace {

namespace tfl = vellum::tflite::objects;

constexpr int32_t kOperatorNumbers[] = {
#define TFLITE_OPERATOR(number, name, convert) number,
#define TFLITE_CUSTOM(name, convert)
#include "import/tflite/operators.def"
#undef TFLITE_CUSTOM
#undef TFLITE_OPERATOR
};

class TfliteMutator {
 public:
  TfliteMutator(tfl::ModelT& model, uint32_t seed) : model_(model), random_(seed) {}

  void mutate() {
    if (model_.subgraphs.empty()) return;
    graph_ = any(model_.subgraphs).get();
    if (!graph_ || graph_->operators.empty() || graph_->tensors.empty()) return;
    tfl::OperatorT& op = *any(graph_->operators);
    switch (pick(12)) {
      case 0:
        change_operator(op);
        break;
      case 1:
        graph_->operators.erase(graph_->operators.begin() +
                                static_cast<std::ptrdiff_t>(pick(graph_->operators.size())));
        break;
      case 2:
        repeat(op);
        break;
      case 3:
      case 4:
        rewire(pick(4) == 0 ? op.outputs : op.inputs);
        break;
      case 5:
        rewire(pick(2) == 0 ? graph_->inputs : graph_->outputs);
        break;
      case 6:
      case 7:
        change_shape(*any(graph_->tensors));
        break;
      case 8:
        any(graph_->tensors)->type = static_cast<tfl::TensorType>(pick(19));
        break;
      case 9:
        change_constant();
        break;
      case 10:
        change_quantisation(*any(graph_->tensors));
        break;
      default:
        change_tensor(*any(graph_->tensors));
    }
  }

  // Fields of options, by their places: the generated types do not list them.
  void change_options(std::string& bytes) {
    const tfl::Model* model = tfl::GetModel(bytes.data());
    if (!model->subgraphs() || model->subgraphs()->size() == 0) return;
    const auto* operators = model->subgraphs()->Get(0)->operators();
    if (!operators || operators->size() == 0) return;
    const auto* options = static_cast<const flatbuffers::Table*>(
        operators->Get(static_cast<uint32_t>(pick(operators->size())))->builtin_options());
    if (!options) return;
    constexpr uint16_t kFirst = 4;  // of a vtable: after its own size and the table's
    const auto table_size = flatbuffers::ReadScalar<flatbuffers::voffset_t>(options->GetVTable());
    if (table_size <= kFirst) return;
    const auto field = static_cast<flatbuffers::voffset_t>(kFirst + 2 * pick((table_size - kFirst) / 2u));
    const auto offset = options->GetOptionalFieldOffset(field);
    if (offset == 0) return;
    const size_t place = static_cast<size_t>(reinterpret_cast<const char*>(options) - bytes.data()) + offset;
    const auto value = static_cast<int32_t>(number());
    const size_t size = place % sizeof(value) == 0 && pick(2) == 0 ? sizeof(value) : 1;
    if (place + size <= bytes.size()) std::memcpy(bytes.data() + place, &value, size);
  }

 private:
  size_t pick(size_t count) { return count > 0 ? random_() % count : 0; }

  template <typename T>
  T& any(std::vector<T>& list) {
    return list[pick(list.size())];
  }

  int64_t number() {
    static constexpr int64_t numbers[] = {0, 1, -1, 2,   3,       -2,        4,         5,
                                          7, 8, 16, 127, 1 << 16, INT32_MAX, INT32_MIN, -3};
    return numbers[pick(std::size(numbers))];
  }

  int32_t any_tensor() {
    return pick(16) == 0 ? static_cast<int32_t>(number())
                         : static_cast<int32_t>(pick(graph_->tensors.size()));
  }

  void change_operator(tfl::OperatorT& op) {
    if (model_.operator_codes.empty()) return;
    auto code = std::make_unique<tfl::OperatorCodeT>(*any(model_.operator_codes));
    code->builtin_code = kOperatorNumbers[pick(std::size(kOperatorNumbers))];
    code->old_builtin_code = static_cast<int8_t>(std::min(code->builtin_code, 127));
    if (pick(2) == 0) code->version = static_cast<int32_t>(number());
    model_.operator_codes.push_back(std::move(code));
    op.opcode_index = static_cast<uint32_t>(model_.operator_codes.size() - 1);
    if (pick(2) == 0) set_options(op.builtin_options);
  }

  void set_options(tfl::BuiltinOptionsUnion& options) {
    switch (pick(16)) {
      case 0:
        return options.Set(tfl::Conv2DOptionsT{});
      case 1:
        return options.Set(tfl::DepthwiseConv2DOptionsT{});
      case 2:
        return options.Set(tfl::Pool2DOptionsT{});
      case 3:
        return options.Set(tfl::FullyConnectedOptionsT{});
      case 4:
        return options.Set(tfl::ConcatenationOptionsT{});
      case 5:
        return options.Set(tfl::StridedSliceOptionsT{});
      case 6:
        return options.Set(tfl::TransposeConvOptionsT{});
      case 7:
        return options.Set(tfl::PackOptionsT{});
      case 8:
        return options.Set(tfl::UnpackOptionsT{});
      case 9:
        return options.Set(tfl::SplitOptionsT{});
      case 10:
        return options.Set(tfl::GatherOptionsT{});
      case 11:
        return options.Set(tfl::BatchMatMulOptionsT{});
      case 12:
        return options.Set(tfl::ReducerOptionsT{});
      case 13:
        return options.Set(tfl::ResizeBilinearOptionsT{});
      case 14:
        return options.Set(tfl::SpaceToDepthOptionsT{});
      default:
        return options.Reset();
    }
  }

  void repeat(const tfl::OperatorT& op) {
    auto copy = std::make_unique<tfl::OperatorT>(op);
    for (int32_t& output : copy->outputs) {
      if (output < 0 || static_cast<size_t>(output) >= graph_->tensors.size()) continue;
      auto tensor = std::make_unique<tfl::TensorT>(*graph_->tensors[static_cast<size_t>(output)]);
      tensor->name += "_again";
      graph_->tensors.push_back(std::move(tensor));
      output = static_cast<int32_t>(graph_->tensors.size() - 1);
      graph_->outputs.push_back(output);
    }
    graph_->operators.push_back(std::move(copy));
  }

  void rewire(std::vector<int32_t>& tensors) {
    if (tensors.empty() || pick(4) == 0)
      tensors.push_back(any_tensor());
    else if (pick(4) == 0)
      tensors.pop_back();
    else
      any(tensors) = any_tensor();
  }

  void change_shape(tfl::TensorT& tensor) {
    std::vector<int32_t>& shape = pick(6) == 0 ? tensor.shape_signature : tensor.shape;
    if (shape.empty() || pick(6) == 0)
      shape.push_back(static_cast<int32_t>(number()));
    else if (pick(5) == 0)
      shape.pop_back();
    else
      any(shape) = static_cast<int32_t>(number());
  }

  void change_constant() {
    if (model_.buffers.empty()) return;
    tfl::BufferT* buffer = any(model_.buffers).get();
    if (!buffer || buffer->data.empty()) return;
    std::vector<uint8_t>& data = buffer->data;
    const auto value = static_cast<int32_t>(number());
    switch (pick(3)) {
      case 0:
        if (data.size() >= sizeof(value))
          std::memcpy(data.data() + pick(data.size() / sizeof(value)) * sizeof(value), &value, sizeof(value));
        break;
      case 1:
        any(data) = static_cast<uint8_t>(random_());
        break;
      default:
        data.resize(pick(2 * data.size()));
    }
  }

  void change_quantisation(tfl::TensorT& tensor) {
    if (!tensor.quantization || pick(4) == 0) tensor.quantization = std::make_unique<tfl::QuantizationT>();
    tfl::QuantizationT& quantization = *tensor.quantization;
    static constexpr float scales[] = {0, 1, -1, 0.5f, 1e-30f, std::numeric_limits<float>::infinity()};
    if (pick(2) == 0) quantization.scale.push_back(scales[pick(std::size(scales))]);
    if (pick(2) == 0) quantization.zero_point.push_back(number());
    if (pick(4) == 0) quantization.quantized_dimension = static_cast<int32_t>(number());
    if (pick(4) == 0 && !quantization.scale.empty()) quantization.scale.pop_back();
    if (pick(4) == 0 && !quantization.zero_point.empty()) quantization.zero_point.pop_back();
  }

  void change_tensor(tfl::TensorT& tensor) {
    if (pick(2) == 0)
      tensor.buffer =
          static_cast<uint32_t>(pick(8) == 0 ? number() : static_cast<int64_t>(pick(model_.buffers.size())));
    else if (pick(2) == 0)
      tensor.is_variable = !tensor.is_variable;
    else
      tensor.name = pick(2) == 0 ? "" : any(graph_->tensors)->name;
  }

  tfl::ModelT& model_;
  tfl::SubGraphT* graph_ = nullptr;
  std::mt19937 random_;
};

template <typename Union>
void drop_if_absent(Union& value) {
  if (!value.value) value.Reset();
}

// A valid file may name a type and have no value of it, which cannot be packed.
void drop_absent_unions(tfl::ModelT& model) {
  for (const auto& graph : model.subgraphs) {
    for (const auto& op : graph->operators) drop_if_absent(op->builtin_options);
    for (const auto& tensor : graph->tensors) {
      if (!tensor->sparsity) continue;
      for (const auto& dimension : tensor->sparsity->dimensions) {
        drop_if_absent(dimension->segments);
        drop_if_absent(dimension->indices);
      }
    }
  }
}

}  // namespace

std::string mutated_tflite(std::string_view model, uint32_t seed) {
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(model.data()), model.size());
  if (!tfl::VerifyModelBuffer(verifier)) return {};
  const std::unique_ptr<tfl::ModelT> unpacked = tfl::UnPackModel(model.data());
  drop_absent_unions(*unpacked);
  TfliteMutator mutator(*unpacked, seed);
  for (uint32_t i = 0; i < seed % 3; ++i) mutator.mutate();
  flatbuffers::FlatBufferBuilder builder;
  builder.ForceDefaults(true);  // so that options have their fields
  tfl::FinishModelBuffer(builder, tfl::CreateModel(builder, unpacked.get()));
  std::string bytes(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
  if (seed % 3 == 0 || seed % 5 == 0) mutator.change_options(bytes);
  return bytes;
}

}  // namespace vellum

#ifdef VELLUM_LIBFUZZER

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  const std::string_view model(reinterpret_cast<const char*>(data), size);
  const std::string bytes = seed % 20 == 0 ? std::string() : vellum::mutated_tflite(model, seed);
  if (bytes.empty() || bytes.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  bytes.copy(reinterpret_cast<char*>(data), bytes.size());
  return bytes.size();
}

#endif

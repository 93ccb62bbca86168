// Small TFLite models for tests, made in memory.
#pragma once

#include <vellum_tflite_generated.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "graph/tensor.hpp"

namespace vellum::test {

namespace tfl = ::vellum::tflite::schema;

class TfliteModel {
 public:
  TfliteModel() { buffers_.push_back(tfl::CreateBuffer(builder_)); }

  // Index of a tensor that is computed or given.
  int32_t tensor(const std::string& name, const std::vector<int32_t>& shape,
                 tfl::TensorType type = tfl::TensorType::float32) {
    return add(name, shape, type, 0, 0);
  }

  template <typename T>
  int32_t constant(const std::string& name, const std::vector<int32_t>& shape, const std::vector<T>& elements,
                   tfl::TensorType type, flatbuffers::Offset<tfl::Sparsity> sparsity = 0) {
    std::vector<uint8_t> bytes(elements.size() * sizeof(T));
    std::memcpy(bytes.data(), elements.data(), bytes.size());
    buffers_.push_back(tfl::CreateBufferDirect(builder_, &bytes));
    return add(name, shape, type, static_cast<uint32_t>(buffers_.size() - 1), sparsity);
  }
  int32_t floats(const std::string& name, const std::vector<int32_t>& shape,
                 const std::vector<float>& elements) {
    return constant(name, shape, elements, tfl::TensorType::float32);
  }
  int32_t ints(const std::string& name, const std::vector<int32_t>& elements) {
    return constant(name, {static_cast<int32_t>(elements.size())}, elements, tfl::TensorType::int32);
  }

  void op(int32_t number, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs,
          tfl::BuiltinOptions type = tfl::BuiltinOptions::NONE, flatbuffers::Offset<void> options = 0,
          const char* custom = nullptr, const std::vector<uint8_t>& custom_options = {},
          int32_t version = 1) {
    codes_.push_back(tfl::CreateOperatorCodeDirect(builder_, static_cast<int8_t>(number < 127 ? number : 127),
                                                   custom, version, number));
    operators_.push_back(tfl::CreateOperatorDirect(builder_, static_cast<uint32_t>(codes_.size() - 1),
                                                   &inputs, &outputs, type, options, &custom_options));
  }

  // How the next tensor is quantised.
  void quantise_next(const std::vector<float>& scale, const std::vector<int64_t>& zero, int32_t axis = 0) {
    quantization_ = tfl::CreateQuantizationDirect(builder_, &scale, &zero, 0, axis);
  }

  // For the options of operators.
  flatbuffers::FlatBufferBuilder& builder() { return builder_; }

  // A signature of the graph with this index; 0 is the one of the tensors and operators above.
  void signature(const char* key, uint32_t graph) {
    signatures_.push_back(tfl::CreateSignatureDefDirect(builder_, key, graph));
    more_graphs_ = std::max<size_t>(more_graphs_, graph);
  }
  void add_graph() { ++more_graphs_; }

  std::string finish(const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs) {
    const auto graph = tfl::CreateSubGraphDirect(builder_, &tensors_, &inputs, &outputs, &operators_, "main");
    // The other graphs are copies of the first: what they compute is never read.
    const std::vector<flatbuffers::Offset<tfl::SubGraph>> graphs(1 + more_graphs_, graph);
    tfl::FinishModelBuffer(
        builder_, tfl::CreateModelDirect(builder_, 3, &codes_, &graphs, "", &buffers_, &signatures_));
    return {reinterpret_cast<const char*>(builder_.GetBufferPointer()), builder_.GetSize()};
  }

 private:
  int32_t add(const std::string& name, const std::vector<int32_t>& shape, tfl::TensorType type,
              uint32_t buffer, flatbuffers::Offset<tfl::Sparsity> sparsity) {
    tensors_.push_back(tfl::CreateTensorDirect(builder_, &shape, type, buffer, name.c_str(), quantization_,
                                               false, sparsity));
    quantization_ = 0;
    return static_cast<int32_t>(tensors_.size() - 1);
  }

  flatbuffers::FlatBufferBuilder builder_;
  flatbuffers::Offset<tfl::Quantization> quantization_ = 0;
  std::vector<flatbuffers::Offset<tfl::Buffer>> buffers_;
  std::vector<flatbuffers::Offset<tfl::Tensor>> tensors_;
  std::vector<flatbuffers::Offset<tfl::OperatorCode>> codes_;
  std::vector<flatbuffers::Offset<tfl::Operator>> operators_;
  std::vector<flatbuffers::Offset<tfl::SignatureDef>> signatures_;
  size_t more_graphs_ = 0;
};

}  // namespace vellum::test

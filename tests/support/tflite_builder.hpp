// Small TFLite models for tests, made in memory.
#pragma once

#include <vellum_tflite_generated.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "graph/tensor.hpp"

namespace vellum::test {

namespace tfl = ::vellum::tflite::schema;

class TfliteModel {
 public:
  TfliteModel() { buffers_.push_back(tfl::CreateBuffer(builder_)); }

  // Index of a tensor that is computed or given. Dimensions of -1 are open.
  int32_t tensor(const std::string& name, const std::vector<int32_t>& shape,
                 tfl::TensorType type = tfl::TensorType::float32) {
    return add(name, shape, type, 0, 0);
  }

  // A tensor that an operator keeps from one run to the next.
  int32_t variable_tensor(const std::string& name, const std::vector<int32_t>& shape,
                          tfl::TensorType type = tfl::TensorType::float32) {
    tensors_.push_back(tfl::CreateTensorDirect(builder_, &shape, type, 0, name.c_str(), quantization_, true));
    quantization_ = 0;
    return static_cast<int32_t>(tensors_.size() - 1);
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
    operators_.push_back(tfl::CreateOperatorDirect(
        builder_, static_cast<uint32_t>(codes_.size() - 1), &inputs, &outputs, type, options, &custom_options,
        0, nullptr, intermediates_.empty() ? nullptr : &intermediates_));
    intermediates_.clear();
  }
  // An operator of another dialect, which the graph with this index computes.
  void composite(const char* name, int32_t graph, const std::vector<int32_t>& inputs,
                 const std::vector<int32_t>& outputs) {
    codes_.push_back(tfl::CreateOperatorCodeDirect(builder_, 127, nullptr, 1, 206));
    const auto options = tfl::CreateStableHLOCompositeOptionsDirect(builder_, name, graph).Union();
    operators_.push_back(tfl::CreateOperatorDirect(
        builder_, static_cast<uint32_t>(codes_.size() - 1), &inputs, &outputs, tfl::BuiltinOptions::NONE, 0,
        nullptr, 0, nullptr, nullptr, tfl::BuiltinOptions2::StableHLOCompositeOptions, options));
  }
  // Sets the tensors of results between the parts of the next operator.
  void intermediates_next(std::vector<int32_t> tensors) { intermediates_ = std::move(tensors); }

  // Repeat the last tensor, or operator, as further entries that refer to the same object in the file.
  void repeat_tensor(size_t times) { tensors_.insert(tensors_.end(), times, tensors_.back()); }
  void repeat_operator(size_t times) { operators_.insert(operators_.end(), times, operators_.back()); }

  // Sets the quantisation of the next tensor.
  void quantise_next(const std::vector<float>& scale, const std::vector<int64_t>& zero, int32_t axis = 0) {
    quantization_ =
        tfl::CreateQuantizationDirect(builder_, &scale, &zero, tfl::QuantizationDetails::NONE, 0, axis);
  }

  // Quantises the next tensor in blocks of its last dimension. `scales`: the tensor with a scale for each
  // block.
  void quantise_next_in_blocks(int32_t scales, int32_t block) {
    const auto blocks = tfl::CreateBlockwiseQuantization(builder_, scales, -1, block).Union();
    quantization_ =
        tfl::CreateQuantization(builder_, 0, 0, tfl::QuantizationDetails::BlockwiseQuantization, blocks);
  }

  // For the options of operators.
  flatbuffers::FlatBufferBuilder& builder() { return builder_; }

  using Names = std::vector<std::pair<std::string, int32_t>>;  // and the tensors that they name

  // A signature of the graph with this index, in the order of end_graph() and finish().
  void signature(const char* key, uint32_t graph, const Names& inputs = {}, const Names& outputs = {}) {
    const std::vector<flatbuffers::Offset<tfl::TensorMap>> in = maps(inputs), out = maps(outputs);
    signatures_.push_back(tfl::CreateSignatureDefDirect(builder_, &in, &out, key, graph));
  }
  // Ends a graph; tensors and operators that follow are of the next one, and counted from 0.
  void end_graph(const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs) {
    graphs_.push_back(tfl::CreateSubGraphDirect(builder_, &tensors_, &inputs, &outputs, &operators_, "main"));
    tensors_.clear();
    operators_.clear();
  }

  // Ends the last graph.
  std::string finish(const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs) {
    end_graph(inputs, outputs);
    tfl::FinishModelBuffer(
        builder_, tfl::CreateModelDirect(builder_, 3, &codes_, &graphs_, "", &buffers_, &signatures_));
    return {reinterpret_cast<const char*>(builder_.GetBufferPointer()), builder_.GetSize()};
  }

 private:
  std::vector<flatbuffers::Offset<tfl::TensorMap>> maps(const Names& names) {
    std::vector<flatbuffers::Offset<tfl::TensorMap>> result;
    for (const auto& [name, tensor] : names)
      result.push_back(tfl::CreateTensorMapDirect(builder_, name.c_str(), static_cast<uint32_t>(tensor)));
    return result;
  }

  int32_t add(const std::string& name, const std::vector<int32_t>& shape, tfl::TensorType type,
              uint32_t buffer, flatbuffers::Offset<tfl::Sparsity> sparsity) {
    std::vector<int32_t> smallest = shape;
    std::replace(smallest.begin(), smallest.end(), -1, 1);
    tensors_.push_back(tfl::CreateTensorDirect(builder_, &smallest, type, buffer, name.c_str(), quantization_,
                                               false, sparsity, smallest == shape ? nullptr : &shape));
    quantization_ = 0;
    return static_cast<int32_t>(tensors_.size() - 1);
  }

  flatbuffers::FlatBufferBuilder builder_;
  flatbuffers::Offset<tfl::Quantization> quantization_ = 0;
  std::vector<int32_t> intermediates_;
  std::vector<flatbuffers::Offset<tfl::Buffer>> buffers_;
  std::vector<flatbuffers::Offset<tfl::Tensor>> tensors_;
  std::vector<flatbuffers::Offset<tfl::OperatorCode>> codes_;
  std::vector<flatbuffers::Offset<tfl::Operator>> operators_;
  std::vector<flatbuffers::Offset<tfl::SignatureDef>> signatures_;
  std::vector<flatbuffers::Offset<tfl::SubGraph>> graphs_;
};

// Operators on variables. A variable is identified by a handle, which is a tensor.
inline int32_t variable(TfliteModel& m, const char* name) {
  const int32_t handle = m.tensor(std::string(name) + "_handle", {}, tfl::TensorType::resource);
  m.op(142, {}, {handle}, tfl::BuiltinOptions::VarHandleOptions,
       tfl::CreateVarHandleOptionsDirect(m.builder(), "", name).Union());
  return handle;
}
inline void read_variable(TfliteModel& m, int32_t handle, int32_t value) { m.op(143, {handle}, {value}); }
inline void assign_variable(TfliteModel& m, int32_t handle, int32_t value) { m.op(144, {handle, value}, {}); }
inline void call_once(TfliteModel& m, int32_t graph) {
  m.op(129, {}, {}, tfl::BuiltinOptions::CallOnceOptions,
       tfl::CreateCallOnceOptions(m.builder(), graph).Union());
}
inline void add(TfliteModel& m, int32_t a, int32_t b, int32_t sum) {
  m.op(0, {a, b}, {sum}, tfl::BuiltinOptions::AddOptions, tfl::CreateAddOptions(m.builder()).Union());
}

// y = x + the sum of all x before it, which begins with (10, 20).
inline std::string running_sum_model() {
  TfliteModel m;
  const auto x = m.tensor("x", {2}), before = m.tensor("before", {2}), y = m.tensor("y", {2});
  call_once(m, 1);
  const int32_t sum = variable(m, "sum");
  read_variable(m, sum, before);
  add(m, x, before, y);
  assign_variable(m, sum, y);
  m.end_graph({x}, {y});
  assign_variable(m, variable(m, "sum"), m.floats("ten", {2}, {10, 20}));
  return m.finish({}, {});
}

// tests/data/tflite/stream.tflite, for tests in other languages: "accumulate" computes as running_sum_model()
// does, "reset" sets the sum to 0. Each statement adds one object, because compilers evaluate the arguments
// of a call in different orders, and all compilers must make the same bytes.
inline std::string stream_model() {
  TfliteModel m;
  const auto x = m.tensor("serving_x:0", {2}), before = m.tensor("before", {2}),
             y = m.tensor("PartitionedCall:0", {2});
  call_once(m, 2);
  const int32_t sum = variable(m, "sum");
  read_variable(m, sum, before);
  add(m, x, before, y);
  assign_variable(m, sum, y);
  m.end_graph({x}, {y});
  const int32_t zero = m.floats("zero", {2}, {0, 0});
  assign_variable(m, variable(m, "sum"), zero);
  m.end_graph({}, {});
  const int32_t ten = m.floats("ten", {2}, {10, 20});
  assign_variable(m, variable(m, "sum"), ten);
  m.signature("accumulate", 0, {{"in", x}}, {{"out", y}});
  m.signature("reset", 1);
  return m.finish({}, {});
}

// "double" computes 2 x from "in" to "out", "negate" -x.
inline std::string model_of_two_signatures() {
  TfliteModel m;
  constexpr int32_t kAdd = 0, kNeg = 59;
  for (const int32_t op : {kAdd, kNeg}) {
    const auto x = m.tensor("serving_x:0", {2}), y = m.tensor("PartitionedCall:0", {2});
    if (op == kAdd)
      m.op(op, {x, x}, {y}, tfl::BuiltinOptions::AddOptions, tfl::CreateAddOptions(m.builder()).Union());
    else
      m.op(op, {x}, {y});
    if (op == kAdd) m.end_graph({x}, {y});
  }
  m.signature("double", 0, {{"in", 0}}, {{"out", 1}});
  m.signature("negate", 1, {{"in", 0}}, {{"out", 1}});
  return m.finish({0}, {1});
}

}  // namespace vellum::test

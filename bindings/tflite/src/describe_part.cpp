#include "describe_part.hpp"

#include <tensorflow/lite/builtin_ops.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "describe_options.hpp"
#include "describe_tensor.hpp"
#include "import/names.hpp"
#include "import/tflite/call.hpp"
#include "import/tflite/subgraph.hpp"

namespace vellum::lite {
namespace {

namespace schema = tflite::schema;

bool is_custom(const TfLiteRegistration& registration) {
  return registration.builtin_code == kTfLiteBuiltinCustom;
}

std::string custom_name(const TfLiteRegistration& registration) {
  return registration.custom_name == nullptr ? std::string() : registration.custom_name;
}

std::vector<int> tensors_of(const TfLiteNode& node) {
  std::vector<int> result;
  for (const TfLiteIntArray* list : {node.inputs, node.outputs})
    for (const int tensor : ints(list))
      if (tensor >= 0) result.push_back(tensor);
  return result;
}

// Builds the description, with the part's tensors in ascending order.
class PartDescriber {
 public:
  PartDescriber(TfLiteContext* context, const Part& part, Shapes shapes)
      : context_(context), part_(part), shapes_(shapes) {}

  Description describe() {
    for (const int index : part_.nodes)
      for (const int tensor : tensors_of(*node_of(context_, index).node)) numbers_[tensor] = 0;
    for (auto& [tensor, number] : numbers_) number = add_tensor(tensor);
    for (const int index : part_.nodes) add_operator(index);
    const auto inputs = numbers(part_.inputs), outputs = numbers(part_.outputs);
    const auto subgraph =
        schema::CreateSubGraph(builder_, builder_.CreateVector(tensors_), builder_.CreateVector(inputs),
                               builder_.CreateVector(outputs), builder_.CreateVector(operators_));
    const auto codes = builder_.CreateVector(codes_);
    const auto subgraphs = builder_.CreateVector(std::vector{subgraph});
    builder_.Finish(schema::CreateModel(builder_, 3, codes, subgraphs));
    return {builder_.Release(), std::move(weights_), std::move(named_), part_.inputs.size()};
  }

 private:
  std::vector<int32_t> numbers(std::span<const int> tensors) const {
    std::vector<int32_t> result;
    for (const int tensor : tensors)
      result.push_back(tensor < 0 ? tflite::kLeftOut : static_cast<int32_t>(numbers_.at(tensor)));
    return result;
  }

  uint32_t add_tensor(int index) {
    const TfLiteTensor& tensor = tensor_of(context_, index);
    uint32_t buffer = 0;
    if (is_constant(tensor)) {
      buffer = static_cast<uint32_t>(weights_.size());
      weights_.push_back(std::as_bytes(std::span(tensor.data.raw_const, tensor.bytes)));
    }
    std::string name = tensor.name == nullptr ? "" : tensor.name;
    if (name.empty() || named_.contains(name)) name += "#" + std::to_string(index);
    named_[name] = index;
    const bool is_open = shapes_ == Shapes::open && buffer == 0 && !tensor.is_variable;
    tensors_.push_back(describe_tensor(builder_, tensor, {name, buffer, is_open}));
    return static_cast<uint32_t>(tensors_.size() - 1);
  }

  void add_operator(int index) {
    const auto [node, registration] = node_of(context_, index);
    const int32_t code = registration->builtin_code;
    flatbuffers::Offset<flatbuffers::String> custom;
    flatbuffers::Offset<flatbuffers::Vector<uint8_t>> custom_options;
    OptionsTable options{schema::BuiltinOptions::NONE, 0};
    int version = registration->version;
    if (is_custom(*registration)) {
      version = tflite::kUnknownVersion;
      custom = builder_.CreateString(custom_name(*registration));
      custom_options =
          builder_.CreateVector(static_cast<const uint8_t*>(node->custom_initial_data),
                                static_cast<size_t>(std::max(0, node->custom_initial_data_size)));
    } else {
      options = describe_options(builder_, code, node->builtin_data);
    }
    constexpr int32_t kLongCode = 127;
    codes_.push_back(schema::CreateOperatorCode(builder_, static_cast<int8_t>(std::min(code, kLongCode)),
                                                custom, version, code));
    const auto inputs = numbers(ints(node->inputs)), outputs = numbers(ints(node->outputs));
    operators_.push_back(schema::CreateOperator(builder_, static_cast<uint32_t>(codes_.size() - 1),
                                                builder_.CreateVector(inputs), builder_.CreateVector(outputs),
                                                options.first, options.second, custom_options));
  }

  TfLiteContext* const context_;
  const Part& part_;
  const Shapes shapes_;
  flatbuffers::FlatBufferBuilder builder_;
  std::map<int, uint32_t> numbers_;     // of the interpreter's tensors in the description
  std::map<std::string, int> named_;    // tensors by their names in the description
  tflite::OutsideBuffers weights_{{}};  // buffer 0 is that of tensors without values
  std::vector<flatbuffers::Offset<schema::Tensor>> tensors_;
  std::vector<flatbuffers::Offset<schema::Operator>> operators_;
  std::vector<flatbuffers::Offset<schema::OperatorCode>> codes_;
};

}  // namespace

NodeView node_of(TfLiteContext* context, int index) {
  TfLiteNode* node = nullptr;
  TfLiteRegistration* registration = nullptr;
  check(context->GetNodeAndRegistration(context, index, &node, &registration), "GetNodeAndRegistration");
  return {node, registration};
}

const TfLiteTensor& tensor_of(const TfLiteContext* context, int tensor) {
  if (tensor < 0 || static_cast<size_t>(tensor) >= context->tensors_size)
    throw Error(ErrorCode::corrupt_model, "there is no tensor " + std::to_string(tensor));
  return context->tensors[tensor];
}

bool is_constant(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLiteMmapRo && tensor.data.raw_const != nullptr && tensor.bytes > 0;
}

std::string describe(TfLiteContext* context, int index) {
  const auto [node, registration] = node_of(context, index);
  std::string type;
  if (is_custom(*registration))
    type = custom_name(*registration);
  else
    tflite::find_builtin(registration->builtin_code, type);
  type += " #" + std::to_string(index);
  const std::span<const int> outputs = ints(node->outputs);
  const char* name = outputs.empty() ? nullptr : tensor_of(context, outputs[0]).name;
  return name == nullptr ? type : type + " " + quoted_name(name);
}

constexpr int kStablehloComposite = 206;  // newer than the headers

std::string refusal(TfLiteContext* context, int index) {
  const auto [node, registration] = node_of(context, index);
  std::string type;
  if (is_custom(*registration)) {
    if (tflite::find_custom(custom_name(*registration)) == nullptr)
      return "Vellum does not have this custom operator";
  } else {
    switch (registration->builtin_code) {
      case kTfLiteBuiltinIf:
      case kTfLiteBuiltinWhile:
      case kTfLiteBuiltinCallOnce:
      case kStablehloComposite:
        return "it runs graphs of its own";
      case kTfLiteBuiltinVarHandle:
      case kTfLiteBuiltinReadVariable:
      case kTfLiteBuiltinAssignVariable:
        return "the interpreter keeps the variable";
      case kTfLiteBuiltinDelegate:
        return "another delegate has it";
      default:
        break;
    }
    if (tflite::find_builtin(registration->builtin_code, type) == nullptr)
      return "Vellum does not have this operator";
  }
  for (const int tensor : tensors_of(*node))
    if (const std::string why = tensor_refusal(tensor_of(context, tensor)); !why.empty()) return why;
  return {};
}

Part part_of(TfLiteContext* context, std::vector<int> nodes) {
  Part part;
  std::set<int> computed, read;
  for (const int index : nodes) {
    const TfLiteNode& node = *node_of(context, index).node;
    for (const int tensor : ints(node.inputs)) {
      if (tensor < 0 || computed.contains(tensor) || !read.insert(tensor).second) continue;
      const TfLiteTensor& input = tensor_of(context, tensor);
      if (!is_constant(input) && !input.is_variable) part.inputs.push_back(tensor);
    }
    for (const int tensor : ints(node.outputs))
      if (tensor >= 0 && computed.insert(tensor).second) part.outputs.push_back(tensor);
  }
  part.nodes = std::move(nodes);
  return part;
}

Description describe_part(TfLiteContext* context, const Part& part, Shapes shapes) {
  return PartDescriber(context, part, shapes).describe();
}

ImportedPart import_part(const Description& description) {
  const auto* model = flatbuffers::GetRoot<schema::Model>(description.bytes.data());
  tflite::File file(*model, std::as_bytes(std::span(description.bytes.data(), description.bytes.size())),
                    description.weights);
  ImportedPart result{tflite::read_subgraph(file, 0), {}};
  for (size_t i = description.inputs; i < result.graph.inputs.size(); ++i)
    result.states.push_back(description.tensors.at(result.graph.values[result.graph.inputs[i]].name));
  return result;
}

}  // namespace vellum::lite

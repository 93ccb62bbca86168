#include "quantize/write_onnx.hpp"

#include <algorithm>
#include <utility>

#include "graph/onnx_types.hpp"
#include "graph/operators/conv/conv.hpp"
#include "graph/operators/conv/conv_transpose.hpp"
#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/elementwise/cast.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/depth_to_space.hpp"
#include "graph/operators/movement/pad.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/resize.hpp"
#include "graph/operators/movement/slice.hpp"
#include "graph/operators/reduction/pool.hpp"
#include "graph/operators/reduction/reduce.hpp"
#include "quantize/onnx_parts.hpp"
#include "vellum/error.hpp"

namespace vellum::quantization {
namespace {

constexpr int64_t kOldestOpset = 17, kGeluOpset = 20, kInt4Opset = 21;

// Operators whose attributes and inputs in the graph are those of ONNX.
constexpr std::string_view kAlike =
    " Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh AveragePool BatchNormalization"
    " BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Ceil Clip Concat Cos Cosh CumSum"
    " DequantizeLinear Div Equal Erf Exp Expand Flatten Floor Gather GatherElements GatherND"
    " GlobalAveragePool GlobalMaxPool Greater GreaterOrEqual HardSwish Identity"
    " InstanceNormalization LRN LayerNormalization Less LessOrEqual Log LogSoftmax Max MaxPool"
    " Mean Min Mish Mod Mul Neg Not OneHot Or PRelu Pow QuantizeLinear Reciprocal Relu Round"
    " Shrink Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt Sub Sum Tan Tanh Tile Transpose"
    " Where Xor ";

class GraphWriter {
 public:
  GraphWriter(const Graph& graph, const std::set<ValueId>& four_bits)
      : graph_(graph), four_bits_(four_bits), written_(*model_.mutable_graph()) {
    for (const Node& node : graph.nodes)
      if (node.op->type() == "Gelu") opset_ = kGeluOpset;
    if (!four_bits.empty()) opset_ = kInt4Opset;
  }

  std::string bytes() {
    written_.set_name(graph_.name.empty() ? "graph" : graph_.name);
    for (const ValueId id : graph_.inputs)
      if (!graph_.constant(id)) describe_value(*written_.add_input(), id);
    for (const ValueId id : graph_.outputs) describe_value(*written_.add_output(), id);
    for (const Node& node : graph_.nodes) {
      try {
        write(node);
      } catch (const Error& error) {
        throw Error(error.code(), describe(node) + ": " + error.what());
      }
    }
    write_constants();
    constexpr int64_t kIr = 8, kIrOfGelu = 9, kIrOfInt4 = 10;
    model_.set_ir_version(opset_ >= kInt4Opset ? kIrOfInt4 : opset_ >= kGeluOpset ? kIrOfGelu : kIr);
    model_.set_producer_name("vellum");
    schema::OperatorSetIdProto& set = *model_.add_opset_import();
    set.set_domain("");
    set.set_version(opset_);
    std::string result;
    if (model_.ByteSizeLong() > onnx::kLargestModelFile || !model_.SerializeToString(&result))
      throw Error(ErrorCode::unsupported, "an ONNX file of 2 GiB or more");
    return result;
  }

 private:
  // Only those that nodes still read: some become attributes, or other constants.
  void write_constants() {
    std::set<std::string_view> read;
    for (const schema::NodeProto& node : written_.node())
      read.insert(node.input().begin(), node.input().end());
    for (const schema::ValueInfoProto& output : written_.output()) read.insert(output.name());
    for (ValueId id = 0; id < graph_.values.size(); ++id) {
      const HostTensor* value = graph_.constant(id);
      if (value == nullptr || !read.contains(graph_.values[id].name)) continue;
      schema::TensorProto& tensor = *written_.add_initializer();
      set_tensor(tensor, graph_.values[id].name, *value);
      if (four_bits_.contains(id)) pack_four_bits(tensor);
    }
  }

  void describe_value(schema::ValueInfoProto& info, ValueId id) const {
    const Value& value = graph_.values[id];
    info.set_name(value.name);
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(static_cast<int32_t>(dtype_to_onnx(value.type.dtype)));
    tensor.mutable_shape();
    for (const int64_t dim : value.type.shape) tensor.mutable_shape()->add_dim()->set_dim_value(dim);
  }

  std::string name_of(ValueId id) const { return id == kNoValue ? "" : graph_.values[id].name; }

  // Adds a node of that type with the first `inputs` inputs of `node` and its outputs.
  schema::NodeProto& add(const Node& node, std::string_view type, size_t inputs = SIZE_MAX) {
    schema::NodeProto& result = *written_.add_node();
    result.set_op_type(std::string(type));
    result.set_name(node.name);
    size_t count = std::min(inputs, node.inputs.size());
    while (count > 0 && node.inputs[count - 1] == kNoValue) --count;
    for (size_t i = 0; i < count; ++i) result.add_input(name_of(node.inputs[i]));
    for (const ValueId id : node.outputs) result.add_output(name_of(id));
    return result;
  }

  // A constant that is an input of the next node.
  std::string constant(const HostTensor& value) {
    std::string name = "quantize_constant_" + std::to_string(constants_++);
    set_tensor(*written_.add_initializer(), name, value);
    return name;
  }
  std::string ints(const Attributes::Ints& values) {
    return constant(HostTensor::i64({static_cast<int64_t>(values.size())}, values));
  }
  std::string number(float value) { return constant(HostTensor::f32({}, std::array{value})); }

  static void require_plain(const Activation& activation) {
    if (activation) refuse_unsupported("with an activation that ONNX does not have");
  }

  void write(const Node& node) {
    const Operator& op = *node.op;
    if (const auto* conv = dynamic_cast<const Conv*>(&op)) return write_conv(node, conv->activation);
    if (const auto* conv = dynamic_cast<const ConvTranspose*>(&op)) return write_conv(node, conv->activation);
    if (const auto* unary = dynamic_cast<const Unary*>(&op)) return write_unary(node, *unary);
    if (const auto* reshape = dynamic_cast<const Reshape*>(&op)) return write_reshape(node, *reshape);
    if (const auto* squeeze = dynamic_cast<const Squeeze*>(&op)) return write_axes(node, squeeze->axes);
    if (const auto* unsqueeze = dynamic_cast<const Unsqueeze*>(&op)) return write_axes(node, unsqueeze->axes);
    if (const auto* slice = dynamic_cast<const Slice*>(&op)) return write_slice(node, *slice);
    if (const auto* pad = dynamic_cast<const Pad*>(&op)) return write_pad(node, *pad);
    if (const auto* resize = dynamic_cast<const Resize*>(&op)) return write_resize(node, *resize);
    if (const auto* reduce = dynamic_cast<const Reduce*>(&op)) return write_reduce(node, *reduce);
    if (const auto* split = dynamic_cast<const Split*>(&op)) return write_split(node, *split);
    if (const auto* to = dynamic_cast<const Cast*>(&op)) return write_cast(node, *to);
    if (const auto* gemm = dynamic_cast<const Gemm*>(&op)) {
      require_plain(gemm->activation);
      return set_attributes(add(node, "Gemm", 3), op.attributes());
    }
    write_alike(node);
  }

  void write_alike(const Node& node) {
    const Operator& op = *node.op;
    if (const auto* matmul = dynamic_cast<const MatMul*>(&op)) {
      if (matmul->transpose_a || matmul->transpose_b) refuse_unsupported("with transposed operands");
      if (matmul->alpha != 1.0f) refuse_unsupported("with a factor");
      add(node, "MatMul");
      return;
    }
    if (const auto* blocks = dynamic_cast<const DepthToSpace*>(&op))
      return set_attributes(add(node, "DepthToSpace"), blocks->attributes());
    if (const auto* binary = dynamic_cast<const Binary*>(&op)) require_plain(binary->activation);
    if (const auto* pool = dynamic_cast<const Pool*>(&op)) {
      require_plain(pool->activation);
      if (pool->window_indices) refuse_unsupported("that ONNX does not have");
    }
    if (kAlike.find(" " + std::string(op.type()) + " ") == std::string_view::npos)
      refuse_unsupported("an operator that is not written to ONNX files");
    set_attributes(add(node, op.type()), op.attributes());
  }

  void write_conv(const Node& node, const Activation& activation) {
    require_plain(activation);
    if (node.inputs.size() > 3) refuse_unsupported("with inputs that ONNX does not have");
    set_attributes(add(node, node.op->type()), node.op->attributes());
  }

  void write_unary(const Node& node, const Unary& op) {
    if (op.kind != UnaryKind::activation) return write_alike(node);
    const Activation& a = op.activation;
    if (a.is_scaled() || a.is_rounded() || a.bounds_sum() || a.kind == ActivationKind::none)
      refuse_unsupported("an activation that ONNX does not have");
    switch (a.kind) {
      case ActivationKind::clip:
        return write_clip(node, a);
      case ActivationKind::silu:
        return write_silu(node);
      case ActivationKind::gelu:
      case ActivationKind::gelu_tanh:
        return set_attribute(add(node, "Gelu"), "approximate",
                             std::string(a.kind == ActivationKind::gelu ? "none" : "tanh"));
      default:
        break;
    }
    schema::NodeProto& result = add(node, op.type());
    const bool has_alpha = a.kind == ActivationKind::leaky_relu || a.kind == ActivationKind::elu ||
                           a.kind == ActivationKind::celu || a.kind == ActivationKind::selu ||
                           a.kind == ActivationKind::hard_sigmoid ||
                           a.kind == ActivationKind::thresholded_relu;
    if (has_alpha) set_attribute(result, "alpha", a.alpha);
    if (a.kind == ActivationKind::hard_sigmoid) set_attribute(result, "beta", a.beta);
    if (a.kind == ActivationKind::selu) set_attribute(result, "gamma", a.gamma);
  }

  void write_clip(const Node& node, const Activation& a) {
    schema::NodeProto& result = add(node, "Clip");
    result.add_input(number(a.alpha));
    result.add_input(number(a.beta));
  }

  void write_silu(const Node& node) {
    const std::string gate = name_of(node.outputs[0]) + "/gate";
    schema::NodeProto& sigmoid = add(node, "Sigmoid");
    sigmoid.set_output(0, gate);
    add(node, "Mul").add_input(gate);
  }

  void write_reshape(const Node& node, const Reshape& op) {
    schema::NodeProto& result = add(node, "Reshape", op.shape ? 1 : 2);
    if (op.shape) result.add_input(ints(*op.shape));
    if (op.allow_zero) set_attribute(result, "allowzero", int64_t{1});
  }

  void write_axes(const Node& node, const std::optional<Attributes::Ints>& axes) {
    schema::NodeProto& result = add(node, node.op->type(), axes ? 1 : 2);
    if (axes) result.add_input(ints(*axes));
  }

  void write_slice(const Node& node, const Slice& op) {
    schema::NodeProto& result = add(node, "Slice", op.starts ? 1 : SIZE_MAX);
    if (!op.starts) return;
    result.add_input(ints(*op.starts));
    result.add_input(ints(op.ends.value()));
    if (op.axes) result.add_input(ints(*op.axes));
  }

  void write_pad(const Node& node, const Pad& op) {
    schema::NodeProto& result = add(node, "Pad", op.pads ? 1 : SIZE_MAX);
    if (op.pads) result.add_input(ints(*op.pads));
    const bool needs_value = op.value != 0.0f && result.input_size() < 3 && op.mode == PadMode::constant;
    if (needs_value) result.add_input(number(op.value));
    constexpr const char* kModes[] = {"constant", "reflect", "edge", "wrap"};
    set_attribute(result, "mode", std::string(kModes[static_cast<size_t>(op.mode)]));
  }

  // In operator set 17 scales and sizes are of all dimensions.
  void write_resize(const Node& node, const Resize& op) {
    if (op.strip || op.nearest == NearestMode::simple || op.antialias || op.policy != AspectPolicy::stretch ||
        op.coordinates == CoordinateMode::half_pixel_symmetric)
      refuse_unsupported("a form of resizing that operator set 17 does not have");
    const auto has = [&](size_t index) {
      return index != Resize::kNone && index < node.inputs.size() && node.inputs[index] != kNoValue;
    };
    const bool crops = op.coordinates == CoordinateMode::tf_crop_and_resize;
    if (crops && op.axes) refuse_unsupported("a region of some dimensions");
    schema::NodeProto& result = add(node, "Resize", 1);
    result.add_input(crops && has(op.roi_input) ? name_of(node.inputs[op.roi_input]) : "");
    if (op.scales || has(op.scales_input)) {
      const std::vector<float> scales = op.geometry(operator_inputs(graph_, node)).scales;
      result.add_input(constant(HostTensor::f32({static_cast<int64_t>(scales.size())}, scales)));
    } else {
      result.add_input("");
      result.add_input(ints(graph_.values[node.outputs[0]].type.shape));
    }
    const Attributes all = op.attributes();
    Attributes attributes;
    for (const auto& [name, value] : all.values())
      if (name != "scales" && name != "axes") attributes.set(name, value);
    set_attributes(result, attributes);
  }

  // Before operator set 18 the axes of all but ReduceSum are an attribute.
  void write_reduce(const Node& node, const Reduce& op) {
    std::optional<Attributes::Ints> axes = op.axes;
    if (!axes && node.inputs.size() > 1 && node.inputs[1] != kNoValue) {
      const HostTensor* value = graph_.constant(node.inputs[1]);
      if (value == nullptr) refuse_unsupported("axes that are computed at run time");
      axes = value->to_ints();
    }
    if (axes && axes->empty()) refuse_unsupported("a reduction over no axes");
    schema::NodeProto& result = add(node, op.type(), 1);
    if (axes && (op.kind == ReduceKind::sum || opset_ >= 18))
      result.add_input(ints(*axes));
    else if (axes)
      set_attribute(result, "axes", *axes);
    set_attribute(result, "keepdims", int64_t{op.keep_dims});
  }

  void write_split(const Node& node, const Split& op) {
    schema::NodeProto& result = add(node, "Split", 1);
    Attributes::Ints parts;
    const auto axis = normalize_axis(op.axis, graph_.values[node.inputs[0]].type.shape.size());
    for (const ValueId id : node.outputs) {
      if (id == kNoValue) refuse_unsupported("with an output that is left out");
      parts.push_back(graph_.values[id].type.shape[axis]);
    }
    result.add_input(ints(parts));
    set_attribute(result, "axis", static_cast<int64_t>(axis));
  }

  void write_cast(const Node& node, const Cast& op) {
    if (op.narrow) refuse_unsupported("to a type of less than 8 bits");
    const DType to = graph_.values[node.outputs[0]].type.dtype;
    set_attribute(add(node, "Cast", 1), "to", dtype_to_onnx(to));
  }

  const Graph& graph_;
  const std::set<ValueId>& four_bits_;
  schema::ModelProto model_;
  schema::GraphProto& written_;
  int64_t opset_ = kOldestOpset;
  size_t constants_ = 0;
};

}  // namespace

std::string write_onnx(const Graph& graph, const std::set<ValueId>& four_bits) {
  GraphWriter writer(graph, four_bits);
  return writer.bytes();
}

}  // namespace vellum::quantization

#include "describe_options.hpp"

#include <tensorflow/lite/builtin_ops.h>

#include <vector>

#include "builtin_parameters.hpp"

namespace vellum::lite {
namespace {

namespace schema = tflite::schema;
using Builder = flatbuffers::FlatBufferBuilder;

schema::FusedActivation activation(int32_t value) { return static_cast<schema::FusedActivation>(value); }

schema::Padding padding(PaddingKind kind) {
  if (kind != PaddingKind::same && kind != PaddingKind::valid)
    throw Error(ErrorCode::unsupported, "an unknown padding");
  return kind == PaddingKind::same ? schema::Padding::same : schema::Padding::valid;
}

schema::MirrorPadMode mirror(MirrorKind kind) {
  if (kind != MirrorKind::reflect && kind != MirrorKind::symmetric)
    throw Error(ErrorCode::unsupported, "an unknown mode of MIRROR_PAD");
  return kind == MirrorKind::reflect ? schema::MirrorPadMode::reflect : schema::MirrorPadMode::symmetric;
}

flatbuffers::Offset<flatbuffers::Vector<int32_t>> list(Builder& builder, const ListParameters& from) {
  if (from.count < 0 || from.count > 8) throw Error(ErrorCode::unsupported, "more than 8 dimensions");
  return builder.CreateVector(from.values, static_cast<size_t>(from.count));
}

// One function for each table, from the struct of the same operators.
auto describe(Builder& b, const ConvParameters& p) {
  return schema::CreateConv2DOptions(b, padding(p.padding), p.stride_w, p.stride_h, activation(p.activation),
                                     p.dilation_w, p.dilation_h);
}
auto describe(Builder& b, const DepthwiseConvParameters& p) {
  return schema::CreateDepthwiseConv2DOptions(b, padding(p.padding), p.stride_w, p.stride_h,
                                              activation(p.activation), p.dilation_w, p.dilation_h);
}
auto describe(Builder& b, const TransposeConvParameters& p) {
  return schema::CreateTransposeConvOptions(b, padding(p.padding), p.stride_w, p.stride_h,
                                            activation(p.activation));
}
auto describe(Builder& b, const PoolParameters& p) {
  return schema::CreatePool2DOptions(b, padding(p.padding), p.stride_w, p.stride_h, p.filter_w, p.filter_h,
                                     activation(p.activation));
}
auto describe(Builder& b, const FullyConnectedParameters& p) {
  return schema::CreateFullyConnectedOptions(b, activation(p.activation),
                                             static_cast<schema::WeightsFormat>(p.weights_format),
                                             p.keep_num_dims, p.asymmetric_quantize_inputs);
}
auto describe(Builder& b, const BatchMatMulParameters& p) {
  return schema::CreateBatchMatMulOptions(b, p.adjoint_x, p.adjoint_y);
}
auto describe(Builder& b, const SoftmaxParameters& p) { return schema::CreateSoftmaxOptions(b, p.beta); }
auto describe(Builder& b, const ConcatenationParameters& p) {
  return schema::CreateConcatenationOptions(b, p.axis, activation(p.activation));
}
auto describe(Builder& b, const LocalResponseParameters& p) {
  return schema::CreateLocalResponseNormalizationOptions(b, p.radius, p.bias, p.alpha, p.beta);
}
auto describe(Builder& b, const GatherParameters& p) {
  return schema::CreateGatherOptions(b, p.axis, p.batch_dims);
}
auto describe(Builder& b, const ReducerParameters& p) { return schema::CreateReducerOptions(b, p.keep_dims); }
auto describe(Builder& b, const StridedSliceParameters& p) {
  return schema::CreateStridedSliceOptions(b, p.begin_mask, p.end_mask, p.ellipsis_mask, p.new_axis_mask,
                                           p.shrink_axis_mask, p.offset);
}
auto describe(Builder& b, const OneHotParameters& p) { return schema::CreateOneHotOptions(b, p.axis); }
auto describe(Builder& b, const LeakyReluParameters& p) { return schema::CreateLeakyReluOptions(b, p.alpha); }
auto describe(Builder& b, const GeluParameters& p) { return schema::CreateGeluOptions(b, p.approximate); }
auto describe(Builder& b, const MirrorPadParameters& p) {
  return schema::CreateMirrorPadOptions(b, mirror(p.mode));
}
auto describe(Builder& b, const CumsumParameters& p) {
  return schema::CreateCumsumOptions(b, p.exclusive, p.reverse);
}
auto describe(Builder& b, const FakeQuantParameters& p) {
  return schema::CreateFakeQuantOptions(b, p.min, p.max, p.num_bits, p.narrow_range);
}
auto describe(Builder& b, const ReverseSequenceParameters& p) {
  return schema::CreateReverseSequenceOptions(b, p.seq_dim, p.batch_dim);
}
auto describe(Builder& b, const Conv3dParameters& p) {
  return schema::CreateConv3DOptions(b, padding(p.padding), p.stride_d, p.stride_w, p.stride_h,
                                     activation(p.activation), p.dilation_d, p.dilation_w, p.dilation_h);
}
auto describe(Builder& b, const RnnParameters& p) {
  return schema::CreateRNNOptions(b, activation(p.activation));
}
auto describe(Builder& b, const SequenceRnnParameters& p) {
  return schema::CreateSequenceRNNOptions(b, p.time_major, activation(p.activation));
}
auto describe(Builder& b, const SvdfParameters& p) {
  return schema::CreateSVDFOptions(b, p.rank, activation(p.activation));
}
auto describe(Builder& b, const SequenceLstmParameters& p) {
  return schema::CreateUnidirectionalSequenceLSTMOptions(b, activation(p.activation), p.cell_clip,
                                                         p.time_major, p.diagonal_recurrent_tensors);
}

template <typename Table>
OptionsTable of(flatbuffers::Offset<Table> table) {
  // A copy: the generated header declares the constant and does not define it, and a pair takes references.
  constexpr auto kind = schema::BuiltinOptionsTraits<Table>::enum_value;
  return {kind, table.Union()};
}

class Describer {
 public:
  Describer(Builder& builder, const void* parameters) : b_(builder), parameters_(parameters) {}

  template <typename Parameters>
  const Parameters& get() const {
    if (parameters_ == nullptr)
      throw Error(ErrorCode::unsupported, "the interpreter has no parameters for it");
    return *static_cast<const Parameters*>(parameters_);
  }
  template <typename Parameters>
  OptionsTable as() const {
    return of(describe(b_, get<Parameters>()));
  }
  schema::FusedActivation fused() const { return activation(get<ActivationParameters>().activation); }

 private:
  Builder& b_;
  const void* parameters_;
};

// Operators whose structs are those of other operators, but whose tables are their own.
OptionsTable describe_shared(Builder& b, int32_t code, const Describer& from) {
  switch (code) {
    case kTfLiteBuiltinAdd:
      return of(schema::CreateAddOptions(b, from.fused()));
    case kTfLiteBuiltinSub:
      return of(schema::CreateSubOptions(b, from.fused()));
    case kTfLiteBuiltinMul:
      return of(schema::CreateMulOptions(b, from.fused()));
    case kTfLiteBuiltinDiv:
      return of(schema::CreateDivOptions(b, from.fused()));
    case kTfLiteBuiltinL2Normalization:
      return of(schema::CreateL2NormOptions(b, from.fused()));
    case kTfLiteBuiltinResizeBilinear: {
      const auto& p = from.get<ResizeParameters>();
      return of(schema::CreateResizeBilinearOptions(b, p.align_corners, p.half_pixel_centers));
    }
    case kTfLiteBuiltinResizeNearestNeighbor: {
      const auto& p = from.get<ResizeParameters>();
      return of(schema::CreateResizeNearestNeighborOptions(b, p.align_corners, p.half_pixel_centers));
    }
    case kTfLiteBuiltinReshape:
      return of(schema::CreateReshapeOptions(b, list(b, from.get<ListParameters>())));
    case kTfLiteBuiltinSqueeze:
      return of(schema::CreateSqueezeOptions(b, list(b, from.get<ListParameters>())));
    case kTfLiteBuiltinSpaceToDepth:
      return of(schema::CreateSpaceToDepthOptions(b, from.get<BlockParameters>().block_size));
    case kTfLiteBuiltinDepthToSpace:
      return of(schema::CreateDepthToSpaceOptions(b, from.get<BlockParameters>().block_size));
    case kTfLiteBuiltinSplit:
      return of(schema::CreateSplitOptions(b, from.get<SplitParameters>().num_splits));
    case kTfLiteBuiltinSplitV:
      return of(schema::CreateSplitVOptions(b, from.get<SplitParameters>().num_splits));
    case kTfLiteBuiltinPack:
      return of(
          schema::CreatePackOptions(b, from.get<PackParameters>().count, from.get<PackParameters>().axis));
    case kTfLiteBuiltinUnpack:
      return of(
          schema::CreateUnpackOptions(b, from.get<PackParameters>().count, from.get<PackParameters>().axis));
    default:
      return {schema::BuiltinOptions::NONE, 0};
  }
}

}  // namespace

OptionsTable describe_options(Builder& builder, int32_t builtin_code, const void* parameters) {
  const Describer from(builder, parameters);
  switch (builtin_code) {
    case kTfLiteBuiltinConv2d:
      return from.as<ConvParameters>();
    case kTfLiteBuiltinDepthwiseConv2d:
      return from.as<DepthwiseConvParameters>();
    case kTfLiteBuiltinTransposeConv:
      return from.as<TransposeConvParameters>();
    case kTfLiteBuiltinAveragePool2d:
    case kTfLiteBuiltinMaxPool2d:
    case kTfLiteBuiltinL2Pool2d:
      return from.as<PoolParameters>();
    case kTfLiteBuiltinFullyConnected:
      return from.as<FullyConnectedParameters>();
    case kTfLiteBuiltinBatchMatmul:
      return from.as<BatchMatMulParameters>();
    case kTfLiteBuiltinSoftmax:
      return from.as<SoftmaxParameters>();
    case kTfLiteBuiltinConcatenation:
      return from.as<ConcatenationParameters>();
    case kTfLiteBuiltinLocalResponseNormalization:
      return from.as<LocalResponseParameters>();
    case kTfLiteBuiltinGather:
      return from.as<GatherParameters>();
    case kTfLiteBuiltinMean:
    case kTfLiteBuiltinSum:
    case kTfLiteBuiltinReduceProd:
    case kTfLiteBuiltinReduceMax:
    case kTfLiteBuiltinReduceMin:
    case kTfLiteBuiltinReduceAny:
    case kTfLiteBuiltinReduceAll:
      return from.as<ReducerParameters>();
    case kTfLiteBuiltinStridedSlice:
      return from.as<StridedSliceParameters>();
    case kTfLiteBuiltinOneHot:
      return from.as<OneHotParameters>();
    case kTfLiteBuiltinLeakyRelu:
      return from.as<LeakyReluParameters>();
    case kTfLiteBuiltinGelu:
      return from.as<GeluParameters>();
    case kTfLiteBuiltinMirrorPad:
      return from.as<MirrorPadParameters>();
    case kTfLiteBuiltinFakeQuant:
      return from.as<FakeQuantParameters>();
    case kTfLiteBuiltinReverseSequence:
      return from.as<ReverseSequenceParameters>();
    case kTfLiteBuiltinCumsum:
      return from.as<CumsumParameters>();
    case kTfLiteBuiltinConv3d:
    case kTfLiteBuiltinConv3dTranspose:
      return from.as<Conv3dParameters>();
    case kTfLiteBuiltinRnn:
      return from.as<RnnParameters>();
    case kTfLiteBuiltinUnidirectionalSequenceRnn:
      return from.as<SequenceRnnParameters>();
    case kTfLiteBuiltinSvdf:
      return from.as<SvdfParameters>();
    case kTfLiteBuiltinUnidirectionalSequenceLstm:
      return from.as<SequenceLstmParameters>();
    default:
      return describe_shared(builder, builtin_code, from);
  }
}

}  // namespace vellum::lite

// The parameters of builtin operators, to which TfLiteNode::builtin_data points. The package with LiteRT's
// headers lacks these structs, so they are declared here from the interface's description. The order and the
// types of members are fixed, their names are not. Later versions append members, which are not read.
#pragma once

#include <cstdint>

namespace vellum::lite {

enum class PaddingKind : int32_t { unknown, same, valid };
enum class MirrorKind : int32_t { unknown, reflect, symmetric };

struct ConvParameters {
  PaddingKind padding;
  int32_t stride_w, stride_h, activation, dilation_w, dilation_h;
};
struct DepthwiseConvParameters {
  PaddingKind padding;
  int32_t stride_w, stride_h, depth_multiplier, activation, dilation_w, dilation_h;
};
struct TransposeConvParameters {
  PaddingKind padding;
  int32_t stride_w, stride_h, activation;
};
struct PoolParameters {
  PaddingKind padding;
  int32_t stride_w, stride_h, filter_w, filter_h, activation;
};
struct FullyConnectedParameters {
  int32_t activation, weights_format;
  bool keep_num_dims, asymmetric_quantize_inputs;
};
struct BatchMatMulParameters {
  bool adjoint_x, adjoint_y;
};
struct SoftmaxParameters {
  float beta;
};
struct ConcatenationParameters {
  int32_t axis, activation;
};
struct ActivationParameters {  // of ADD, SUB, MUL, DIV and L2_NORMALIZATION
  int32_t activation;
};
struct LocalResponseParameters {
  int32_t radius;
  float bias, alpha, beta;
};
struct ResizeParameters {
  bool align_corners, half_pixel_centers;
};
struct ListParameters {  // of RESHAPE and SQUEEZE
  int32_t values[8];
  int32_t count;
};
struct BlockParameters {  // of SPACE_TO_DEPTH and DEPTH_TO_SPACE
  int32_t block_size;
};
struct FakeQuantParameters {
  float min, max;
  int32_t num_bits;
  bool narrow_range;
};
struct ReverseSequenceParameters {
  int32_t seq_dim, batch_dim;
};
struct GatherParameters {
  int32_t axis, batch_dims;
};
struct ReducerParameters {
  bool keep_dims;
};
struct StridedSliceParameters {
  int32_t begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask;
  bool offset;
};
struct SplitParameters {
  int32_t num_splits;
};
struct PackParameters {  // of PACK and UNPACK
  int32_t count, axis;
};
struct OneHotParameters {
  int32_t axis;
};
struct LeakyReluParameters {
  float alpha;
};
struct GeluParameters {
  bool approximate;
};
struct MirrorPadParameters {
  MirrorKind mode;
};
struct CumsumParameters {
  bool exclusive, reverse;
};
struct Conv3dParameters {
  PaddingKind padding;
  int32_t stride_w, stride_h, stride_d, dilation_w, dilation_h, dilation_d, activation;
};
struct RnnParameters {
  int32_t activation;
  bool asymmetric_quantize_inputs;
};
struct SequenceRnnParameters {
  bool time_major;
  int32_t activation;
  bool asymmetric_quantize_inputs;
};
struct SvdfParameters {
  int32_t rank, activation;
  bool asymmetric_quantize_inputs;
};
struct SequenceLstmParameters {
  int32_t activation;
  float cell_clip, proj_clip;
  bool time_major, asymmetric_quantize_inputs, diagonal_recurrent_tensors;
};

}  // namespace vellum::lite

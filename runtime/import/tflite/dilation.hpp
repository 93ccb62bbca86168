// Finds convolutions with dilation that older converters express as SPACE_TO_BATCH_ND, a convolution and
// BATCH_TO_SPACE_ND.
#pragma once

#include <map>
#include <set>

#include "import/tflite/call.hpp"

namespace vellum::tflite {

// The convolution with dilation that replaces such a triple.
struct DilatedConv {
  Dilation window;
  int32_t input = kLeftOut, output = kLeftOut;  // of the three operators together
};

struct DilatedConvs {
  std::map<size_t, DilatedConv> convs;  // by index of the convolution
  std::set<size_t> absorbed;            // indices of the operators before and after the convolutions
};

DilatedConvs find_dilated_convs(const schema::Model& model, const schema::SubGraph& graph,
                                const Writer& writer);

}  // namespace vellum::tflite

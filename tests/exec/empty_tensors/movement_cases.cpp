#include "operator_cases.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test::empty_tensors {

std::vector<Case> movement_cases() {
  const auto axis = [](int64_t value) { return attributes({{"axis", value}}); };
  const auto block = attributes({{"blocksize", int64_t{2}}});
  return {
      {"Reshape", {"n c h", ints({0, -1})}},
      {"Reshape", {"n c h", ints({-1, 2})}},
      {"Reshape", {"n c h", ints({0, 0, 4})}},
      {"Reshape", {"n c", ints({0, 3})}, attributes({{"allowzero", int64_t{1}}})},
      {"Flatten", {"n c h"}},
      {"Squeeze", {"n 1 c", ints({1})}},
      {"Unsqueeze", {"n c", ints({1})}},
      {"Transpose", {"n c h w"}},
      {"Concat", {"n c", "m c", "k c"}, axis(0)},
      {"Concat", {"n c h w", "n d h w"}, axis(1)},
      {"Split", {"n 4 h", ints({0, 3, 0, 1})}, axis(1), 4},
      {"Split", {"n 4 h w", ints({0, 4})}, axis(1), 2},
      {"Split", {"n c"}, attributes({{"axis", int64_t{1}}, {"num_outputs", int64_t{2}}}), 2},
      {"Slice", {"n c", ints({1}), ints({3}), ints({1})}},
      {"Slice", {"n c", ints({2}), ints({2}), ints({0})}},
      {"Pad", {"n c h w", ints({0, 0, 1, 1, 0, 0, 1, 2})}},
      {"Pad", {"n c", ints({0, 1, 0, 0})}, attributes({{"mode", std::string("reflect")}})},
      {"CenterCropPad", {"n c", ints({2, 1})}},
      {"Crop", {"n c 4 3"}, attributes({{"border", Attributes::Ints{1, 0, 1, 2}}})},
      {"Col2Im", {"n 4 2", ints({1, 3}), ints({1, 2})}},
      {"TensorScatter", {"n 3 c", "n 2 c"}},
      {"DepthToSpace", {"n c h w"}, block},
      {"SpaceToDepth", {"n c h w"}, block},
      {"Expand", {"n 1", ints({1, 3})}},
      {"Expand", {"n 1", ints({1, 0})}},
      {"Tile", {"n c", ints({2, 3})}},
      {"Tile", {"n c", ints({2, 0})}},
      {"Gather", {"n c", "i64: k"}, axis(1)},
      {"GatherElements", {"n c", "i64: n k"}, axis(1)},
      {"GatherND", {"n c h", "i64: k 2"}},
      {"ScatterElements", {"n c", "i64: n k", "n k"}, axis(1)},
      {"ScatterND", {"n c", "i64: k 1", "k c"}},
      {"TopK", {"n c", ints({0})}, {}, 2},
      {"TopK", {"n c", ints({3})}, axis(0), 2},
      {"TopK", {"n c h", ints({1})}, axis(1), 2},
      {"NonZero", {"n c"}},
      {"Unique", {"n"}, {}, 4},
      {"Compress", {"n c", "bool: n"}, axis(0)},
      {"Trilu", {"b n c"}},
      {"CumSum", {"n c h", scalar(int64_t{1})}},
      {"CumProd", {"n c h", scalar(int64_t{1})}},
      {"BitCast", {"n c"}, attributes({{"to", int64_t{6}}})},
      {"DFT", {"n 4 1", "", scalar(int64_t{1})}},
      {"STFT", {"n 8 1", scalar(int64_t{2}), "", scalar(int64_t{4})}},
      {"OptionalHasElement", {"n c"}},
      {"OptionalGetElement", {"n c"}},
      {"ReverseSequence", {"t n c", "i64: n"}},
      {"Resize", {"n c h w", "", floats({1, 1, 2, 2})}},
      {"Upsample", {"n c h w", floats({1, 1, 2, 2})}, {}, 1, 10},
  };
}

}  // namespace vellum::test::empty_tensors

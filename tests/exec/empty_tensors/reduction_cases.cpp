#include "operator_cases.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test::empty_tensors {

std::vector<Case> reduction_cases() {
  std::vector<Case> cases;
  for (const char* type : {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1",
                           "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"}) {
    cases.push_back({type, {"n c h w", ints({2, 3})}});
    cases.push_back({type, {"n c"}});
  }
  for (const char* type : {"ReduceMax", "ReduceMin", "ReduceMean"}) {
    cases.push_back({type, {"i32: n c", ints({1})}});
    cases.push_back({type, {"u8: n c", ints({1})}});
  }
  for (const char* type : {"ReduceMax", "ReduceMin"}) cases.push_back({type, {"bool: n c", ints({1})}});
  for (const char* type : {"ArgMax", "ArgMin"})
    cases.push_back({type, {"n c h"}, attributes({{"axis", int64_t{1}}})});
  for (const char* type : {"Softmax", "LogSoftmax", "Hardmax"}) {
    cases.push_back({type, {"n c h"}});
    cases.push_back({type, {"n c h"}, {}, 1, 11});
  }
  for (const char* type : {"GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"})
    cases.push_back({type, {"n c h w"}});
  for (const char* type : {"MaxPool", "AveragePool", "LpPool"})
    cases.push_back({type, {"n c h w"}, attributes({{"kernel_shape", Attributes::Ints{2, 2}}})});
  cases.push_back({"MaxPool", {"n c h w"}, attributes({{"kernel_shape", Attributes::Ints{2, 2}}}), 2});
  const auto lrn = attributes({{"size", int64_t{3}}});
  const auto groups = attributes({{"num_groups", int64_t{2}}});
  cases.insert(cases.end(), {{"BatchNormalization", {"n c h w", "c", "c", "c", "c"}},
                             {"InstanceNormalization", {"n c h w", "c", "c"}},
                             {"LayerNormalization", {"n m c", "c", "c"}, {}, 3},
                             {"RMSNormalization", {"n m c", "c"}, {}, 1, 23},
                             {"LayerNormalization", {"n m c", "m c"}, attributes({{"axis", int64_t{1}}})},
                             {"GroupNormalization", {"n 4 h w", "4", "4"}, groups},
                             {"MeanVarianceNormalization", {"n c h w"}},
                             {"LpNormalization", {"n c"}},
                             {"LRN", {"n c h w"}, lrn}});
  return cases;
}

}  // namespace vellum::test::empty_tensors

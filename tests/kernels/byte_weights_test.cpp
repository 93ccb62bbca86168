// Weights of quantised layers are bytes, or pairs in bytes, on the device in every kernel that a device may
// prefer, fused ones included, and give the results of the host, whether their input has bytes or floats.
// Tables of results are floats.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "exec/executor.hpp"
#include "kernels/gpu_named.hpp"
#include "passes/passes.hpp"
#include "selfcheck/operator_cases.hpp"
#include "support/environment.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace byte_weights_test {

bool has_narrow_weights(const SmallOperator& small) {
  return small.name.find("weights of ") != std::string::npos;
}

std::vector<SmallOperator> operators_in_bytes() {
  std::vector<SmallOperator> list = small_operators();
  std::erase_if(list, [](const SmallOperator& small) {
    return !small.name.ends_with(", in bytes") && !small.name.ends_with(", weights in bytes") &&
           !has_narrow_weights(small);
  });
  for (SmallOperator& small : list) small.graph = optimise(small.graph, {});
  return list;
}

bool is_float(ElementType element) { return element == ElementType::f32 || element == ElementType::f16; }

// The device of the test, and GPUs that prefer other kernels.
std::vector<DeviceCaps> devices() {
  DeviceCaps nvidia = gpu_named("NVIDIA H200");
  nvidia.vendor_id = kNvidia;
  nvidia.cooperative_matrices.clear();
  return {test_context()->caps(), gpu_named("NAVI31"), nvidia, adreno_named("Adreno (TM) 660")};
}

// One of each algorithm for each choice of the operator.
std::vector<TuningTable> tables_of(const std::vector<Choice>& choices) {
  std::vector<TuningTable> tables{{}};
  for (const Choice& choice : choices) {
    std::set<std::string> algorithms{choice.candidates.front().algorithm};
    for (const KernelName& candidate : choice.candidates) {
      if (!algorithms.insert(candidate.algorithm).second) continue;
      CandidateTimes& times = tables.emplace_back().operators[choice.signature];
      times[choice.candidates.front().text()] = 2;
      times[candidate.text()] = 1;
    }
  }
  return tables;
}

void expect_values_of_host(const SmallOperator& small, Program program) {
  const std::vector<HostTensor> want = evaluate(small.graph, small.inputs);
  Executor executor(test_context(), compile_program(test_context(), std::move(program)));
  for (size_t i = 0; i < small.inputs.size(); ++i) executor.set_input(i, small.inputs[i]);
  executor.run();
  for (size_t i = 0; i < want.size(); ++i) {
    const std::vector<float> a = executor.output(i).to_floats(), b = want[i].to_floats();
    ASSERT_EQ(a.size(), b.size());
    float largest = 1.0f;
    for (const float value : b) largest = std::max(largest, std::abs(value));
    for (size_t k = 0; k < a.size(); ++k) ASSERT_NEAR(a[k], b[k], 1e-5f * largest) << "element " << k;
  }
}

TEST(ByteWeights, AreReadByEveryKernel) {
  const std::vector<DeviceCaps> all = devices();
  for (const SmallOperator& small : operators_in_bytes())
    for (size_t device = 0; device < all.size(); ++device)
      for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::buffer}) {
        std::vector<Choice> choices;
        lower(small.graph, all[device], {.storage = storage, .choices = &choices});
        size_t number = 0;
        for (const TuningTable& table : tables_of(choices)) {
          SCOPED_TRACE(small.name + " on device " + std::to_string(device) + ", way " +
                       std::to_string(number++));
          Program program = lower(small.graph, all[device], {.storage = storage, .tuning = &table});
          ASSERT_TRUE(program.warnings.empty()) << program.warnings.front();
          // Tables of functions and the factors of normalisations are floats.
          const auto may_be_floats = [](const VirtualTensor& tensor) {
            return tensor.name.ends_with("/table") || tensor.name.ends_with("/factors");
          };
          for (const VirtualTensor& tensor : program.tensors)
            EXPECT_TRUE(tensor.role != TensorRole::weight || may_be_floats(tensor) ||
                        !is_float(tensor.desc.element))
                << tensor.name << "\n"
                << to_text(program);
          // Every eighth program runs, all of them in full tests.
          const size_t every = in_full() ? 1 : 8;
          if ((device + number + (storage == StorageChoice::buffer)) % every == 0)
            expect_values_of_host(small, std::move(program));
        }
      }
}

}  // namespace byte_weights_test
}  // namespace vellum::test

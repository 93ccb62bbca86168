// Every output of every model agrees with the independent engine's, whatever the storage, precision, memory
// mode and submission.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include "e2e/reference.hpp"
#include "support/environment.hpp"
#include "support/errors.hpp"

namespace vellum::test {
namespace {

using Choice = std::tuple<FetchedModel, StorageChoice, Precision, MemoryMode, uint32_t>;

constexpr StorageChoice kStorageChoices[] = {StorageChoice::image2d, StorageChoice::image3d,
                                             StorageChoice::buffer};
const char* const kStorages[] = {"automatic", "image2d", "image3d", "buffer"};

std::string choice_name(const testing::TestParamInfo<Choice>& info) {
  const auto& [model, storage, precision, memory, submit] = info.param;
  return model.name + "_" + kStorages[static_cast<int>(storage)] +
         (precision == Precision::fp16 ? "_fp16" : "_fp32") +
         (memory == MemoryMode::naive     ? "_naive"
          : memory == MemoryMode::offsets ? "_offsets"
                                          : "_shared") +
         (submit ? "_every" + std::to_string(submit) : "_whole");
}

// One at least for every operator that has no kernel, and none besides.
void expect_warnings(const std::vector<std::string>& warnings, const std::vector<std::string>& operators) {
  const auto names = [](const std::string& warning, const std::string& op) {
    return warning.starts_with(op + " ");
  };
  for (const std::string& warning : warnings)
    EXPECT_TRUE(std::any_of(operators.begin(), operators.end(), [&](const std::string& op) {
      return names(warning, op);
    })) << warning;
  for (const std::string& op : operators)
    EXPECT_TRUE(std::any_of(warnings.begin(), warnings.end(),
                            [&](const std::string& warning) { return names(warning, op); }))
        << op << " runs on the device now";
}

class Models : public testing::TestWithParam<Choice> {};

TEST_P(Models, AgreeWithTheOracle) {
  const auto& [which, storage, precision, memory, submit] = GetParam();
  const Reference reference = load_reference(which);
  const Rounding rounding = precision == Precision::fp16 ? Rounding::fp16 : Rounding::fp32;
  SessionOptions options = options_for(reference);
  options.storage = storage;
  options.precision = precision;
  options.memory = memory;
  options.tasks_per_submit = submit;
  Session session(device(), reference.model, options);
  expect_warnings(session.warnings(), which.host_operators);
  expect_close(session.run(reference.inputs), reference, rounding);
  // A second run finds the objects full of the first one's values.
  expect_close(session.run(reference.inputs), reference, rounding);
  expect_no_validation_messages();
}

// Every pair of a storage, a memory mode and a way to submit of the first model; each further model in every
// storage, with memory modes that change from model to model. With VELLUM_TEST_FULL every combination.
// SwiftShader takes ten seconds for each run of M-LSD; there it runs in one of the memory modes, which do not
// depend on the driver.
std::vector<Choice> fp32_choices() {
  constexpr MemoryMode kMemory[] = {MemoryMode::shared_objects, MemoryMode::naive, MemoryMode::offsets};
  std::vector<Choice> choices;
  size_t number = 0;  // of the model
  for (const FetchedModel& model : small_fetched_models()) {
    for (size_t storage = 0; storage < 3; ++storage)
      for (size_t memory = 0; memory < 3; ++memory)
        for (const uint32_t submit : {0u, 1u}) {
          const bool covers_pairs =
              submit == (storage + memory) % 2 && (number == 0 || memory == (storage + number) % 3);
          const bool is_quick =
              kMemory[memory] == MemoryMode::shared_objects || !on_swiftshader() || model.name != "mlsd_tiny";
          if (in_full() || (covers_pairs && is_quick))
            choices.emplace_back(model, kStorageChoices[storage], Precision::fp32, kMemory[memory], submit);
        }
    ++number;
  }
  return choices;
}
INSTANTIATE_TEST_SUITE_P(Fp32, Models, testing::ValuesIn(fp32_choices()), choice_name);
// How tensors are shared and submitted does not depend on the precision; one odd number of tasks per submit
// besides.
INSTANTIATE_TEST_SUITE_P(Fp16, Models,
                         testing::Combine(testing::ValuesIn(small_fetched_models()),
                                          testing::ValuesIn(kStorageChoices),
                                          testing::Values(Precision::fp16),
                                          testing::Values(MemoryMode::shared_objects), testing::Values(7u)),
                         choice_name);

// The rest of the table, in turn in images of floats and in buffers of halves. The larger models, and more
// combinations, with VELLUM_TEST_FULL in the environment.
std::vector<Choice> other_choices() {
  const bool full = in_full();
  const SizeClass largest = full ? SizeClass::large : on_swiftshader() ? SizeClass::small : SizeClass::medium;
  // A large network in one submit takes SwiftShader longer than the minute that a submit may take.
  const uint32_t whole = full && on_swiftshader() ? 8 : 0;
  std::vector<Choice> choices;
  for (const FetchedModel& model : fetched_models(largest)) {
    if (model.name.starts_with("blazeface") || model.name == "mlsd_tiny") continue;
    const auto& shared = MemoryMode::shared_objects;
    const bool in_images = choices.size() % 2 == 0;
    if (full || in_images)
      choices.emplace_back(model, StorageChoice::image2d, Precision::fp32, shared, whole);
    if (full || !in_images)
      choices.emplace_back(model, StorageChoice::buffer, Precision::fp16, shared, whole);
    if (!full) continue;
    choices.emplace_back(model, StorageChoice::image3d, Precision::fp32, MemoryMode::naive, whole);
    choices.emplace_back(model, StorageChoice::buffer, Precision::fp32, shared, 7u);
    choices.emplace_back(model, StorageChoice::image2d, Precision::fp16, MemoryMode::naive, whole);
    choices.emplace_back(model, StorageChoice::image3d, Precision::fp16, MemoryMode::offsets, whole);
  }
  return choices;
}
INSTANTIATE_TEST_SUITE_P(Others, Models, testing::ValuesIn(other_choices()), choice_name);

// Products of halves, of the small models and, with VELLUM_TEST_FULL, of all.
class ModelsOfHalves : public testing::TestWithParam<FetchedModel> {};

TEST_P(ModelsOfHalves, AgreeWithTheOracleWhereTheDeviceCan) {
  const Reference reference = load_reference(GetParam());
  SessionOptions options = options_for(reference);
  options.storage = StorageChoice::buffer;
  options.precision = Precision::fp16;
  options.arithmetic = Arithmetic::fp16;
  options.tasks_per_submit = 8;  // large networks take CPU drivers longer than a submit may
  if (on_swiftshader() || std::getenv("VELLUM_TEST_LIMITS") != nullptr) {
    EXPECT_VELLUM_ERROR(Session(device(), reference.model, options), ErrorCode::unsupported, "shaderFloat16");
    return;
  }
  Session session(device(), reference.model, options);
  expect_close(session.run(reference.inputs), reference, Rounding::halves);
  expect_no_validation_messages();
}

std::vector<FetchedModel> models_of_halves() {
  return in_full() ? fetched_models(SizeClass::large) : small_fetched_models();
}
INSTANTIATE_TEST_SUITE_P(Fetched, ModelsOfHalves, testing::ValuesIn(models_of_halves()),
                         [](const auto& each) { return each.param.name; });

TEST(BlazeFace, FindsTheFaceInThePhoto) {
  const Reference reference = load_reference(fetched_model("blazeface_front"));
  Session session(device(), reference.model);
  const auto outputs = session.run(reference.inputs);
  const auto best = [](const std::map<std::string, Tensor>& from) {
    float logit = -INFINITY;
    for (const char* name : {"Identity:0", "Identity_1:0"})
      for (float value : from.at(name).as<float>()) logit = std::max(logit, value);
    return 1.0f / (1.0f + std::exp(-logit));
  };
  EXPECT_NEAR(best(outputs), best(reference.outputs), 1e-3);
  EXPECT_GT(best(outputs), 0.9f);
  expect_no_validation_messages();
}

}  // namespace
}  // namespace vellum::test

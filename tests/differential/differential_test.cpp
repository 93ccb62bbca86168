// Random graphs in every storage, and in a random memory mode, order, precision and number of submits,
// against the host reference in double. More of them: VELLUM_DIFFERENTIAL=FIRST:COUNT, the range of seeds. A
// model that fails is written to VELLUM_DIFFERENTIAL_KEEP.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "api/impl.hpp"
#include "api/public_interface.hpp"
#include "differential/random_graph.hpp"
#include "passes/passes.hpp"
#include "support/environment.hpp"
#include "support/rounding_study.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

using Outputs = std::map<std::string, Tensor>;

struct Seeds {
  uint32_t first = 1, count = 15;
};

Seeds seeds() {
  Seeds seeds;
  if (const char* given = std::getenv("VELLUM_DIFFERENTIAL")) {
    const std::string_view text(given);
    const size_t colon = text.find(':');
    std::from_chars(text.data(), text.data() + colon, seeds.first);
    std::from_chars(text.data() + colon + 1, text.data() + text.size(), seeds.count);
  }
  return seeds;
}

// What the outputs are, and how far rounding may move them.
class Expected {
 public:
  Expected(const Graph& graph, std::span<const HostTensor> inputs) : study_(graph, inputs) {
    for (const ValueId id : graph.outputs) names_.push_back(graph.values[id].name);
  }

  // Empty if the outputs are right, else which one is not.
  std::string difference(const Outputs& outputs, Rounding rounding) const {
    const std::vector<double> spread = spreads(rounding);
    const double least = rounding == Rounding::fp32 ? 2e-5 : 1e-2;
    for (size_t i = 0; i < names_.size(); ++i) {
      const double apart = distance_between(outputs.at(names_[i]), study_.exact()[i]).largest;
      if (!(apart <= least + 8 * spread[i]))
        return (std::ostringstream() << names_[i] << " is off by " << apart << ", and rounding moves it by "
                                     << spread[i])
            .str();
    }
    return "";
  }

 private:
  std::vector<double> spreads(Rounding rounding) const {
    std::vector<double> spread(names_.size(), 0.0);
    for (uint32_t seed = 1; seed <= 4; ++seed) {
      const std::vector<HostTensor> rounded = study_.rounded(rounding, seed);
      for (size_t i = 0; i < spread.size(); ++i)
        spread[i] = std::max(spread[i], distance_between(rounded[i], study_.exact()[i]).largest);
    }
    return spread;
  }

  RoundingStudy study_;
  std::vector<std::string> names_;
};

class Differential : public testing::Test {
 protected:
  void check(uint32_t seed) {
    const RandomGraph random = random_graph(seed);
    const Model model = load(random.model);
    Graph graph = random.model.graph();
    infer_shapes_and_fold(graph, {});
    const std::vector<HostTensor> values = random_inputs(graph, seed);
    std::map<std::string, Tensor> inputs;
    for (size_t i = 0; i < graph.inputs.size(); ++i) inputs[graph.values[graph.inputs[i]].name] = values[i];
    const Expected expected(graph, values);
    std::mt19937 dice(seed);
    for (const StorageChoice storage :
         {StorageChoice::buffer, StorageChoice::image2d, StorageChoice::image3d}) {
      SessionOptions options{.storage = storage, .memory = MemoryMode::naive, .planning = {.search_ms = 5}};
      options.planning.in_place = options.planning.views = options.planning.reorder = false;
      const Outputs plain = Session(device, model, options).run(inputs);
      ASSERT_EQ(expected.difference(plain, Rounding::fp32), "") << "storage " << static_cast<int>(storage);
      options.memory = dice() % 2 ? MemoryMode::shared_objects : MemoryMode::offsets;
      options.planning.in_place = options.planning.views = options.planning.reorder = true;
      options.tasks_per_submit = static_cast<uint32_t>(dice() % 3);
      Session session(device, model, options);
      session.run(inputs);
      for (const auto& [name, tensor] : session.run(inputs))
        ASSERT_TRUE(same_bits(tensor, plain.at(name))) << name << ", storage " << static_cast<int>(storage);
      if (random.discontinuous || dice() % 3) continue;
      options.precision = Precision::fp16;
      ASSERT_EQ(expected.difference(Session(device, model, options).run(inputs), Rounding::fp16), "")
          << "fp16, storage " << static_cast<int>(storage);
    }
  }

  static Device open() {
    DeviceOptions options = device_options();
    options.validation = with_validation() && std::getenv("VELLUM_DIFFERENTIAL") == nullptr;
    options.log = nullptr;  // operators on the host are right, too
    return Device::open(options);
  }

  const Device device = open();
};

TEST_F(Differential, RandomGraphsAreWhatTheHostComputes) {
  const char* keep = std::getenv("VELLUM_DIFFERENTIAL_KEEP");
  for (uint32_t i = 0; i < seeds().count; ++i) {
    const uint32_t seed = seeds().first + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    const int failures = testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
    try {
      check(seed);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
    if (keep &&
        testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count() > failures)
      random_graph(seed).model.save(std::filesystem::path(keep) / ("seed" + std::to_string(seed) + ".onnx"));
  }
  EXPECT_EQ(device.validation_messages(), 0u);
}

}  // namespace
}  // namespace vellum::test

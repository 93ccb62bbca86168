// Random graphs against the host reference in double: some in every storage, and in a random memory mode,
// order, precision and number of submits, with the same bits; many in one configuration each, drawn by the
// seed. More of them: VELLUM_DIFFERENTIAL=FIRST:COUNT and VELLUM_DIFFERENTIAL_DRAWN=FIRST:COUNT, the ranges
// of seeds, and VELLUM_DIFFERENTIAL_LARGE for graphs with large axes. A model that fails is written to
// VELLUM_DIFFERENTIAL_KEEP.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "api/impl.hpp"
#include "api/public_interface.hpp"
#include "differential/drawn_options.hpp"
#include "differential/expected_outputs.hpp"
#include "support/environment.hpp"
#include "support/tensors.hpp"
#include "vulkan/pipeline.hpp"
#include "worst_device/open_worst_device.hpp"

namespace vellum::test {
namespace {

constexpr const char* kRange = "VELLUM_DIFFERENTIAL";
constexpr const char* kDrawnRange = "VELLUM_DIFFERENTIAL_DRAWN";
constexpr const char* kLargeRange = "VELLUM_DIFFERENTIAL_LARGE";

struct Seeds {
  uint32_t first = 1, count = 0;
};

// Those that the variable says, else `count` from 1.
Seeds seeds(const char* variable, uint32_t count) {
  Seeds seeds{1, count};
  if (const char* given = std::getenv(variable)) {
    const std::string_view text(given);
    const size_t colon = std::min(text.find(':'), text.size() - 1);
    std::from_chars(text.data(), text.data() + colon, seeds.first);
    std::from_chars(text.data() + colon + 1, text.data() + text.size(), seeds.count);
  }
  return seeds;
}

// A random graph with its model.
struct Case : RandomCase {
  explicit Case(uint32_t seed, Axes axes = Axes::small) : RandomCase(seed, axes), model(load(random.model)) {}

  Model model;
};

class Differential : public testing::Test {
 protected:
  void check_in_all_storages(uint32_t seed) const {
    const Case one(seed);
    std::mt19937 dice(seed);
    for (const StorageChoice storage :
         {StorageChoice::buffer, StorageChoice::image2d, StorageChoice::image3d}) {
      SessionOptions options{.storage = storage, .memory = MemoryMode::naive, .planning = {.search_ms = 5}};
      options.planning.in_place = options.planning.views = options.planning.reorder = false;
      const NamedTensors plain = Session(device, one.model, options).run(one.inputs);
      ASSERT_EQ(one.expected.difference(plain, Rounding::fp32), "")
          << "storage " << static_cast<int>(storage);
      options.memory = dice() % 2 ? MemoryMode::shared_objects : MemoryMode::offsets;
      options.planning.in_place = options.planning.views = options.planning.reorder = true;
      options.tasks_per_submit = static_cast<uint32_t>(dice() % 3);
      Session session(device, one.model, options);
      session.run(one.inputs);
      for (const auto& [name, tensor] : session.run(one.inputs))
        ASSERT_TRUE(same_bits(tensor, plain.at(name))) << name << ", storage " << static_cast<int>(storage);
      if (one.random.discontinuous || dice() % 3) continue;
      options.precision = Precision::fp16;
      ASSERT_EQ(one.expected.difference(Session(device, one.model, options).run(one.inputs), Rounding::fp16),
                "")
          << "fp16, storage " << static_cast<int>(storage);
    }
  }

  // Twice, where one run could leave something behind for the next.
  void check_as_drawn(uint32_t seed, Axes axes = Axes::small) const {
    const Case one(seed, axes);
    const SessionOptions options = drawn_options(seed, !one.random.discontinuous);
    const Rounding rounding = options.precision == Precision::fp16 ? Rounding::fp16 : Rounding::fp32;
    Session session(device, one.model, options);
    const NamedTensors first = session.run(one.inputs);
    ASSERT_EQ(one.expected.difference(first, rounding), "") << describe(options);
    for (const auto& [name, tensor] : session.run(one.inputs))
      ASSERT_TRUE(same_bits(tensor, first.at(name))) << name << ", second run, " << describe(options);
  }

  void check_all(const Seeds& seeds, const std::function<void(uint32_t)>& check,
                 Axes axes = Axes::small) const {
    constexpr uint32_t kReported = 1000;
    const char* keep = std::getenv("VELLUM_DIFFERENTIAL_KEEP");
    const auto failures = [] {
      return testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
    };
    for (uint32_t i = 0; i < seeds.count; ++i) {
      const uint32_t seed = seeds.first + i;
      SCOPED_TRACE("seed " + std::to_string(seed));
      const int before = failures();
      try {
        check(seed);
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
      }
      if (keep && failures() > before)
        random_graph(seed, axes)
            .model.save(std::filesystem::path(keep) / ("seed" + std::to_string(seed) + ".onnx"));
      if ((i + 1) % kReported == 0)
        std::cout << i + 1 << " graphs, the last of seed " << seed << ", " << failures() << " failures, "
                  << impl(device)->context->pipelines().size() << " pipelines\n"
                  << std::flush;
    }
    EXPECT_EQ(device.validation_messages(), 0u);
  }

  static Device open() {
    if (std::optional<Device> worst = open_worst_device()) return *std::move(worst);
    DeviceOptions options = device_options();
    options.validation = with_validation();
    for (const char* range : {kRange, kDrawnRange, kLargeRange})
      if (std::getenv(range)) options.validation = false;
    options.log = nullptr;  // operators on the host are right, too
    return Device::open(options);
  }

  const Device device = open();
};

TEST_F(Differential, RandomGraphsAreWhatTheHostComputes) {
  check_all(seeds(kRange, 15), [&](uint32_t seed) { check_in_all_storages(seed); });
}

// Graphs share pipelines: a thousand of them take a fifteenth of the time of as many in all storages.
TEST_F(Differential, AnyConfigurationComputesWhatTheHostDoes) {
  check_all(seeds(kDrawnRange, 25), [&](uint32_t seed) { check_as_drawn(seed); });
}

TEST_F(Differential, LargeAxesComputeWhatTheHostDoes) {
  if (on_swiftshader() && !in_full()) GTEST_SKIP() << "takes minutes";
  check_all(
      seeds(kLargeRange, 12), [&](uint32_t seed) { check_as_drawn(seed, Axes::large); }, Axes::large);
}

}  // namespace
}  // namespace vellum::test

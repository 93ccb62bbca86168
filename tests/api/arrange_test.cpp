// Ways to need less memory change no bit of what networks compute.
#include <gtest/gtest.h>

#include <algorithm>

#include "device_options.hpp"
#include "glslang_tables.hpp"
#include "random_networks.hpp"
#include "support/tensors.hpp"
#include "vellum/vellum.hpp"

namespace vellum::test {
namespace {

using Outputs = std::map<std::string, Tensor>;

bool same_outputs(const Outputs& a, const Outputs& b) {
  return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](const auto& entry) {
           return same_bits(entry.second, b.at(entry.first));
         });
}

struct Ways {
  const char* name;
  bool in_place, views, reorder;
};
constexpr Ways kWays[] = {{"none", false, false, false},
                          {"in place", true, false, false},
                          {"views", false, true, false},
                          {"reorder", false, false, true},
                          {"all", true, true, true}};

struct Totals {
  uint64_t none = 0, all = 0;
};

// In every mode, with each way and all of them, against mode naive.
void check_network(const Device& device, uint32_t seed, StorageChoice storage, Precision precision,
                   Totals& totals) {
  const std::string bytes = random_network(seed).bytes();
  const Model model = Model::load(as_bytes(bytes));
  const std::map<std::string, Tensor> inputs{{"x", random_tensor(random_network_input(seed), seed)}};
  SessionOptions options{
      .precision = precision, .storage = storage, .memory = MemoryMode::naive, .planning = {.search_ms = 5}};
  const Outputs wanted = Session(device, model, options).run(inputs);
  for (const MemoryMode mode : {MemoryMode::shared_objects, MemoryMode::offsets})
    for (const Ways& ways : kWays) {
      options.memory = mode;
      options.planning.in_place = ways.in_place;
      options.planning.views = ways.views;
      options.planning.reorder = ways.reorder;
      Session session(device, model, options);
      session.run(inputs);
      EXPECT_TRUE(same_outputs(session.run(inputs), wanted))
          << "seed " << seed << ", storage " << static_cast<int>(storage) << ", mode "
          << static_cast<int>(mode) << ", " << ways.name;
      const MemoryReport memory = session.memory();
      EXPECT_EQ(memory.allocated_bytes, memory.planned_bytes);
      if (std::string(ways.name) == "none") totals.none += memory.planned_bytes;
      if (std::string(ways.name) == "all") totals.all += memory.planned_bytes;
    }
}

TEST(RandomNetworks, EveryModeAndWayGivesTheBitsOfNaive) {
  const Device device = Device::open(device_options());
  Totals totals;
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    check_network(device, seed, StorageChoice::image2d, Precision::fp32, totals);
    check_network(device, seed, StorageChoice::buffer, Precision::fp32, totals);
  }
  check_network(device, 4, StorageChoice::image3d, Precision::fp32, totals);
  check_network(device, 5, StorageChoice::buffer, Precision::fp16, totals);
  EXPECT_EQ(device.validation_messages(), 0u);
  EXPECT_LT(totals.all, totals.none) << "the ways do save something";
}

}  // namespace
}  // namespace vellum::test

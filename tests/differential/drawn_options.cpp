#include "differential/drawn_options.hpp"

#include <iterator>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "vellum/planner/plan.hpp"

namespace vellum::test {
namespace {

template <typename Strategy, typename Random>
std::string drawn_strategy(std::span<const Strategy> strategies, Random& random) {
  return std::string(planner::name(strategies[random() % strategies.size()]));
}

}  // namespace

SessionOptions drawn_options(uint32_t seed, bool allow_fp16) {
  std::mt19937 random(seed ^ 0x5EED0000u);
  constexpr StorageChoice storages[] = {StorageChoice::automatic, StorageChoice::buffer,
                                        StorageChoice::image2d, StorageChoice::image3d};
  constexpr MemoryMode modes[] = {MemoryMode::shared_objects, MemoryMode::naive, MemoryMode::offsets};
  SessionOptions options;
  options.storage = storages[random() % std::size(storages)];
  options.memory = modes[random() % std::size(modes)];
  options.planning.search_ms = 1;
  if (options.memory == MemoryMode::shared_objects)
    options.planning.strategy = drawn_strategy(planner::all_object_strategies(), random);
  if (options.memory == MemoryMode::offsets)
    options.planning.strategy = drawn_strategy(planner::all_offset_strategies(), random);
  options.planning.in_place = random() % 2;
  options.planning.views = random() % 2;
  options.planning.reorder = random() % 2;
  options.tasks_per_submit = static_cast<uint32_t>(random() % 3);
  options.in_flight = 1 + static_cast<uint32_t>(random() % 2);
  // No pass, one of them, or every other one.
  const std::vector<std::string> passes = graph_passes();
  switch (random() % 4) {
    case 0:
      options.debug.disabled_passes = {passes[random() % passes.size()]};
      break;
    case 1:
      for (const std::string& pass : passes)
        if (random() % 2) options.debug.disabled_passes.push_back(pass);
      break;
    default:
      break;
  }
  if (random() % 8 == 0 && allow_fp16) options.precision = Precision::fp16;
  return options;
}

std::string describe(const SessionOptions& options) {
  std::ostringstream text;
  text << (options.precision == Precision::fp16 ? "fp16" : "fp32") << ", storage "
       << static_cast<int>(options.storage) << ", memory " << static_cast<int>(options.memory)
       << ", strategy " << options.planning.strategy << ", in_place " << options.planning.in_place
       << ", views " << options.planning.views << ", reorder " << options.planning.reorder
       << ", tasks per submit " << options.tasks_per_submit << ", in flight " << options.in_flight
       << ", without";
  for (const std::string& pass : options.debug.disabled_passes) text << ' ' << pass;
  return text.str();
}

}  // namespace vellum::test

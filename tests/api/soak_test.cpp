// Inferences, sessions, shapes, threads and cache files for a long time: the results stay, and so do memory,
// file descriptors and Vulkan objects. VELLUM_SOAK_SECONDS says for how long; the counts are printed.
#include <gtest/gtest.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "api/impl.hpp"
#include "platform/process_memory.hpp"
#include "public_interface.hpp"
#include "small_model.hpp"
#include "support/temp_folder.hpp"
#include "support/tensors.hpp"
#include "vulkan/fault_layer.hpp"

namespace vellum::test {
namespace {

using Clock = std::chrono::steady_clock;

std::chrono::seconds duration() {
  int seconds = 4;
  if (const char* given = std::getenv("VELLUM_SOAK_SECONDS"))
    std::from_chars(given, given + std::string_view(given).size(), seconds);
  return std::chrono::seconds(seconds);
}

// Where the system lists them; else 0.
size_t open_files() {
  std::error_code error;
  const std::filesystem::directory_iterator files("/proc/self/fd", error);
  return error ? 0 : static_cast<size_t>(std::distance(begin(files), end(files)));
}

struct Held {
  uint64_t sessions = 0, resident_bytes = 0;
  size_t files = 0;
  std::map<std::string, int64_t> objects;
};

class Soak : public testing::Test {
 protected:
  Soak() {
    for (int64_t width = 5; width < 9; ++width) {
      inputs.push_back(random_tensor({1, 3, 6, width}, static_cast<uint32_t>(width)));
      wanted.push_back(Session(device, model).run({{"x", inputs.back()}}).at("y"));
    }
  }

  Device open() {
    DeviceOptions options = device_options();
    options.validation = false;  // it has objects of its own
    options.cache_folder = folder.path();
    Device opened = Device::open(options);
    gpu::ContextOptions context = impl(opened)->context->options();
    context.get_instance_proc_addr = layer.get_instance_proc_addr();
    impl(opened)->context = gpu::Context::create(context);
    ++devices;
    return opened;
  }

  // A session of a random kind, with runs of random shapes, some of one shape after the other.
  void use_a_session(std::mt19937& random) {
    constexpr StorageChoice storages[] = {StorageChoice::automatic, StorageChoice::buffer,
                                          StorageChoice::image2d};
    const StorageChoice storage = storages[random() % 3];
    Session session(device, model,
                    {.storage = storage,
                     .memory = random() % 2 ? MemoryMode::shared_objects : MemoryMode::offsets,
                     .cached_shapes = 1 + static_cast<uint32_t>(random() % 3),
                     .tasks_per_submit = static_cast<uint32_t>(random() % 3),
                     .in_flight = 2});
    ++sessions;
    size_t shape = 0;
    for (int run = 0; run < 50; ++run) {
      if (run % 8 == 0) shape = random() % inputs.size();
      const Tensor y = random() % 2 ? session.run({{"x", inputs[shape]}}).at("y")
                                    : session.submit({{"x", inputs[shape]}}).output("y");
      ++inferences;
      if (storage == StorageChoice::automatic)
        EXPECT_TRUE(same_bits(y, wanted[shape]));
      else  // which may sum in another order
        EXPECT_TRUE(close(y, wanted[shape], 1e-5));
    }
  }

  void use_threads(std::mt19937& random) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i)
      threads.emplace_back([this, seed = random()] {
        std::mt19937 own(static_cast<uint32_t>(seed));
        use_a_session(own);
      });
    for (std::thread& thread : threads) thread.join();
  }

  Held held() const {
    return {sessions, platform::process_memory().value_or(platform::ProcessMemory{}).resident, open_files(),
            layer.live_objects()};
  }

  FaultLayer layer;
  TempFolder folder;
  uint64_t devices = 0;
  Device device = open();
  Model model = load(small_model({1, 3, kUnknownDim, kUnknownDim}));
  std::vector<Tensor> inputs, wanted;
  std::atomic<uint64_t> inferences = 0, sessions = 0;
};

TEST_F(Soak, KeepsResultsMemoryFilesAndObjects) {
  std::mt19937 random(1);
  const Clock::time_point begin = Clock::now(), end = begin + duration();
  Held warm;
  bool is_warm = false;
  while (Clock::now() < end || !is_warm) {
    use_a_session(random);
    if (sessions % 10 == 0) use_threads(random);
    if (sessions % 25 == 0) device = open();  // the caches on disk have what it needs
    if (!is_warm && sessions > 60 && Clock::now() > begin + duration() / 3) {
      is_warm = true;
      device = open();
      warm = held();
    }
  }
  device = open();
  const Held now = held();
  EXPECT_EQ(now.files, warm.files);
  EXPECT_EQ(now.objects, warm.objects);
  // Allocators of the system and of drivers keep some of what threads have freed, now more and now less.
  // Those of sanitizers keep more, and find leaks themselves.
  constexpr uint64_t kKept = uint64_t{24} << 20;
  EXPECT_TRUE(under_sanitizer() || now.resident_bytes < warm.resident_bytes + kKept) << now.resident_bytes;
  std::cout << sessions << " sessions, " << inferences << " inferences, " << devices << " devices; from "
            << warm.sessions << " sessions on the process grew by "
            << static_cast<int64_t>(now.resident_bytes - warm.resident_bytes) / 1024 << " KiB\n";
}

}  // namespace
}  // namespace vellum::test

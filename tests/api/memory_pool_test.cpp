// Sessions that share the memory of their intermediate tensors, and sessions that give memory back.
#include <gtest/gtest.h>

#include <thread>

#include "api/impl.hpp"
#include "detection_model.hpp"
#include "glslang_tables.hpp"
#include "public_interface.hpp"
#include "small_model.hpp"
#include "support/errors.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

using Tensors = std::map<std::string, Tensor>;

bool equal(const Tensors& a, const Tensors& b) {
  return std::ranges::equal(
      a, b, [](const auto& x, const auto& y) { return x.first == y.first && same_bits(x.second, y.second); });
}

class MemoryPoolTest : public testing::Test {
 protected:
  Device device = Device::open(device_options());
  const Shape small_input{1, 3, 9, 11}, large_input{1, 3, 40, 37};
  Model small = load(small_model(small_input)), large = load(small_model(large_input));

  static Tensors x(const Shape& shape, uint32_t seed) { return {{"x", random_tensor(shape, seed)}}; }
  gpu::MemoryUse memory(gpu::MemoryCategory category) const {
    return impl(device)->context->memory_statistics().of(category);
  }
  uint64_t intermediates() const { return memory(gpu::MemoryCategory::intermediates).bytes; }
  // The device bytes of a session alone.
  uint64_t needed(const Model& model, const SessionOptions& options = {}) {
    return Session(device, model, options).memory().allocated_bytes;
  }
  Tensors wanted(const Model& model, const Tensors& inputs) { return Session(device, model).run(inputs); }
};

TEST_F(MemoryPoolTest, SessionsNeedAsMuchAsTheLargest) {
  const uint64_t largest = needed(large);
  ASSERT_GT(largest, needed(small));
  for (const MemoryMode mode : {MemoryMode::shared_objects, MemoryMode::offsets, MemoryMode::naive}) {
    const MemoryPool pool(device);
    EXPECT_TRUE(pool.valid());
    EXPECT_EQ(pool.bytes(), 0u);
    const SessionOptions options{.memory = mode, .memory_pool = pool};
    Session first(device, large, options), second(device, small, options);
    EXPECT_EQ(pool.bytes(), needed(large, {.memory = mode}));
    EXPECT_EQ(intermediates(), pool.bytes());
    EXPECT_EQ(second.memory().allocated_bytes, pool.bytes());
    for (uint32_t seed = 0; seed < 3; ++seed) {
      EXPECT_TRUE(equal(second.run(x(small_input, seed)), wanted(small, x(small_input, seed))));
      EXPECT_TRUE(equal(first.run(x(large_input, seed)), wanted(large, x(large_input, seed))));
    }
  }
  EXPECT_EQ(intermediates(), 0u);
}

TEST_F(MemoryPoolTest, LargerMemoryReplacesTheSmaller) {
  const Tensors want_small = wanted(small, x(small_input, 1)), want_large = wanted(large, x(large_input, 2));
  const uint64_t largest = needed(large), least = needed(small);
  const uint64_t peak = memory(gpu::MemoryCategory::intermediates).peak_bytes;
  const MemoryPool pool(device);
  Session first(device, small, {.memory_pool = pool});
  EXPECT_EQ(pool.bytes(), least);
  {
    Session second(device, large, {.memory_pool = pool});
    EXPECT_EQ(intermediates(), largest);
    EXPECT_TRUE(equal(first.run(x(small_input, 1)), want_small));
    EXPECT_TRUE(equal(second.run(x(large_input, 2)), want_large));
    EXPECT_EQ(intermediates(), largest);
  }
  EXPECT_TRUE(equal(first.run(x(small_input, 1)), want_small));
  EXPECT_EQ(pool.bytes(), least) << "what only the larger session needed is still there";
  EXPECT_LE(memory(gpu::MemoryCategory::intermediates).peak_bytes, std::max(peak, largest));
}

TEST_F(MemoryPoolTest, OverlappingRunsComputeWhatSingleOnesDo) {
  const MemoryPool pool(device);
  Session first(device, small, {.memory_pool = pool, .in_flight = 2});
  Session second(device, large, {.memory_pool = pool, .max_submit_ms = 1});
  EXPECT_EQ(intermediates(), needed(large)) << "runs in flight have their own";
  std::vector<vellum::Run> runs;
  for (uint32_t seed = 0; seed < 4; ++seed) {
    runs.push_back(first.submit(x(small_input, seed)));
    runs.push_back(second.submit(x(large_input, seed)));
  }
  for (uint32_t seed = 4; seed-- > 0;) {
    EXPECT_TRUE(equal(runs[2 * seed + 1].outputs(), wanted(large, x(large_input, seed)))) << seed;
    EXPECT_TRUE(equal(runs[2 * seed].outputs(), wanted(small, x(small_input, seed)))) << seed;
  }
}

TEST_F(MemoryPoolTest, ServesSeveralThreads) {
  const MemoryPool pool(device);
  const auto work = [&](const Model& model, const Shape& shape, const Tensors& want) {
    Session session(device, model, {.memory_pool = pool});
    for (int i = 0; i < 20; ++i) {
      if (i % 7 == 3) session.trim();
      if (i % 9 == 5) pool.trim();
      EXPECT_TRUE(equal(session.run(x(shape, 1)), want));
    }
  };
  const Tensors want_small = wanted(small, x(small_input, 1)), want_large = wanted(large, x(large_input, 1));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back(
        [&, i] { i % 2 ? work(small, small_input, want_small) : work(large, large_input, want_large); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(intermediates(), 0u) << "memory without a session";
}

TEST_F(MemoryPoolTest, OperatorsOnTheHostReadWhatTheirRunComputed) {
  DeviceOptions options = device_options();
  options.log = {};  // the warning that operators run on the host
  device = Device::open(options);
  const Model detector = load(detection_model());
  const Tensors image{{"image", random_tensor({1, 3, 6, 5}, 4)}};
  const MemoryPool pool(device);
  Session first(device, detector, {.memory_pool = pool}), second(device, small, {.memory_pool = pool});
  const vellum::Run detection = first.submit(image);
  const vellum::Run other = second.submit(x(small_input, 1));
  EXPECT_TRUE(equal(detection.outputs(), wanted(detector, image)));
  EXPECT_TRUE(equal(other.outputs(), wanted(small, x(small_input, 1))));
}

TEST_F(MemoryPoolTest, StreamedWeightsSharePoolsToo) {
  const MemoryPool pool(device);
  Session streamed(device, large, {.memory_pool = pool, .weights_budget = 4096});
  Session other(device, small, {.memory_pool = pool});
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(equal(streamed.run(x(large_input, 5)), wanted(large, x(large_input, 5))));
    EXPECT_TRUE(equal(other.run(x(small_input, 5)), wanted(small, x(small_input, 5))));
    streamed.trim(TrimLevel::weights);
  }
}

TEST_F(MemoryPoolTest, CanRefuseOverlappingRuns) {
  const MemoryPool pool(device, {.overlap = PoolOverlap::refuse});
  Session first(device, small, {.memory_pool = pool}), second(device, large, {.memory_pool = pool});
  const vellum::Run run = first.submit(x(small_input, 1));
  EXPECT_VELLUM_ERROR(second.submit(x(large_input, 1)), ErrorCode::invalid_argument, "memory pool",
                      "under way");
  run.wait();
  EXPECT_TRUE(equal(second.run(x(large_input, 1)), wanted(large, x(large_input, 1))));
}

TEST_F(MemoryPoolTest, IsOfOneDevice) {
  const Device other = Device::open(device_options());
  EXPECT_VELLUM_ERROR(Session(device, small, {.memory_pool = MemoryPool(other)}), ErrorCode::invalid_argument,
                      "memory pool", "another device");
  EXPECT_FALSE(MemoryPool().valid());
  EXPECT_EQ(MemoryPool().bytes(), 0u);
  MemoryPool().trim();
}

TEST_F(MemoryPoolTest, TheShapesOfASessionShareTheirMemory) {
  const Model open = load(small_model({1, 3, kUnknownDim, kUnknownDim}));
  Session session(device, open);
  session.prepare({{"x", small_input}});
  session.prepare({{"x", large_input}});
  EXPECT_EQ(intermediates(), needed(large));
  EXPECT_TRUE(equal(session.run(x(small_input, 1)), wanted(small, x(small_input, 1))));
  EXPECT_TRUE(equal(session.run(x(large_input, 1)), wanted(large, x(large_input, 1))));
  EXPECT_EQ(intermediates(), needed(large));
}

TEST_F(MemoryPoolTest, ATrimmedSessionComesBack) {
  const Tensors in = x(large_input, 3), want = wanted(large, in);
  Session session(device, large);
  const uint64_t before = memory(gpu::MemoryCategory::weights).bytes;
  const MemoryReport full = session.memory();
  for (const TrimLevel level : {TrimLevel::intermediates, TrimLevel::weights, TrimLevel::weights}) {
    EXPECT_TRUE(equal(session.run(in), want));
    session.trim(level);
    EXPECT_EQ(intermediates(), 0u);
    EXPECT_EQ(memory(gpu::MemoryCategory::weights).bytes, level == TrimLevel::weights ? 0 : before);
    EXPECT_EQ(session.memory().allocated_bytes, 0u);
    EXPECT_TRUE(same_bits(session.output("y"), want.at("y"))) << "the last output";
    session.run();
    EXPECT_TRUE(same_bits(session.output("y"), want.at("y"))) << "with the input of before";
    EXPECT_EQ(session.memory().allocated_bytes, full.allocated_bytes);
    EXPECT_EQ(session.memory().weights_bytes, full.weights_bytes);
  }
}

TEST_F(MemoryPoolTest, TrimKeepsTheWeightsOfOtherSessions) {
  Session session(device, large), other(device, large);
  const uint64_t before = memory(gpu::MemoryCategory::weights).bytes;
  session.trim(TrimLevel::weights);
  EXPECT_EQ(memory(gpu::MemoryCategory::weights).bytes, before);
  EXPECT_TRUE(equal(other.run(x(large_input, 3)), wanted(large, x(large_input, 3))));
  EXPECT_TRUE(equal(session.run(x(large_input, 3)), wanted(large, x(large_input, 3))));
}

TEST_F(MemoryPoolTest, TrimFreesEarlierShapesAndWaitsForRuns) {
  const Model open = load(small_model({1, 3, kUnknownDim, kUnknownDim}));
  Session session(device, open);
  session.trim();  // of nothing
  session.prepare({{"x", large_input}});
  const vellum::Run run = session.submit(x(small_input, 1));
  session.trim();
  EXPECT_EQ(memory(gpu::MemoryCategory::in_out).bytes, session.memory().in_out_bytes);
  EXPECT_TRUE(equal(run.outputs(), wanted(small, x(small_input, 1))));
  EXPECT_TRUE(equal(session.run(x(large_input, 1)), wanted(large, x(large_input, 1))));
}

TEST_F(MemoryPoolTest, AFreedPoolComesBackWithTheNextRun) {
  const MemoryPool pool(device);
  Session first(device, small, {.memory_pool = pool}), second(device, large, {.memory_pool = pool});
  pool.trim();
  EXPECT_EQ(intermediates(), 0u);
  EXPECT_TRUE(equal(first.run(x(small_input, 1)), wanted(small, x(small_input, 1))));
  EXPECT_EQ(pool.bytes(), needed(large)) << "not again for the next session";
  EXPECT_TRUE(equal(second.run(x(large_input, 1)), wanted(large, x(large_input, 1))));
}

}  // namespace
}  // namespace vellum::test

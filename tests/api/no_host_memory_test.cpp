// The host's memory is at its end at any call of operator new: one clear error, nothing leaked, and what was
// made before still works.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "counted_new.hpp"
#include "public_interface.hpp"
#include "small_model.hpp"
#include "support/temp_folder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

// Does the work again and again, each time with another call of operator new that fails, until none does.
// Long works skip some calls. Returns how often a call failed.
template <typename Work>
uint32_t fail_each_call(const Work& work, uint64_t calls_at_most = 400) {
  uint64_t all = 0;
  {
    const CountedNew counted;
    work();
    all = counted.calls();
  }
  uint32_t failures = 0;
  const uint64_t step = std::max<uint64_t>(1, all / calls_at_most);
  for (uint64_t call = 1; call <= all; call += step) {
    const CountedNew counted(call);
    try {
      work();
    } catch (const Error& error) {
      ++failures;
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << "call " << call << ": " << error.what();
    }
  }
  return failures;
}

// The parser of protobuf loses the object that it was adding.
TEST(NoHostMemory, IsAnErrorOfLoadingThatLeaksNothingOfVellums) {
  const std::string bytes = small_model().bytes();
  const auto load_bytes = [&] { Model::load(as_bytes(bytes)); };
  load_bytes();  // what is kept for the whole program
  const int64_t before = live_blocks();
  const uint32_t failures = fail_each_call(load_bytes);
  EXPECT_GT(failures, 100u);
  EXPECT_LT(live_blocks(), before + failures / 10);
}

TEST(NoHostMemory, IsAnErrorOfCompilingThatLeaksNothing) {
  const Model model = load(small_model());
  const auto compile = [&] { describe(model, "barriers"); };
  compile();
  const int64_t before = live_blocks();
  EXPECT_GT(fail_each_call(compile), 100u);
  EXPECT_EQ(live_blocks(), before);
}

TEST(NoHostMemory, IsAnErrorOfSessionsAndTheNextOneWorks) {
  const TempFolder folder;
  DeviceOptions options = device_options();
  options.validation = false;
  options.cache_folder = folder.path();  // so that shaders are compiled once
  const Device device = Device::open(options);
  const Model model = load(small_model());
  const std::map<std::string, Tensor> inputs{{"x", random_tensor({1, 3, 9, 11}, 1)}};
  const Tensor want = Session(device, model).run(inputs).at("y");
  std::optional<Tensor> got;
  EXPECT_GT(fail_each_call([&] { got = Session(device, model).run(inputs).at("y"); }), 100u);
  EXPECT_TRUE(same_bits(Session(device, model).run(inputs).at("y"), want));
}

TEST(NoHostMemory, IsAnErrorOfARunAndTheNextOneWorks) {
  DeviceOptions options = device_options();
  options.validation = false;
  const Device device = Device::open(options);
  Session session(device, load(small_model()));
  const std::map<std::string, Tensor> inputs{{"x", random_tensor({1, 3, 9, 11}, 1)}};
  const Tensor want = session.run(inputs).at("y");
  EXPECT_GT(fail_each_call([&] { session.run(inputs); }), 0u);
  EXPECT_TRUE(same_bits(session.run(inputs).at("y"), want));
  EXPECT_GT(fail_each_call([&] { session.submit(inputs).wait(); }), 0u);
  EXPECT_TRUE(same_bits(session.run(inputs).at("y"), want));
}

}  // namespace
}  // namespace vellum::test

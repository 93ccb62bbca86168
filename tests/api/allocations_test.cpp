// A session that is warm takes no memory from the host to run.
// The validation layer, which is C++ and takes memory in every call, is off here.
#include <gtest/gtest.h>

#include <new>
#include <vector>

#include "counted_new.hpp"
#include "public_interface.hpp"
#include "small_model.hpp"
#include "vellum/vellum.hpp"

namespace vellum::test {
namespace {

// How often operator new is called on this thread.
template <typename Function>
uint64_t allocations_of(Function&& function) {
  const CountedNew counted;
  function();
  return counted.calls();
}

Device unvalidated_device() {
  DeviceOptions options = device_options();
  options.validation = false;
  return Device::open(options);
}

std::span<const std::byte> bytes_of(const std::vector<float>& values) {
  return std::as_bytes(std::span(values));
}

TEST(Allocations, TheCountCounts) {
  EXPECT_EQ(allocations_of([] { ::operator delete(::operator new(1)); }), 1u);
  EXPECT_EQ(allocations_of([] {}), 0u);
}

TEST(Allocations, WarmRunsTakeNoMemory) {
  const Device device = unvalidated_device();
  const Model model = load(small_model());
  for (const Precision precision : {Precision::fp32, Precision::fp16})
    for (const uint32_t tasks_per_submit : {0u, 1u}) {
      Session session(device, model, {.precision = precision, .tasks_per_submit = tasks_per_submit});
      std::vector<float> x(3 * 9 * 11, 0.5f), first(2 * 4 * 5), y(first.size());
      const auto run = [&](std::vector<float>& result) {
        session.set_input("x", bytes_of(x));
        session.run();
        session.output("y", std::as_writable_bytes(std::span(result)));
      };
      run(first);
      EXPECT_EQ(allocations_of([&] {
                  for (int i = 0; i < 5; ++i) run(y);
                }),
                0u);
      EXPECT_EQ(y, first);
      EXPECT_NE(y, std::vector<float>(y.size(), 0.0f));
    }
}

TEST(Allocations, WarmSubmitsTakeNoMemory) {
  const Device device = unvalidated_device();
  Session session(device, load(small_model()), {.in_flight = 3});
  std::vector<float> x(3 * 9 * 11, 0.5f);
  std::vector<std::vector<float>> y(3, std::vector<float>(2 * 4 * 5));
  const InputValues input{"x", bytes_of(x)};
  std::vector<vellum::Run> runs(3);
  const auto run = [&](size_t place) {
    if (runs[place].valid()) runs[place].wait();
    const OutputValues output{"y", std::as_writable_bytes(std::span(y[place]))};
    runs[place] = session.submit({&input, 1}, {&output, 1});
    runs[place].done();
  };
  for (size_t i = 0; i < 6; ++i) run(i % 3);
  const std::vector<float> first = y[0];
  EXPECT_EQ(allocations_of([&] {
              for (size_t i = 0; i < 9; ++i) run(i % 3);
              for (vellum::Run& each : runs) each.wait();
            }),
            0u);
  EXPECT_EQ(y[2], first);
  EXPECT_NE(first, std::vector<float>(first.size(), 0.0f));
}

}  // namespace
}  // namespace vellum::test

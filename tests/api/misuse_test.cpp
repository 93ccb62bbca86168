// Mistakes of applications that Vellum can see: each is an error with a clear sentence, and none ends the
// process.
#include "misuse.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "vellum/caps.hpp"
#include "vellum/estimate.hpp"
#include "vellum/frame.hpp"
#include "vellum/kernel_check.hpp"
#include "vellum/kernels.hpp"
#include "vellum/large_pictures.hpp"
#include "vellum/memory_frontier.hpp"
#include "vellum/memory_pool.hpp"
#include "vellum/pack.hpp"
#include "vellum/picture.hpp"
#include "vellum/plan.hpp"
#include "vellum/tune.hpp"

namespace vellum::test {
namespace {

TEST_F(Misuse, TensorsThatHoldNothing) {
  Tensor tensor = input();
  const Tensor moved(std::move(tensor));
  OnnxModel scalar;
  scalar.input("x", {}).node("Relu", {"x"}, {"y"}).output("y");
  for (const Tensor& none : {tensor, Tensor()}) {  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(none.elements(), 0);
    EXPECT_EQ(none.byte_size(), 0u);
    EXPECT_EQ(none.data(), nullptr);
    EXPECT_EQ(Tensor(none).mutable_data(), nullptr);
    EXPECT_TRUE(none.as<float>().empty());
    EXPECT_TRUE(
        throws_error([&] { (void)none.to_floats(); }, ErrorCode::invalid_argument, {"holds nothing"}));
    EXPECT_TRUE(throws_error([&] { (void)none.to_ints(); }, ErrorCode::invalid_argument, {"holds nothing"}));
    EXPECT_TRUE(throws_error([&] { (void)none.reshaped({1}); }, ErrorCode::invalid_argument, {}));
    Session session(device, load(scalar));
    EXPECT_VELLUM_ERROR(session.set_input("x", none), ErrorCode::invalid_argument, "'x'", "holds nothing");
    EXPECT_VELLUM_ERROR(session.run({{"x", none}}), ErrorCode::invalid_argument, "'x'", "holds nothing");
    EXPECT_VELLUM_ERROR(session.submit({{"x", none}}), ErrorCode::invalid_argument, "'x'", "holds nothing");
    EXPECT_VELLUM_ERROR(session.try_submit({{"x", none}}), ErrorCode::invalid_argument, "'x'",
                        "holds nothing");
    EXPECT_VELLUM_ERROR(Session(device, model, {.input_values = {{"x", none}}}), ErrorCode::invalid_argument,
                        "'x'", "holds nothing");
  }
}

TEST_F(Misuse, ModelsAtNull) {
  const std::span<const std::byte> null(static_cast<const std::byte*>(nullptr), 100);
  EXPECT_VELLUM_ERROR(Model::load(null), ErrorCode::invalid_argument, "null");
  EXPECT_VELLUM_ERROR(Model::load(null, LoadLimits{}, "serving_default"), ErrorCode::invalid_argument,
                      "null");
  EXPECT_VELLUM_ERROR(Model::load(std::shared_ptr<const std::byte>(), 100), ErrorCode::invalid_argument,
                      "null");
  EXPECT_VELLUM_ERROR(pack(
                          null, [](std::span<const std::byte>) {}, Caps::android_baseline_2022()),
                      ErrorCode::invalid_argument, "null");
  EXPECT_TRUE(
      throws_error([] { (void)Model::load(std::span<const std::byte>()); }, ErrorCode::corrupt_model, {}));
  EXPECT_TRUE(throws_error([] { (void)Model::load(std::shared_ptr<const std::byte>(), 0); },
                           ErrorCode::corrupt_model, {}));
}

TEST_F(Misuse, ChoicesOutOfRange) {
  const auto session = [&](const char* name, auto SessionOptions::*member) {
    SessionOptions options;
    options.*member = std::remove_reference_t<decltype(options.*member)>(77);
    for (const Call& each : std::vector<Call>{
             {"Session", [&] { Session(device, model, options); }},
             {"describe", [&] { describe(model, "program", options); }},
             {"estimate_memory", [&] { estimate_memory(model, options, device); }},
             {"memory_frontier", [&] { memory_frontier(model, options, device); }},
             {"kernels", [&] { kernels(device, model, options); }},
             {"predicted_kernels", [&] { predicted_kernels(device, model, options); }},
             {"tune", [&] { tune(device, model, options); }},
             {"planned_memory", [&] { planned_memory(model, options); }},
             {"LargePicture",
              [&] {
                LargePictureOptions large;
                large.session = options;
                LargePicture(device, model, large);
              }},
             {"pack",
              [&] {
                pack(
                    as_bytes(bytes), [](std::span<const std::byte>) {}, Caps::android_baseline_2022(),
                    options);
              }},
         })
      EXPECT_TRUE(throws_error(each.call, ErrorCode::invalid_argument, {name, "has no value 77"}))
          << each.name << " " << name;
  };
  session("precision", &SessionOptions::precision);
  session("arithmetic", &SessionOptions::arithmetic);
  session("storage", &SessionOptions::storage);
  session("memory", &SessionOptions::memory);
  session("winograd", &SessionOptions::winograd);
  EXPECT_VELLUM_ERROR(Device::open({.global_priority = static_cast<GlobalPriority>(9)}),
                      ErrorCode::invalid_argument, "global_priority");
  EXPECT_VELLUM_ERROR(Device::open({.self_check = static_cast<SelfCheck>(9)}), ErrorCode::invalid_argument,
                      "self_check");
  EXPECT_VELLUM_ERROR(MemoryPool(device, {static_cast<PoolOverlap>(9)}), ErrorCode::invalid_argument,
                      "overlap");
  EXPECT_VELLUM_ERROR(Session(device, model).trim(static_cast<TrimLevel>(9)), ErrorCode::invalid_argument,
                      "TrimLevel");
  EXPECT_VELLUM_ERROR(Tensor(static_cast<DType>(99), {1}), ErrorCode::invalid_argument,
                      "DType has no value 99");
  const auto frame = [&](const char* name, auto FrameInput::*member) {
    FrameInput input{.width = 11, .height = 9};
    input.*member = std::remove_reference_t<decltype(input.*member)>(77);
    EXPECT_VELLUM_ERROR(with_frames(model, "x", input), ErrorCode::invalid_argument, name, "has no value 77");
  };
  frame("format", &FrameInput::format);
  frame("matrix", &FrameInput::matrix);
  frame("range", &FrameInput::range);
  frame("filter", &FrameInput::filter);
  const auto picture = [&](const char* name, auto PictureOutput::*member) {
    PictureOutput output;
    output.*member = std::remove_reference_t<decltype(output.*member)>(77);
    EXPECT_VELLUM_ERROR(with_picture(model, "y", output), ErrorCode::invalid_argument, name,
                        "has no value 77");
  };
  picture("colors", &PictureOutput::colors);
  picture("filter", &PictureOutput::filter);
  picture("channels", &PictureOutput::channels);
}

// What functions of the application throw, and what becomes of it.
struct Thrown {
  std::function<void()> raise;
  ErrorCode code;
  const char* text;
};

std::vector<Thrown> all_thrown() {
  return {{[] { throw std::runtime_error("the disk is full"); }, ErrorCode::cancelled, "the disk is full"},
          {[] { throw 7; }, ErrorCode::cancelled, "no std::exception"},
          {[] { throw "text"; }, ErrorCode::cancelled, "no std::exception"},
          {[] { throw std::bad_alloc(); }, ErrorCode::out_of_memory, "memory"},
          {[] { throw Error(ErrorCode::io, "mine"); }, ErrorCode::io, "mine"}};
}

TEST_F(Misuse, WhatFunctionsOfTheApplicationThrowEndsTheCall) {
  LargePictureOptions whole;
  whole.session.input_shapes = {{"x", {1, 3, 12, 12}}};
  OnnxModel local;
  local.input("x", {1, 3, kUnknownDim, kUnknownDim}).node("Relu", {"x"}, {"y"}).output("y");
  LargePicture picture(device, load(local), whole);
  const LargePicture::ReadRegion read = [](const PictureRegion&, std::span<std::byte>) {};
  const LargePicture::WriteRegion write = [](const PictureRegion&, std::span<const std::byte>) {};
  for (const Thrown& thrown : all_thrown()) {
    const auto raise = thrown.raise;
    const auto ends = [&](const char* name, const std::function<void()>& call) {
      EXPECT_TRUE(throws_error(call, thrown.code, {thrown.text})) << name;
    };
    ends("pack", [&] {
      pack(
          as_bytes(bytes), [&](std::span<const std::byte>) { raise(); }, Caps::android_baseline_2022());
    });
    ends("read", [&] { picture.run([&](const auto&, auto) { raise(); }, write); });
    ends("write", [&] { picture.run(read, [&](const auto&, auto) { raise(); }); });
    ends("progress of a picture", [&] {
      picture.run(read, write, [&](size_t, size_t) {
        raise();
        return true;
      });
    });
    ends("check_kernels", [&] {
      check_kernels(device, {.only = "Relu", .progress = [&](size_t, size_t) {
                               raise();
                               return true;
                             }});
    });
    ends("memory_frontier", [&] {
      memory_frontier(model, {}, device, {.budgets = {}, .progress = [&](size_t, size_t) { raise(); }});
    });
    TuneOptions tuning;
    tuning.storages = false;
    tuning.progress = [&](const TuneProgress&) { raise(); };
    ends("tune", [&] { tune(device, model, {}, tuning); });
  }
  EXPECT_NO_THROW(picture.run(read, write));
}

// In the lock of the queue one thread is inside a function of the session, while the test calls another.
TEST_F(Misuse, TwoThreadsInOneSession) {
  std::function<void()> meanwhile;
  VulkanDevice mine = app.device();
  mine.compute.lock = [&] {
    if (auto call = std::exchange(meanwhile, {})) call();
  };
  mine.compute.unlock = [] {};
  Session session(Device::adopt(mine, adopt_options()), model, {.in_flight = 3, .profile = true});
  const Tensor x = input();
  const InputValues in{"x", {x.data(), x.byte_size()}};
  const Tensor want = session.run({{"x", x}}).at("y");
  std::vector<std::byte> y(want.byte_size());
  const auto refused = [&](const char* name, const std::function<void()>& call) {
    for (const bool in_submit : {false, true}) {
      bool called = false;
      meanwhile = [&] {
        called = true;
        std::thread([&] {
          EXPECT_TRUE(throws_error(call, ErrorCode::invalid_argument, {"in use by another thread"}))
              << name << (in_submit ? " in submit()" : " in run()");
        }).join();
      };
      if (in_submit) {
        EXPECT_TRUE(same_bits(session.submit({{"x", x}}).output("y"), want));
      } else {
        EXPECT_TRUE(same_bits(session.run({{"x", x}}).at("y"), want));
      }
      EXPECT_TRUE(called);
    }
  };
  refused("run", [&] { session.run(); });
  refused("run of tensors", [&] { session.run({{"x", x}}); });
  refused("set_input", [&] { session.set_input("x", x); });
  refused("set_input of bytes", [&] { session.set_input("x", in.values); });
  refused("prepare", [&] { session.prepare({{"x", {2, 3, 9, 11}}}); });
  refused("output", [&] { session.output("y"); });
  refused("output of bytes", [&] { session.output("y", y); });
  refused("trim", [&] { session.trim(); });
  refused("memory", [&] { session.memory(); });
  refused("layer_times", [&] { session.layer_times(); });
  refused("bind", [&] { session.bind({}, {}); });
  refused("input_buffer", [&] { session.input_buffer("x"); });
  meanwhile = [&] {
    std::thread([&] {
      EXPECT_VELLUM_ERROR(session.submit({{"x", x}}), ErrorCode::invalid_argument, "by another thread");
      EXPECT_VELLUM_ERROR(session.try_submit({{"x", x}}), ErrorCode::invalid_argument, "by another thread");
    }).join();
  };
  EXPECT_TRUE(same_bits(session.run({{"x", x}}).at("y"), want));
  // Submits are allowed beside each other.
  vellum::Run other;
  std::thread beside;
  meanwhile = [&] { beside = std::thread([&] { other = session.submit({{"x", x}}); }); };
  EXPECT_TRUE(same_bits(session.submit({{"x", x}}).output("y"), want));
  beside.join();
  EXPECT_TRUE(same_bits(other.output("y"), want));
}

}  // namespace
}  // namespace vellum::test

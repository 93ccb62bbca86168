// Handles that were moved from: each use is an error that says so, and none ends the process.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "misuse.hpp"
#include "support/errors.hpp"
#include "vellum/caps.hpp"
#include "vellum/estimate.hpp"
#include "vellum/external.hpp"
#include "vellum/frame.hpp"
#include "vellum/kernel_check.hpp"
#include "vellum/kernels.hpp"
#include "vellum/large_pictures.hpp"
#include "vellum/memory_frontier.hpp"
#include "vellum/memory_pool.hpp"
#include "vellum/plan.hpp"
#include "vellum/tune.hpp"

namespace vellum::test {
namespace {

void expect_moved_from(const std::vector<Call>& calls) {
  for (const Call& each : calls) {
    SCOPED_TRACE(each.name);
    EXPECT_VELLUM_ERROR(each.call(), ErrorCode::invalid_argument, "moved from");
  }
}

// What holds nothing since it was made says so in its own words.
void expect_nothing(const std::vector<Call>& calls) {
  for (const Call& each : calls) {
    SCOPED_TRACE(each.name);
    EXPECT_TRUE(throws_error(each.call, ErrorCode::invalid_argument, {}));
  }
}

TEST_F(Misuse, EveryMemberOfASessionThatWasMovedFrom) {
  Session session(device, model);
  const Session moved(std::move(session));
  // NOLINTBEGIN(bugprone-use-after-move)
  const std::map<std::string, Tensor> tensors{{"x", input()}};
  const Tensor x = input();
  const InputValues in{"x", {x.data(), x.byte_size()}};
  std::vector<std::byte> y(160);
  const OutputValues out{"y", y};
  const vk::raii::CommandBuffer commands = app.make_commands();
  expect_moved_from({
      {"inputs", [&] { session.inputs(); }},
      {"outputs", [&] { session.outputs(); }},
      {"prepare", [&] { session.prepare({}); }},
      {"set_input of a tensor", [&] { session.set_input("x", x); }},
      {"set_input of bytes", [&] { session.set_input("x", in.values); }},
      {"run", [&] { session.run(); }},
      {"run of tensors", [&] { session.run(tensors); }},
      {"trim", [&] { session.trim(); }},
      {"output", [&] { session.output("y"); }},
      {"output of bytes", [&] { session.output("y", y); }},
      {"submit",
       [&] {
         session.submit({&in, 1}, {&out, 1});
       }},
      {"submit with semaphores",
       [&] {
         session.submit({&in, 1}, {&out, 1}, SubmitSemaphores{});
       }},
      {"submit of tensors", [&] { session.submit(tensors); }},
      {"try_submit",
       [&] {
         session.try_submit({&in, 1}, {&out, 1});
       }},
      {"try_submit of tensors", [&] { session.try_submit(tensors); }},
      {"record", [&] { session.record(*commands, {}, {}); }},
      {"record of bindings", [&] { session.record(*commands, NetworkBindings{}); }},
      {"bind", [&] { session.bind({}, {}); }},
      {"bind of bindings", [&] { session.bind(NetworkBindings{}); }},
      {"input_buffer", [&] { session.input_buffer("x"); }},
      {"output_buffer", [&] { session.output_buffer("y"); }},
      {"memory", [&] { session.memory(); }},
      {"layer_times", [&] { session.layer_times(); }},
      {"dispatch_count", [&] { session.dispatch_count(); }},
      {"pipeline_count", [&] { session.pipeline_count(); }},
      {"barrier_count", [&] { session.barrier_count(); }},
      {"warnings", [&] { session.warnings(); }},
      {"HardwareFrames", [&] { HardwareFrames(session, "x"); }},
  });
  EXPECT_VELLUM_ERROR(session.run(Recording()), ErrorCode::invalid_argument, "nothing is bound");
  // NOLINTEND(bugprone-use-after-move)
  session = Session(device, model);
  EXPECT_EQ(session.run({{"x", x}}).size(), 1u);
}

TEST_F(Misuse, EveryUseOfADeviceThatWasMovedFrom) {
  Device gone = device;
  const Device moved(std::move(gone));
  // NOLINTBEGIN(bugprone-use-after-move)
  const ExternalMemory memory;
  expect_moved_from({
      {"info", [&] { (void)gone.info(); }},
      {"validation_messages", [&] { (void)gone.validation_messages(); }},
      {"Session", [&] { Session(gone, model); }},
      {"create_async", [&] { Session::create_async(gone, model).get(); }},
      {"describe", [&] { describe(model, "plan", {}, &gone); }},
      {"Caps::of", [&] { (void)Caps::of(gone); }},
      {"MemoryPool", [&] { MemoryPool pool(gone); }},
      {"LargePicture", [&] { LargePicture(gone, model, {}); }},
      {"kernels", [&] { kernels(gone, model); }},
      {"predicted_kernels", [&] { predicted_kernels(gone, model); }},
      {"check_kernels", [&] { check_kernels(gone); }},
      {"tune", [&] { tune(gone, model); }},
      {"forget_tuning", [&] { forget_tuning(gone); }},
      {"estimate_memory", [&] { estimate_memory(model, {}, gone); }},
      {"memory_frontier", [&] { memory_frontier(model, {}, gone); }},
      {"tensor_usage", [&] { tensor_usage(model, {}, &gone); }},
      {"planned_memory", [&] { planned_memory(model, {}, &gone); }},
      {"external_support", [&] { external_support(gone); }},
      {"ExternalBuffer::import", [&] { ExternalBuffer::import(gone, memory, 4, 0); }},
      {"ExternalBuffer::make", [&] { ExternalBuffer::make(gone, 4, 0, ExternalHandleType::opaque_fd); }},
      {"ExternalImage::import", [&] { ExternalImage::import(gone, memory, {}); }},
      {"ExternalImage::make", [&] { ExternalImage::make(gone, {}, ExternalHandleType::opaque_fd); }},
      {"ExternalSemaphore::import", [&] { ExternalSemaphore::import(gone, {}); }},
      {"ExternalSemaphore::make", [&] { ExternalSemaphore::make(gone, ExternalHandleType::opaque_fd); }},
  });
  // NOLINTEND(bugprone-use-after-move)
}

TEST_F(Misuse, EveryUseOfAModelThatWasMovedFrom) {
  Model gone = model;
  const Model moved(std::move(gone));
  // NOLINTBEGIN(bugprone-use-after-move)
  const Caps caps = Caps::android_baseline_2022();
  const FrameInput frame{.width = 11, .height = 9};
  expect_moved_from({
      {"inputs", [&] { (void)gone.inputs(); }},
      {"outputs", [&] { (void)gone.outputs(); }},
      {"signatures", [&] { (void)gone.signatures(); }},
      {"nodes", [&] { (void)gone.nodes(); }},
      {"Session", [&] { Session(device, gone); }},
      {"create_async", [&] { Session::create_async(device, gone).get(); }},
      {"describe", [&] { describe(gone, "graph"); }},
      {"describe with caps", [&] { describe(gone, "graph", {}, caps); }},
      {"with_frames", [&] { (void)with_frames(gone, "x", frame); }},
      {"with_picture", [&] { (void)with_picture(gone, "y", {}); }},
      {"LargePicture", [&] { LargePicture(device, gone, {}); }},
      {"kernels", [&] { kernels(device, gone); }},
      {"predicted_kernels", [&] { predicted_kernels(device, gone); }},
      {"tune", [&] { tune(device, gone); }},
      {"estimate_memory", [&] { estimate_memory(gone, {}, caps); }},
      {"memory_frontier", [&] { memory_frontier(gone, {}, caps); }},
      {"tensor_usage", [&] { tensor_usage(gone); }},
      {"planned_memory", [&] { planned_memory(gone); }},
  });
  // NOLINTEND(bugprone-use-after-move)
}

TEST_F(Misuse, EveryMemberOfOtherHandlesThatWereMovedFrom) {
  // NOLINTBEGIN(bugprone-use-after-move)
  Caps caps = Caps::android_baseline_2022();
  const Caps moved_caps(std::move(caps));
  DeviceRequirements wants = Device::requirements(app.physical());
  const DeviceRequirements moved_wants(std::move(wants));
  LargePictureOptions whole;
  whole.session.input_shapes = {{"x", {1, 3, 12, 12}}};
  OnnxModel local;
  local.input("x", {1, 3, kUnknownDim, kUnknownDim}).node("Relu", {"x"}, {"y"}).output("y");
  LargePicture picture(device, load(local), whole);
  const LargePicture moved_picture(std::move(picture));
  const LargePicture::ReadRegion read = [](const PictureRegion&, std::span<std::byte>) {};
  const LargePicture::WriteRegion write = [](const PictureRegion&, std::span<const std::byte>) {};
  expect_moved_from({
      {"Caps::json", [&] { (void)caps.json(); }},
      {"describe with Caps", [&] { describe(model, "graph", {}, caps); }},
      {"estimate_memory with Caps", [&] { estimate_memory(model, {}, caps); }},
      {"DeviceRequirements::uses", [&] { (void)wants.uses(); }},
      {"DeviceRequirements::extensions", [&] { (void)wants.extensions(); }},
      {"DeviceRequirements::enable_features", [&] { wants.enable_features(nullptr); }},
      {"DeviceRequirements::compute_family", [&] { (void)wants.compute_family(); }},
      {"DeviceRequirements::transfer_family", [&] { (void)wants.transfer_family(); }},
      {"LargePicture::inputs", [&] { (void)picture.inputs(); }},
      {"LargePicture::outputs", [&] { (void)picture.outputs(); }},
      {"LargePicture::tiles", [&] { (void)picture.tiles(); }},
      {"LargePicture::peak_bytes", [&] { (void)picture.peak_bytes(); }},
      {"LargePicture::run", [&] { picture.run(read, write); }},
  });
  // These can be made holding nothing.
  Session session(device, model);
  vellum::Run run = session.submit({{"x", input()}});
  const vellum::Run moved_run(std::move(run));
  SessionCreation creation = Session::create_async(device, model);
  SessionCreation moved_creation(std::move(creation));
  Recording recording;
  const Recording moved_recording(std::move(recording));
  const ExternalBuffer buffer;
  const ExternalImage image;
  const ExternalSemaphore semaphore;
  const vk::raii::CommandBuffer commands = app.make_commands();
  expect_nothing({
      {"Run::done", [&] { (void)run.done(); }},
      {"Run::wait", [&] { run.wait(); }},
      {"Run::wait_for", [&] { (void)run.wait_for({}); }},
      {"Run::cancel", [&] { run.cancel(); }},
      {"Run::output", [&] { (void)run.output("y"); }},
      {"Run::outputs", [&] { (void)run.outputs(); }},
      {"SessionCreation::progress", [&] { (void)creation.progress(); }},
      {"SessionCreation::done", [&] { (void)creation.done(); }},
      {"SessionCreation::wait_for", [&] { (void)creation.wait_for({}); }},
      {"SessionCreation::cancel", [&] { creation.cancel(); }},
      {"SessionCreation::get", [&] { (void)creation.get(); }},
      {"Recording::record", [&] { recording.record(*commands); }},
      {"Recording::submit", [&] { recording.submit({}); }},
      {"Recording::run", [&] { recording.run(); }},
      {"ExternalBuffer::handle", [&] { (void)buffer.handle(); }},
      {"ExternalBuffer::bytes", [&] { (void)buffer.bytes(); }},
      {"ExternalBuffer::data", [&] { (void)buffer.data(); }},
      {"ExternalBuffer::export_memory", [&] { (void)buffer.export_memory(); }},
      {"ExternalImage::handle", [&] { (void)image.handle(); }},
      {"ExternalImage::format", [&] { (void)image.format(); }},
      {"ExternalImage::external_format", [&] { (void)image.external_format(); }},
      {"ExternalImage::export_memory", [&] { (void)image.export_memory(); }},
      {"ExternalSemaphore::handle", [&] { (void)semaphore.handle(); }},
      {"ExternalSemaphore::export_handle", [&] { (void)semaphore.export_handle(); }},
  });
  EXPECT_FALSE(run.valid() || creation.valid() || recording.valid() || buffer.valid() || image.valid() ||
               semaphore.valid());
  MemoryPool pool(device);
  const MemoryPool moved_pool(std::move(pool));
  EXPECT_FALSE(pool.valid());
  EXPECT_EQ(pool.bytes(), 0u);
  pool.trim();
  EXPECT_NO_THROW(Session(device, model, {.memory_pool = pool}));
  // NOLINTEND(bugprone-use-after-move)
}

}  // namespace
}  // namespace vellum::test

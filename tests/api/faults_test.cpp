// Calls of every Vulkan function that can fail, fail once each: in opening a device, preparing and running
// sessions of all kinds, tuning, and closing. Each time there is one clear error or the right result, the
// device works afterwards or says that it is lost, and no object is left.
#include <gtest/gtest.h>

#ifdef __linux__
#include <unistd.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "api/impl.hpp"
#include "glslang_tables.hpp"
#include "public_interface.hpp"
#include "small_model.hpp"
#include "support/environment.hpp"
#include "support/temp_folder.hpp"
#include "support/tensors.hpp"
#include "vellum/external.hpp"
#include "vellum/tune.hpp"
#include "vulkan/fault_layer.hpp"
#include "vulkan_app.hpp"

namespace vellum::test {
namespace {

using Outputs = std::vector<Tensor>;
using Work = std::function<Outputs(const Device&)>;

Tensor input(uint32_t seed, const Shape& shape = {1, 3, 9, 11}) { return random_tensor(shape, seed); }

bool same(const Outputs& a, const Outputs& b) {
  bool same = a.size() == b.size();
  for (size_t i = 0; same && i < a.size(); ++i) same = same_bits(a[i], b[i]);
  return same;
}

ErrorCode code_of(VkResult result) {
  switch (result) {
    case VK_ERROR_DEVICE_LOST:
      return ErrorCode::device_lost;
    case VK_ERROR_INITIALIZATION_FAILED:
      return ErrorCode::no_device;
    default:
      return ErrorCode::out_of_memory;
  }
}

class Faults : public testing::Test {
 protected:
  // Without validation, which makes objects of its own.
  static DeviceOptions options() {
    DeviceOptions options = device_options();
    options.validation = false;
    options.log = nullptr;
    return options;
  }

  Device open(const DeviceOptions& options) const {
    Device device = Device::open(options);
    gpu::ContextOptions context = impl(device)->context->options();
    context.get_instance_proc_addr = layer.get_instance_proc_addr();
    impl(device)->context = gpu::Context::create(context);
    return device;
  }

  // Opens a device and does the work, with one fault; and then the work again without.
  void fail_once(const Fault& fault, const std::function<Device()>& open_device, const Work& work,
                 const Outputs& want) {
    SCOPED_TRACE(fault.function + ", call " + std::to_string(fault.call));
    {
      std::optional<Device> device;
      try {
        layer.start(fault);
        device = open_device();
        EXPECT_TRUE(same(work(*device), want)) << "no error, and another result";
      } catch (const Error& error) {
        EXPECT_TRUE(layer.happened()) << error.what();
        EXPECT_EQ(error.code(), code_of(fault.result)) << error.what();
      }
      injected += layer.happened();
      layer.start();
      if (device) {
        try {
          EXPECT_TRUE(same(work(*device), want)) << "another result after the fault";
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::device_lost) << error.what();
          EXPECT_EQ(fault.result, VK_ERROR_DEVICE_LOST) << error.what();
        }
      }
    }
    for (const auto& [kind, count] : layer.live_objects()) ADD_FAILURE() << kind << ": " << count << " left";
  }

  // The calls of a function that fail: one, which is another for each function and test; with
  // VELLUM_TEST_FULL all of them.
  static std::vector<uint32_t> calls_to_fail(const std::string& function, uint32_t calls) {
    std::vector<uint32_t> chosen;
    if (calls == 0) return chosen;
    if (!in_full()) {
      const char* const test = testing::UnitTest::GetInstance()->current_test_info()->name();
      return {1 + static_cast<uint32_t>(std::hash<std::string>()(test + function) % calls)};
    }
    for (uint32_t call = 1; call <= calls; ++call) chosen.push_back(call);
    return chosen;
  }

  // Lets calls of each function fail over the whole work.
  void fail_everywhere(const std::function<Device()>& open_device, const Work& work) {
    layer.start();
    const Outputs want = work(open_device());
    ASSERT_TRUE(layer.live_objects().empty());
    std::vector<Fault> faults;
    for (Fault fault : FaultLayer::possible_faults())
      for (const uint32_t call : calls_to_fail(fault.function, layer.calls(fault.function))) {
        fault.call = call;
        faults.push_back(fault);
      }
    for (const Fault& fault : faults) {
      fail_once(fault, open_device, work, want);
      if (HasFailure() && std::getenv("VELLUM_TEST_KEEP_GOING") == nullptr) return;
    }
    EXPECT_GT(injected, 20u);
    RecordProperty("faults", std::to_string(injected));
  }
  void fail_everywhere(const Work& work) {
    fail_everywhere([&] { return open(options()); }, work);
  }

  FaultLayer layer;
  uint32_t injected = 0;
};

TEST_F(Faults, InASessionThatRunsAndSubmits) {
  const Model model = load(small_model());
  fail_everywhere([&](const Device& device) {
    Session session(device, model, {.in_flight = 2});
    Outputs outputs{session.run({{"x", input(1)}}).at("y")};
    vellum::Run first = session.submit({{"x", input(2)}}), second = session.submit({{"x", input(3)}});
    second.wait();
    first.wait();
    outputs.push_back(first.output("y"));
    outputs.push_back(second.output("y"));
    return outputs;
  });
}

TEST_F(Faults, InImagesOfOtherShapesWithTimes) {
  const Model model = load(small_model({1, 3, kUnknownDim, kUnknownDim}));
  fail_everywhere([&](const Device& device) {
    Session session(device, model,
                    {.storage = StorageChoice::image2d, .memory = MemoryMode::offsets, .profile = true});
    Outputs outputs;
    for (const int64_t width : {7, 5})
      outputs.push_back(session.run({{"x", input(1, {1, 3, 6, width})}}).at("y"));
    EXPECT_FALSE(session.layer_times().empty());
    return outputs;
  });
}

TEST_F(Faults, InWeightsThatAreStreamed) {
  const Model model = load(small_model());
  fail_everywhere([&](const Device& device) {
    Session session(device, model, {.weights_budget = 1300});
    return Outputs{session.run({{"x", input(1)}}).at("y"), session.run({{"x", input(2)}}).at("y")};
  });
}

TEST_F(Faults, InAPoolThatGrowsAndIsFreed) {
  const Model small = load(small_model()), large = load(small_model({1, 3, 20, 24}));
  fail_everywhere([&](const Device& device) {
    const MemoryPool pool(device);
    Session first(device, small, {.memory_pool = pool}), second(device, large, {.memory_pool = pool});
    Outputs outputs;
    for (const TrimLevel level : {TrimLevel::intermediates, TrimLevel::weights}) {
      outputs.push_back(first.run({{"x", input(1)}}).at("y"));
      outputs.push_back(second.run({{"x", input(2, {1, 3, 20, 24})}}).at("y"));
      first.trim(level);
      pool.trim();
    }
    return outputs;
  });
}

TEST_F(Faults, InTuning) {
  OnnxModel pointwise;
  pointwise.input("x", {1, 3, 9, 11})
      .initializer("w", random_tensor({2, 3, 1, 1}, 1))
      .node("Conv", {"x", "w"}, {"y"}, {}, "pointwise")
      .output("y");
  const Model model = load(pointwise);
  fail_everywhere([&](const Device& device) {
    tune(device, model, {}, {.seconds = 0.02});
    return Outputs{Session(device, model, {.tuned = false}).run({{"x", input(1)}}).at("y")};
  });
}

TEST_F(Faults, WithCachesOnDisk) {
  const Model model = load(small_model());
  const TempFolder folder;
  DeviceOptions cached = options();
  cached.cache_folder = folder.path();
  const auto work = [&](const Device& device) {
    return Outputs{Session(device, model).run({{"x", input(1)}}).at("y")};
  };
  fail_everywhere([&] { return open(cached); }, work);
}

TEST_F(Faults, InTheApplicationsCommandsAndSubmits) {
  VulkanApp app(layer.get_instance_proc_addr());
  const Model model = load(small_model());
  const auto work = [&](const Device& device) {
    Session session(device, model);
    session.prepare({});
    const BufferLayout in = session.input_buffer("x"), out = session.output_buffer("y");
    const AppBuffer x = app.make_buffer(in.bytes, vk::BufferUsageFlags(in.usage)),
                    y = app.make_buffer(out.bytes, vk::BufferUsageFlags(out.usage));
    Tensor result(DType::f32, session.outputs()[0].shape);
    Outputs outputs;
    const auto read = [&] {
      std::memcpy(result.mutable_data(), y.data, result.byte_size());
      outputs.push_back(result);
    };
    std::memcpy(x.data, input(1).data(), input(1).byte_size());
    const BufferBinding bound_x{"x", *x.buffer, 0, in.bytes}, bound_y{"y", *y.buffer, 0, out.bytes};
    const vk::raii::CommandBuffer commands = app.make_commands();
    commands.begin(vk::CommandBufferBeginInfo());
    const Recording recording = session.record(*commands, {&bound_x, 1}, {&bound_y, 1});
    commands.end();
    app.submit_and_wait(commands);
    read();
    const vk::raii::Semaphore semaphore(app.handle(), vk::SemaphoreCreateInfo());
    const SemaphoreValue signal{*semaphore};
    recording.submit({.signal = {&signal, 1}});
    // The application waits on the device for Vellum's work.
    const vk::raii::CommandBuffer none = app.make_commands();
    none.begin(vk::CommandBufferBeginInfo());
    none.end();
    constexpr vk::PipelineStageFlags stage = vk::PipelineStageFlagBits::eAllCommands;
    app.queue().submit(vk::SubmitInfo(*semaphore, stage, *none));
    app.queue().waitIdle();
    read();
    return outputs;
  };
  fail_everywhere([&] { return Device::adopt(app.device(), options()); }, work);
}

#ifdef __linux__

// Without the memory in which SwiftShader keeps compiled shaders.
int64_t open_files() {
  int64_t count = 0;
  for (const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;  // the listing's own descriptor is gone again
    const std::string target = std::filesystem::read_symlink(file.path(), error).string();
    count += target.find("swiftshader_jit") == std::string::npos;
  }
  return count;
}

// Imports a handle, which stays the caller's where that fails.
template <typename Handle, typename Import>
auto import_or_close(const Handle& handle, Import&& import) {
  try {
    return import(handle);
  } catch (...) {
    EXPECT_EQ(::close(handle.fd), 0) << "a failed import closed the descriptor";
    throw;
  }
}

TEST_F(Faults, InSharedMemoryAndSemaphores) {
  const Model model = load(small_model());
  constexpr ExternalHandleType type = ExternalHandleType::opaque_fd;
  const int64_t before = open_files();
  fail_everywhere([&](const Device& device) {
    Session session(device, model);
    session.prepare({});
    const BufferLayout in = session.input_buffer("x"), out = session.output_buffer("y");
    const ExternalBuffer made_x = ExternalBuffer::make(device, in.bytes, in.usage, type),
                         made_y = ExternalBuffer::make(device, out.bytes, out.usage, type);
    const auto imported = [&](const ExternalBuffer& made, const BufferLayout& layout) {
      return import_or_close(made.export_memory(), [&](const ExternalMemory& memory) {
        return ExternalBuffer::import(device, memory, layout.bytes, layout.usage);
      });
    };
    const ExternalBuffer x = imported(made_x, in), y = imported(made_y, out);
    std::memcpy(made_x.data(), input(1).data(), input(1).byte_size());
    std::vector<VkDeviceSize> strides{0, 9 * 11 * 4, 11 * 4, 4};
    const BufferBinding bound_x{"x", x.handle(), 0, in.bytes, strides},
        bound_y{"y", y.handle(), 0, out.bytes};
    const Recording recording = session.bind({&bound_x, 1}, {&bound_y, 1});
    recording.run();
    const auto support = external_support(device);
    if (std::ranges::any_of(support, &ExternalSupport::imports_semaphores)) {
      const ExternalSemaphore made = ExternalSemaphore::make(device, type);
      const ExternalSemaphore semaphore = import_or_close(
          made.export_handle(),
          [&](const ExternalSemaphoreHandle& handle) { return ExternalSemaphore::import(device, handle); });
      const SemaphoreValue signal{made.handle()}, wait{semaphore.handle()};
      recording.run({.signal = {&signal, 1}});
      recording.run({.wait = {&wait, 1}});
    }
    Tensor result(DType::f32, session.outputs()[0].shape);
    std::memcpy(result.mutable_data(), made_y.data(), result.byte_size());
    return Outputs{result};
  });
  EXPECT_EQ(open_files(), before);
}

#endif

}  // namespace
}  // namespace vellum::test

// Networks that run in strips, in every storage, precision and memory mode, give the bits of whole layers.
// More random ones: VELLUM_TILES=COUNT.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "compile/tiles.hpp"
#include "exec/executor.hpp"
#include "import/import.hpp"
#include "support/environment.hpp"
#include "support/fetched_model.hpp"
#include "support/gpu_test.hpp"
#include "support/tensors.hpp"
#include "tile/local_networks.hpp"
#include "tile/random_local_graph.hpp"
#include "tile/random_tiling.hpp"

namespace vellum::test {
namespace {

class Tiles : public testing::Test {
 protected:
  std::vector<HostTensor> run(const CompiledModel& model, const std::vector<HostTensor>& inputs) {
    Executor executor(context, std::make_shared<const CompiledModel>(model));
    for (size_t i = 0; i < inputs.size(); ++i) executor.set_input(i, inputs[i]);
    executor.run();
    executor.run();  // over what the first run left
    std::vector<HostTensor> outputs;
    for (size_t i = 0; i < model.program.outputs.size(); ++i) outputs.push_back(executor.output(i));
    return outputs;
  }

  CompiledModel compiled(const Graph& prepared, const CompileOptions& options) {
    return compile_prepared(prepared, context->caps(), options);
  }

  void expect_bits(const CompiledModel& model, const std::vector<HostTensor>& inputs,
                   const std::vector<HostTensor>& wanted) {
    const std::vector<HostTensor> found = run(model, inputs);
    for (size_t i = 0; i < wanted.size(); ++i)
      ASSERT_TRUE(same_bits(found[i], wanted[i])) << "output " << i << "\n" << to_text(model.graph);
  }

  const std::shared_ptr<gpu::Context> context = gpu::Context::create(test_context_options());
};

uint32_t random_networks() {
  const char* given = std::getenv("VELLUM_TILES");
  return given ? static_cast<uint32_t>(std::atoi(given)) : in_full() ? 24 : 12;
}

TEST_F(Tiles, RandomNetworksGiveTheBitsOfWholeLayers) {
  uint32_t compared = 0;
  for (uint32_t seed = 1; seed <= random_networks(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 dice(seed);
    const auto one_of = [&](auto... values) { return std::array{values...}[dice() % sizeof...(values)]; };
    CompileOptions options;
    options.storage = one_of(StorageChoice::buffer, StorageChoice::image2d, StorageChoice::image3d);
    options.precision = one_of(Precision::fp32, Precision::fp16);
    options.winograd = one_of(Winograd::off, Winograd::f2, Winograd::f4);
    options.plan.mode = one_of(MemoryMode::shared_objects, MemoryMode::offsets, MemoryMode::naive);
    const Graph graph = prepare_graph(random_local_graph(seed).graph(), context->caps(), options);
    const std::vector<HostTensor> inputs = random_inputs(graph, seed);
    const std::vector<HostTensor> wanted = run(compiled(graph, options), inputs);
    const LoweringOptions lowering{
        .precision = options.precision, .storage = options.storage, .winograd = options.winograd};
    options.tiling = random_tiling(TiledLowering(graph, context->caps(), lowering).reads(), seed);
    try {
      expect_bits(compiled(graph, options), inputs, wanted);
      ++compared;
    } catch (const Error& error) {
      ASSERT_EQ(options.precision, Precision::fp16) << error.what();
      ASSERT_EQ(error.code(), ErrorCode::unsupported) << error.what();
    }
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(10 * compared, 8 * random_networks());
}

// Parts of a batch, of one to four of its five images.
TEST_F(Tiles, PartsOfABatchGiveTheBitsOfTheWhole) {
  const Graph imported = classifier_of_batch({5, 4, 24, 20}).graph();
  size_t compared = 0;
  for (const StorageChoice storage : {StorageChoice::buffer, StorageChoice::image2d, StorageChoice::image3d})
    for (const Precision precision : {Precision::fp32, Precision::fp16}) {
      CompileOptions options{.precision = precision, .storage = storage};
      options.plan.mode = MemoryMode::offsets;
      const Graph graph = prepare_graph(imported, context->caps(), options);
      const std::vector<HostTensor> inputs = random_inputs(graph, 1);
      const std::vector<HostTensor> wanted = run(compiled(graph, options), inputs);
      const LoweringOptions lowering{.precision = precision, .storage = storage};
      const TiledLowering whole(graph, context->caps(), lowering);
      size_t first = 0;
      while (!whole.reads().images.has_rows(first)) ++first;
      size_t end = first;
      while (can_tile(whole.reads().images, first, end + 1)) ++end;
      EXPECT_GT(end, first + 6) << to_text(graph);
      for (int64_t parts = 2; parts <= 5; ++parts) {
        SCOPED_TRACE(std::to_string(static_cast<int>(storage)) +
                     (precision == Precision::fp16 ? " fp16 " : " fp32 ") + std::to_string(parts));
        options.tiling = {{first, end, parts, {}, ImageAxis::images}};
        expect_bits(compiled(graph, options), inputs, wanted);
        if (HasFatalFailure()) return;
        ++compared;
      }
    }
  EXPECT_EQ(compared, 24u);
}

// Every tiling that the cost model offers; the last takes a third of the bytes of whole layers at most.
TEST_F(Tiles, FetchedNetworksGiveTheSameBitsInAThirdOfTheirMemory) {
  for (const char* name : {"blazeface_back", "mlsd_tiny"}) {
    if (std::string_view(name) == "mlsd_tiny" && !in_full()) continue;  // half a minute
    const FetchedModel& fetched = fetched_model(name);
    const Graph imported = import_model(fetched.model());
    CompileOptions options{.plan = {.mode = MemoryMode::offsets}};
    const Graph graph = prepare_graph(imported, context->caps(), options);
    const std::vector<HostTensor> inputs{fetched.input()};
    const CompiledModel whole = compiled(graph, options);
    const std::vector<HostTensor> wanted = run(whole, inputs);
    uint64_t least = whole.plan.planned_bytes;
    for (const PredictedTiling& tiling : tilings(graph, context->caps(), options)) {
      options.tiling = tiling.nodes;
      const CompiledModel model = compiled(graph, options);
      if (model.plan.planned_bytes >= least) continue;
      least = model.plan.planned_bytes;
      expect_bits(model, inputs, wanted);
      if (HasFatalFailure()) return;
    }
    EXPECT_LE(3 * least, whole.plan.planned_bytes) << name;
  }
}

}  // namespace
}  // namespace vellum::test

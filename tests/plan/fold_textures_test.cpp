// Images whose slices lie side by side.
#include "plan/fold_textures.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "plan/arrange.hpp"
#include "plan/lifetimes.hpp"
#include "plan/programs.hpp"

namespace vellum::test {
namespace {

// a -> b -> c: 128x512, 64x1024 and 64x1024 texels.
struct Aspects {
  ProgramMaker make;
  Aspects() {
    const TensorId a = make.tensor("a", image(16, 128, 128)), b = make.tensor("b", image(64, 64, 64)),
                   c = make.tensor("c", image(64, 64, 64)),
                   w = make.tensor("w", image(4, 8, 8), TensorRole::weight);
    task({{a, Access::write}});
    task({{a, Access::read}, {w, Access::read}, {b, Access::write}});
    task({{b, Access::read}, {c, Access::write}});
    task({{.tensor = c, .sampled = true}});
  }
  void task(std::vector<Binding> bindings) {
    for (size_t i = 0; i < bindings.size(); ++i)
      bindings[i].name = std::string(1, static_cast<char>('p' + i));
    make.task(bindings);
    for (const Binding& binding : bindings)
      make.program.tasks.back().dispatch->defines.emplace_back(
          "STORAGE_" + binding.name, storage_macro(make.program.tensors[binding.tensor].desc, binding));
  }
  std::vector<std::string> macros() const {
    std::vector<std::string> macros;
    for (const Task& each : make.program.tasks)
      for (const auto& [name, value] : each.dispatch->defines) macros.push_back(value);
    return macros;
  }
};

constexpr uint64_t kTexels = 128 * 512 * 16;  // bytes of each tensor

TEST(FoldTextures, WhereThatTakesLess) {
  Aspects aspects;
  EXPECT_EQ(planned(aspects.make.program, MemoryMode::shared_objects), 3 * kTexels);
  const std::vector<std::string> before = aspects.macros();
  Program same = aspects.make.program;
  arrange(same, {.fold = false}, kAlignment, tight_rules(kAlignment));
  EXPECT_EQ(planned(same, MemoryMode::shared_objects), 3 * kTexels);
  arrange(aspects.make.program, {}, kAlignment, tight_rules(kAlignment));
  EXPECT_EQ(planned(aspects.make.program, MemoryMode::shared_objects), 2 * kTexels);
  const std::string plain = "IMAGE2D", folded = "FOLDED_IMAGE2D";
  EXPECT_EQ(before, (std::vector<std::string>{plain, plain, plain, plain, plain, plain, "IMAGE2D_SAMPLED"}));
  EXPECT_EQ(aspects.macros(), (std::vector<std::string>{folded, folded, plain, folded, folded, folded,
                                                        "FOLDED_IMAGE2D_SAMPLED"}));
}

TEST(FoldTextures, NotWhereItTakesNoLess) {
  Aspects arenas;  // whose tensors have images of their own
  const std::vector<std::string> before = arenas.macros();
  arrange(arenas.make.program, {.mode = MemoryMode::offsets}, kAlignment, tight_rules(kAlignment));
  EXPECT_EQ(arenas.macros(), before);
  ProgramMaker alike;
  const TensorId a = alike.tensor("a", image(16, 8, 8)), b = alike.tensor("b", image(16, 8, 8));
  alike.task({write(a)});
  alike.task({read(a), write(b)});
  arrange(alike.program, {}, kAlignment, tight_rules(kAlignment));
  EXPECT_EQ(alike.program.tensors[a].desc.fold, 0u);
}

TEST(FoldTextures, OfMoreThanOneTexelASlice) {
  ProgramMaker make;
  const TensorId vector = make.tensor("a", image(64, 1, 1)), row = make.tensor("b", image(64, 1, 2)),
                 slice = make.tensor("c", image(4, 8, 8));
  make.task({write(vector), write(row), write(slice)});
  const std::vector<TensorId> folded = fold_textures(make.program);
  EXPECT_EQ(folded, std::vector<TensorId>{row});
  unfold_textures(make.program, folded);
  EXPECT_EQ(make.program.tensors[row].desc.fold, 0u);
}

TEST(UsageRecords, FoldedImagesMayHaveSlicesSideBySide) {
  TensorDesc desc = image(24, 64, 64);
  desc.fold = 1;
  ProgramMaker make;
  make.task({write(make.tensor("a", desc))});
  const UsageRecords usage = usage_records(make.program);
  ASSERT_EQ(usage.records.size(), 1u);
  const auto size = std::get<planner::Texture2D>(usage.records[0].size);
  const auto texture = [&](uint32_t width, uint32_t height) {
    return planner::Texture2D{width, height, size.format};
  };
  EXPECT_EQ(size, texture(64, 384));
  EXPECT_EQ(usage.records[0].other_extents,
            (std::vector{texture(128, 192), texture(256, 128), texture(512, 64)}));
}

}  // namespace
}  // namespace vellum::test

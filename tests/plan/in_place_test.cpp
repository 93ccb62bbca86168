// Operators that write over their input.
#include "plan/in_place.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "plan/programs.hpp"
#include "plan/synchronisation.hpp"

namespace vellum::test {
namespace {

TEST(InPlace, ElementwiseChainNeedsOneTensor) {
  Chain chain;
  EXPECT_EQ(planned(chain.make.program), 512u);
  alias_in_place(chain.make.program);
  EXPECT_EQ(planned(chain.make.program), 256u);
  EXPECT_EQ(planned(chain.make.program, MemoryMode::shared_objects), 256u);
  const MemoryPlan plan = plan_memory(chain.make.program, {}, tight_rules(kAlignment));
  EXPECT_EQ(plan.objects.size(), 1u);
  EXPECT_EQ(plan.objects[0].tensors, (std::vector<TensorId>{chain.a, chain.b, chain.c}));
  EXPECT_EQ(plan.lifetimes[chain.b].first, 1) << "each tensor keeps its own lifetime";
  EXPECT_EQ(plan.lifetimes[chain.b].last, 2);
}

TEST(InPlace, InputThatIsReadLaterIsKept) {
  Chain chain;
  chain.make.task({read(chain.a)});
  alias_in_place(chain.make.program);
  EXPECT_EQ(chain.make.program.tensors[chain.b].in_place_of, kNoTensor);
  EXPECT_EQ(chain.make.program.tensors[chain.c].in_place_of, chain.b);
}

TEST(InPlace, OtherSizesFormatsAndReadsAreKept) {
  Chain other_size(linear(32));
  alias_in_place(other_size.make.program);
  EXPECT_EQ(other_size.make.program.tensors[other_size.b].in_place_of, kNoTensor);

  // 64 floats each, in images that are wide or tall.
  ProgramMaker make;
  const TensorId wide = make.tensor("wide", image(4, 2, 8)), tall = make.tensor("tall", image(4, 8, 2)),
                 same = make.tensor("same", image(4, 8, 2)), seen = make.tensor("seen", image(4, 8, 2));
  make.task({write(wide)});
  make.task({in_place(wide), write(tall)});
  make.task({{.tensor = tall, .sampled = true, .same_position = true}, write(same)});
  make.task({in_place(same), read(same), write(seen)});
  make.task({read(seen)});
  alias_in_place(make.program);
  EXPECT_EQ(make.program.tensors[tall].in_place_of, kNoTensor) << "another extent";
  EXPECT_EQ(make.program.tensors[same].in_place_of, kNoTensor) << "through a sampler";
  EXPECT_EQ(make.program.tensors[seen].in_place_of, kNoTensor) << "also read elsewhere";
}

TEST(InPlace, ImageIsNotDiscardedWhereItIsWrittenOver) {
  ProgramMaker make;
  const TensorId a = make.tensor("a", image(4, 8, 8)), b = make.tensor("b", image(4, 8, 8));
  make.task({write(a)});
  make.task({in_place(a), write(b)});
  make.task({read(b)});
  alias_in_place(make.program);
  for (const MemoryMode mode : {MemoryMode::shared_objects, MemoryMode::offsets}) {
    const MemoryPlan plan = plan_memory(make.program, {.mode = mode}, tight_rules(kAlignment));
    EXPECT_EQ(plan.object_of[a], plan.object_of[b]);
    const std::vector<TaskSync> syncs = synchronise(make.program, plan);
    EXPECT_EQ(syncs[0].discarded_objects.size(), 1u);
    EXPECT_TRUE(syncs[1].discarded_objects.empty());
    EXPECT_TRUE(syncs[1].barrier);
    EXPECT_TRUE(syncs[2].barrier);
  }
}

TEST(InPlace, FoldedImagesOfOtherShapesAreKept) {
  for (const uint32_t fold : {0u, 1u}) {
    TensorDesc of_a = image(16, 4, 8), of_b = image(8, 8, 8);
    of_a.fold = of_b.fold = fold;
    ASSERT_EQ(of_a.extent(), of_b.extent());
    ProgramMaker make;
    const TensorId a = make.tensor("a", of_a), b = make.tensor("b", of_b), c = make.tensor("c", of_b);
    make.task({write(a)});
    make.task({in_place(a), write(b)});
    make.task({in_place(b), write(c)});
    make.task({read(c)});
    alias_in_place(make.program);
    EXPECT_EQ(make.program.tensors[b].in_place_of, fold == 0 ? a : kNoTensor);
    EXPECT_EQ(make.program.tensors[c].in_place_of, b);
  }
}

}  // namespace
}  // namespace vellum::test

// Small handmade programs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/memory_plan.hpp"
#include "program/program.hpp"

namespace vellum::test {

class ProgramMaker {
 public:
  TensorId tensor(std::string name, TensorDesc desc, TensorRole role = TensorRole::intermediate);
  TensorId alias(std::string name, TensorId of);
  void task(std::vector<Binding> bindings);
  void host_task(const std::vector<TensorId>& inputs, std::vector<TensorId> outputs);
  Program program;
};

TensorDesc linear(int64_t elements);                                // fp32 buffer
TensorDesc image(int64_t channels, int64_t height, int64_t width);  // fp32 image2d

inline Binding read(TensorId id) { return {id, Access::read}; }
inline Binding write(TensorId id) { return {id, Access::write}; }
inline Binding in_place(TensorId id) { return {.tensor = id, .same_position = true}; }

constexpr uint64_t kAlignment = 16;  // of tensors in memory
uint64_t planned(const Program& program, MemoryMode mode = MemoryMode::offsets);

// a -> b -> c, all of 64 floats, elementwise.
struct Chain {
  ProgramMaker make;
  TensorId a, b, c;
  explicit Chain(TensorDesc of_b = linear(64)) {
    a = make.tensor("a", linear(64)), b = make.tensor("b", std::move(of_b)), c = make.tensor("c", linear(64));
    make.task({write(a)});
    make.task({in_place(a), write(b)});
    make.task({in_place(b), write(c)});
    make.task({read(c)});
  }
};

// Two parts of `sizes` floats, joined by copies and read.
struct Joined {
  ProgramMaker make;
  TensorId first, second, whole;
  Joined(int64_t first_size, int64_t second_size) {
    first = make.tensor("first", linear(first_size)), second = make.tensor("second", linear(second_size));
    whole = make.tensor("whole", linear(first_size + second_size));
    make.task({write(first)});
    make.task({write(second)});
    copy(first, 0);
    copy(second, static_cast<uint64_t>(first_size) * 4);
    make.task({read(whole)});
  }
  void copy(TensorId part, uint64_t offset) {
    make.task({read(part), write(whole)});
    const uint64_t bytes = static_cast<uint64_t>(element_count(make.program.tensors[part].desc.shape)) * 4;
    make.program.tasks.back().dispatch->copy = PlainCopy{part, whole, 0, offset, bytes};
  }
};

// Two branches from one tensor: each makes a large tensor and shrinks it. One after the other, only one large
// tensor lives at a time.
struct Branches {
  ProgramMaker make;
  Branches() {
    const TensorId start = make.tensor("start", linear(4));
    const TensorId large[] = {make.tensor("large 0", linear(400)), make.tensor("large 1", linear(400))};
    const TensorId small[] = {make.tensor("small 0", linear(4)), make.tensor("small 1", linear(4))};
    make.task({write(start)});
    for (const TensorId id : large) make.task({read(start), write(id)});
    for (size_t i = 0; i < 2; ++i) make.task({read(large[i]), write(small[i])});
    make.task({read(small[0]), read(small[1])});
  }
};

}  // namespace vellum::test

// Small handmade programs.
#pragma once

#include <string>
#include <vector>

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

}  // namespace vellum::test

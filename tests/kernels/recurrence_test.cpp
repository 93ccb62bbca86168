// RNN, GRU and LSTM against their host references.
#include "graph/operators/matmul/recurrence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "exec/executor.hpp"
#include "passes/passes.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {
namespace recurrence_test {

struct Layer {
  std::string type;
  int64_t steps, batches, inputs, hidden;
  std::string direction = "forward";
};

// With W and R; the other inputs are omitted.
OperatorCase recurrent(const Layer& layer) {
  const int64_t directions = layer.direction == "bidirectional" ? 2 : 1;
  const int64_t rows = layer.hidden * (layer.type == "LSTM" ? 4 : layer.type == "GRU" ? 3 : 1);
  OperatorCase test{.type = layer.type, .constants = {1, 2}, .opset = 14};
  test.inputs = {random_tensor({layer.steps, layer.batches, layer.inputs}, 1),
                 random_tensor({directions, rows, layer.inputs}, 2, -0.5f, 0.5f),
                 random_tensor({directions, rows, layer.hidden}, 3, -0.5f, 0.5f)};
  test.inputs.resize(layer.type == "LSTM" ? 8 : 6);
  test.attributes.set("hidden_size", layer.hidden);
  test.attributes.set("direction", layer.direction);
  test.output_count = layer.type == "LSTM" ? 3 : 2;
  test.sweep.channels4_inputs = false;
  test.sweep.buffers = 9;  // Android Baseline 2022 has four
  return test;
}

void give_bias(OperatorCase& test) {
  const Shape& r = test.inputs[2]->shape();
  test.inputs[3] = random_tensor({r[0], 2 * r[1]}, 4);
  test.constants.insert(3);
}

void give_state(OperatorCase& test, const Layer& layer) {
  const int64_t directions = test.inputs[2]->shape()[0];
  test.inputs[5] = random_tensor({directions, layer.batches, layer.hidden}, 6);
  if (layer.type == "LSTM") test.inputs[6] = random_tensor({directions, layer.batches, layer.hidden}, 7);
}

TEST(Recurrence, CellsInBothDirections) {
  for (const char* type : {"RNN", "GRU", "LSTM"}) {
    const Layer layer{type, 5, 2, 3, 6, "bidirectional"};
    OperatorCase test = recurrent(layer);
    give_bias(test);
    give_state(test, layer);
    check_operator(test);
  }
}

TEST(Recurrence, OddSizesAndReversed) {
  for (const char* type : {"RNN", "GRU", "LSTM"}) {
    check_operator(recurrent({type, 1, 1, 1, 1}));
    check_operator(recurrent({type, 2, 3, 7, 33, "reverse"}));
    check_operator(recurrent({type, 3, 1, 4, 300}));  // more units than invocations
  }
}

// More than the loops of one dispatch may run: the state passes from one dispatch to the next.
TEST(Recurrence, ManySteps) {
  for (const char* type : {"RNN", "GRU", "LSTM"})
    for (const int64_t steps : {70, 71, 73}) {
      const Layer layer{type, steps, 2, 3, 6, "bidirectional"};
      OperatorCase test = recurrent(layer);
      give_state(test, layer);
      test.inputs[4] =
          HostTensor::from<int32_t>(DType::i32, {2}, std::vector<int32_t>{static_cast<int32_t>(steps), 20});
      DeviceCaps caps = test_context()->caps();
      caps.max_loop_iterations = 600;
      check_operator(test, caps);
    }
}

TEST(Recurrence, LinesOfText) {
  OperatorCase test = recurrent({"LSTM", 1100, 1, 3, 256});
  test.inputs[2] = random_tensor({1, 1024, 256}, 3, -0.05f, 0.05f);  // larger ones make every rounding grow
  test.sweep.fp16 = false;
  check_operator(test);
}

TEST(Recurrence, SequencesOfDifferentLengths) {
  for (const char* type : {"RNN", "GRU", "LSTM"}) {
    OperatorCase test = recurrent({type, 4, 3, 2, 5, "bidirectional"});
    test.inputs[4] = HostTensor::from<int32_t>(DType::i32, {3}, std::vector<int32_t>{4, 1, 3});
    check_operator(test);
  }
}

// On a processor a workgroup takes up to four of the batches, and the last one fewer than the others.
TEST(Recurrence, BatchesThatShareAWorkgroup) {
  for (const auto& [type, linear] : {std::pair{"RNN", int64_t{0}}, {"GRU", 0}, {"GRU", 1}, {"LSTM", 0}})
    for (const int64_t batches : {9, 13, 17}) {
      const Layer layer{type, 3, batches, 2, batches == 13 ? 48 : 10, "bidirectional"};
      OperatorCase test = recurrent(layer);
      if (linear) test.attributes.set("linear_before_reset", linear);
      give_bias(test);
      give_state(test, layer);
      check_operator(test);
    }
}

// A subgroup of a processor that is not full computes units that nobody reads.
TEST(Recurrence, DivisionAmongInvocationsOfAProcessor) {
  DeviceCaps caps = test_context()->caps();
  caps.type = DeviceType::cpu;
  caps.subgroup_size = 8;
  const auto text = [&](int64_t batches, int64_t hidden, const char* direction) {
    OnnxModel model;
    const int64_t directions = direction == std::string("forward") ? 1 : 2;
    model.input("x", {5, batches, 3}).initializer("w", random_tensor({directions, 4 * hidden, 3}, 2));
    model.initializer("r", random_tensor({directions, 4 * hidden, hidden}, 3));
    model.node("LSTM", {"x", "w", "r"}, {"y"},
               attributes({{"hidden_size", hidden}, {"direction", std::string(direction)}}));
    const Program program = lower(optimise(model.output("y").graph(), {}), caps, {});
    const auto task = std::ranges::find_if(program.tasks, [](const Task& task) {
      return task.dispatch && task.dispatch->shader == "recurrence";
    });
    if (task == program.tasks.end()) return std::string("no kernel");
    const Dispatch& dispatch = *task->dispatch;
    const auto macro = [&](const char* name) {
      for (const auto& [defined, value] : dispatch.defines)
        if (defined == name) return value;
      return std::string("1");
    };
    return std::to_string(dispatch.workgroup_count[0]) + " workgroups of " +
           std::to_string(dispatch.workgroup_size[0]) + ", " + macro("UNITS_AT_ONCE") + " units, " +
           macro("SEQUENCES") + " sequences";
  };
  EXPECT_EQ(text(22, 48, "bidirectional"), "12 workgroups of 8, 6 units, 4 sequences");
  EXPECT_EQ(text(11, 96, "bidirectional"), "8 workgroups of 16, 6 units, 3 sequences");
  EXPECT_EQ(text(1, 256, "bidirectional"), "2 workgroups of 32, 8 units, 1 sequences");
  EXPECT_EQ(text(16, 19, "forward"), "8 workgroups of 8, 3 units, 2 sequences");
}

// As exporters write it: zeros before the first step, and nobody reads the last state. On every device.
TEST(Recurrence, FourBuffersSuffice) {
  for (const char* type : {"RNN", "GRU", "LSTM"}) {
    OperatorCase test = recurrent({type, 4, 2, 3, 8, "bidirectional"});
    give_bias(test);
    const size_t states = type == std::string("LSTM") ? 2 : 1;
    for (size_t i = 5; i < 5 + states; ++i) {
      test.inputs[i] = HostTensor(DType::f32, {2, 2, 8});
      test.constants.insert(i);
    }
    test.most_outputs = 1;
    test.sweep.host_allowed = false;
    check_operator(test);
  }
}

TEST(Recurrence, BatchFirst) {
  OperatorCase test = recurrent({"LSTM", 4, 3, 2, 5});
  test.attributes.set("layout", int64_t{1});
  check_operator(test);
}

TEST(Recurrence, FormsOfCells) {
  const Layer layer{"GRU", 3, 2, 4, 5};
  OperatorCase gru = recurrent(layer);
  give_bias(gru);
  gru.attributes.set("linear_before_reset", int64_t{1});
  check_operator(gru);

  OperatorCase lstm = recurrent({"LSTM", 3, 2, 4, 5});
  lstm.inputs[7] = random_tensor({1, 15}, 8);  // peepholes
  lstm.constants.insert(7);
  check_operator(lstm);
  lstm.attributes.set("input_forget", int64_t{1});
  lstm.attributes.set("clip", 0.3f);
  lstm.attributes.set("activations", Attributes::Strings{"Sigmoid", "Relu", "Softsign"});
  check_operator(lstm);
}

TEST(Recurrence, CellsAreClipped) {
  OperatorCase lstm = recurrent({"LSTM", 4, 2, 3, 5});
  NodeSpec spec{.type = "LSTM", .opset = 14, .attributes = &lstm.attributes, .output_count = 3};
  for (const auto& input : lstm.inputs) spec.input_present.push_back(input.has_value());
  lstm.op = make_clipped_lstm(spec, 0.1f);
  check_operator(lstm);
}

// On the host: R that is computed, what a workgroup cannot hold, and functions with parameters.
TEST(Recurrence, FormsWithoutKernel) {
  auto op = std::make_shared<Recurrence>();
  op->cell = RecurrentCell::rnn;
  op->activations = {{Activation{.kind = ActivationKind::tanh}}};
  OperatorCase computed{.type = "Recurrence",
                        .inputs = {random_tensor({3, 2, 5}, 1), random_tensor({1, 5, 5}, 2)},
                        .output_count = 2,
                        .op = op};
  computed.sweep.host_allowed = true;
  check_operator(computed);
  OperatorCase hard = recurrent({"RNN", 3, 2, 4, 5});
  hard.attributes.set("activations", Attributes::Strings{"HardSigmoid"});
  hard.sweep.host_allowed = true;
  check_operator(hard);
  DeviceCaps small = test_context()->caps();
  small.max_shared_memory_bytes = 64;
  OperatorCase lstm = recurrent({"LSTM", 3, 2, 4, 5});
  lstm.sweep.host_allowed = true;
  check_operator(lstm, small);
}

// Layers of torch, whose Transposes become the order in which the kernel writes its rows.
TEST(Recurrence, RowsInAnotherOrder) {
  for (const char* type : {"RNN", "GRU", "LSTM"})
    for (const int64_t batches : {3, 9})
      for (const bool batch_first : {false, true}) {
        const int64_t rows = 6 * (type == std::string("LSTM") ? 4 : type == std::string("GRU") ? 3 : 1);
        OnnxModel model;
        model.input("x", {7, batches, 3}).initializer("w", random_tensor({2, rows, 3}, 2, -0.5f, 0.5f));
        model.initializer("r", random_tensor({2, rows, 6}, 3, -0.5f, 0.5f));
        std::vector<int32_t> lengths(static_cast<size_t>(batches), 7);
        lengths[1] = 2;  // zeros follow
        if (batches == 3) model.initializer("l", HostTensor::from<int32_t>(DType::i32, {batches}, lengths));
        model.node(type, {"x", "w", "r", "", batches == 3 ? "l" : ""}, {"y"},
                   attributes({{"hidden_size", int64_t{6}}, {"direction", std::string("bidirectional")}}));
        model.node("Transpose", {"y"}, {"t"}, attributes({{"perm", Attributes::Ints{0, 2, 1, 3}}}));
        model.initializer("s",
                          HostTensor::from<int64_t>(DType::i64, {3}, std::vector<int64_t>{7, batches, 12}));
        model.node("Reshape", {"t", "s"}, {"j"});
        if (batch_first)
          model.node("Transpose", {"j"}, {"f"}, attributes({{"perm", Attributes::Ints{1, 0, 2}}}));
        model.output(batch_first ? "f" : "j");
        const std::vector<HostTensor> inputs{random_tensor({7, batches, 3}, 1)};
        const std::vector<float> want = evaluate(model.graph(), inputs)[0].to_floats();
        for (const Precision precision : {Precision::fp32, Precision::fp16}) {
          DeviceCaps caps = test_context()->caps();
          caps.max_loop_iterations = 300;  // several dispatches
          Program program = lower(optimise(model.graph(), {}), caps, {.precision = precision});
          EXPECT_TRUE(std::ranges::none_of(program.tasks, [](const Task& task) {
            return operator_type(task) == "Transpose" || operator_type(task) == "AsStrided";
          })) << to_text(program);
          Executor executor(test_context(), compile_program(test_context(), std::move(program)));
          executor.set_input(0, inputs[0]);
          executor.run();
          const std::vector<float> got = executor.output(0).to_floats();
          ASSERT_EQ(got.size(), want.size());
          for (size_t i = 0; i < got.size(); ++i)
            EXPECT_NEAR(got[i], want[i], precision == Precision::fp32 ? 1e-5 : 1e-2)
                << type << " of " << batches << " batches, element " << i;
        }
      }
}

// A layer whose weights R a DequantizeLinear makes of bytes.
Graph of_bytes(const char* type, int64_t batches, int64_t hidden, int64_t linear_before_reset) {
  const int64_t rows = hidden * (std::string(type) == "LSTM" ? 4 : std::string(type) == "GRU" ? 3 : 1);
  OnnxModel model;
  model.input("x", {5, batches, 3}).initializer("w", random_tensor({2, rows, 3}, 2, -0.5f, 0.5f));
  model.initializer("q", cast(random_tensor({2, rows, hidden}, 3, -128.0f, 127.0f), DType::i8));
  model.initializer("scale", random_tensor({rows}, 4, 0.001f, 0.004f));
  model.node("DequantizeLinear", {"q", "scale"}, {"r"}, attributes({{"axis", int64_t{1}}}));
  Attributes given = attributes({{"hidden_size", hidden}, {"direction", std::string("bidirectional")}});
  if (linear_before_reset) given.set("linear_before_reset", linear_before_reset);
  model.node(type, {"x", "w", "r"}, {"y"}, given).output("y");
  return optimise(model.graph(), {});
}

TEST(Recurrence, WeightsOfBytesStayBytes) {
  for (const auto& [type, linear] : {std::pair{"RNN", int64_t{0}}, {"GRU", 0}, {"GRU", 1}, {"LSTM", 0}})
    for (const int64_t hidden : {8, 13, 150})
      for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::buffer}) {
        const int64_t batches = hidden == 13 ? 9 : 2;
        const Graph graph = of_bytes(type, batches, hidden, linear);
        const std::vector<HostTensor> inputs{random_tensor({5, batches, 3}, 1)};
        Program program = lower(graph, test_context()->caps(), {.storage = storage});
        EXPECT_TRUE(std::ranges::any_of(program.tensors, [](const VirtualTensor& tensor) {
          return tensor.name.ends_with("/R") && tensor.desc.element == ElementType::q8;
        })) << to_text(program);
        Executor executor(test_context(), compile_program(test_context(), std::move(program)));
        executor.set_input(0, inputs[0]);
        executor.run();
        const std::vector<float> got = executor.output(0).to_floats(),
                                 want = evaluate(graph, inputs)[0].to_floats();
        ASSERT_EQ(got.size(), want.size());
        for (size_t i = 0; i < got.size(); ++i)
          EXPECT_NEAR(got[i], want[i], 1e-5) << type << " of " << hidden << " units, element " << i;
      }
}

}  // namespace recurrence_test
}  // namespace vellum::test

// Loops of runs on the device: steps of diffusion, greedy decoding.
//
//   vellum::StepLoop loop = session.bind_steps({.steps = 64,
//                                               .feedback = {{"next", "input_ids"}},
//                                               .step_inputs = {"attention_mask"},
//                                               .step_outputs = {"next"},
//                                               .end_output = "next",
//                                               .end_values = {end_of_text}});
//   vellum::StepResults results = session.run_steps(loop, {{"input_ids", first}, {"attention_mask", masks}});
//   std::vector<int64_t> tokens = results.outputs.at("next").to_ints();
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "vellum/export.h"
#include "vellum/model.hpp"

namespace vellum {

// A step is one run of the network. In step k (from 0):
//
//                      step_inputs[k]   feedback
//                            |         +---------------------------+
//                            v         v                           |
//   states of step k-1 --> network, all other inputs unchanged --> outputs --> step_outputs[k]
//                            |                                     |
//                            v                                     +--> end_output: was this the last step?
//   states of step k
//
// All values stay on the device between steps.
struct StepOptions {
  uint32_t steps = 1;  // the most steps of a run
  // Outputs, and the input that gets the value of each after a step. The two must have equal dtypes and
  // numbers of elements.
  std::map<std::string, std::string> feedback = {};
  // Inputs with a value for each step, such as the time of a diffusion step, or an attention mask.
  // run_steps() takes their values as {steps, shape of the input}.
  std::vector<std::string> step_inputs = {};
  // Outputs whose value after each step is returned. Session::output() has the values after the last step of
  // all outputs.
  std::vector<std::string> step_outputs = {};
  // An integer output that ends the loop. The device compares it with `end_values` (at most 8) after each
  // step. When every element has been one of these values in this step or an earlier one, the remaining steps
  // do nothing, and states keep their values. Empty: all steps run.
  std::string end_output = {};
  std::vector<int64_t> end_values = {};
  // The number of steps in one submit; two submits are under way at a time. Between submits the run reports
  // progress and can be stopped. 0: as many as are predicted to take a second, or
  // SessionOptions::max_submit_ms.
  uint32_t steps_per_submit = 0;
};

struct StepResults {
  uint32_t steps = 0;                     // that ran
  bool ended = false;                     // by end_output
  std::map<std::string, Tensor> outputs;  // StepOptions::step_outputs: {steps, shape of the output}
};

class BoundSteps;

// Steps that Session::bind_steps() has bound. It holds the values of step_inputs and step_outputs on the
// device (as inputs and outputs of SessionOptions::memory_budget; estimates do not count them). It may
// outlive the session. Copies are handles to the same loop.
class VELLUM_API StepLoop {
 public:
  StepLoop() = default;  // not valid()
  bool valid() const { return steps_ != nullptr; }

 private:
  friend class Session;
  std::shared_ptr<BoundSteps> steps_;
};

// Called between submits with the number of steps that are done. False stops the run: steps that are
// submitted are completed, and run_steps() returns the results so far. It must not call the session.
using StepProgress = std::function<bool(uint32_t steps)>;

}  // namespace vellum

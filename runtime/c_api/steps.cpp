// Loops of steps, for C.
#include "vellum/steps.hpp"

#include <memory>
#include <string>
#include <vector>

#include "c_api/support.hpp"

using vellum::c_api::guarded;
using vellum::c_api::require;

struct vellum_step_loop {
  vellum::StepLoop loop;
  vellum::StepResults results;  // of the last run
};

namespace {

vellum_step_options step_defaults() {
  vellum_step_options options{};
  options.size = sizeof(options);
  options.steps = 1;
  return options;
}

std::vector<std::string> names(const char* const* c_names, size_t count, const char* member) {
  std::vector<std::string> result;
  if (count) require(c_names, member);
  for (size_t i = 0; i < count; ++i) {
    require(c_names[i], member);
    result.emplace_back(c_names[i]);
  }
  return result;
}

vellum::StepOptions step_options(const vellum_step_options& c_options) {
  vellum::StepOptions options{.steps = c_options.steps};
  if (c_options.feedback_count) require(c_options.feedback, "feedback");
  for (size_t i = 0; i < c_options.feedback_count; ++i) {
    require(c_options.feedback[i].output, "the output of a feedback");
    require(c_options.feedback[i].input, "the input of a feedback");
    options.feedback[c_options.feedback[i].output] = c_options.feedback[i].input;
  }
  options.step_inputs = names(c_options.step_inputs, c_options.step_input_count, "step_inputs");
  options.step_outputs = names(c_options.step_outputs, c_options.step_output_count, "step_outputs");
  if (c_options.end_output) options.end_output = c_options.end_output;
  if (c_options.end_value_count) require(c_options.end_values, "end_values");
  options.end_values.assign(c_options.end_values, c_options.end_values + c_options.end_value_count);
  options.steps_per_submit = c_options.steps_per_submit;
  return options;
}

}  // namespace

void vellum_step_options_init_sized(vellum_step_options* options, size_t size) {
  vellum::c_api::write_defaults(options, size, step_defaults());
}

vellum_status vellum_step_loop_create(vellum_session* session, const vellum_step_options* options,
                                      vellum_step_loop** loop, vellum_error* error) {
  if (loop) *loop = nullptr;
  return guarded(error, [&] {
    require(session, "session");
    require(loop, "loop");
    const vellum_step_options c_options = vellum::c_api::given_or_default(options, step_defaults());
    *loop = new vellum_step_loop{session->session.bind_steps(step_options(c_options)), {}};
  });
}

void vellum_step_loop_destroy(vellum_step_loop* loop) { delete loop; }

vellum_status vellum_step_loop_run(vellum_step_loop* loop, vellum_session* session,
                                   const vellum_input_values* inputs, size_t input_count,
                                   vellum_step_callback progress, void* user, vellum_step_results* results,
                                   vellum_error* error) {
  return guarded(error, [&] {
    require(loop, "loop");
    require(session, "session");
    vellum::StepProgress go_on;
    if (progress) go_on = [&](uint32_t steps) { return progress(steps, user) == 0; };
    loop->results = {};
    loop->results = session->session.run_steps(
        loop->loop, vellum::c_api::input_tensors(session->session, inputs, input_count), go_on);
    session->has_run = true;
    if (results)
      vellum::c_api::write_result(results, {0, loop->results.steps, loop->results.ended}, "results");
  });
}

vellum_status vellum_step_loop_output(const vellum_step_loop* loop, const char* name, vellum_tensor** tensor,
                                      vellum_error* error) {
  if (tensor) *tensor = nullptr;
  return guarded(error, [&] {
    require(loop, "loop");
    require(name, "name");
    require(tensor, "tensor");
    const auto found = loop->results.outputs.find(name);
    if (found == loop->results.outputs.end())
      throw vellum::Error(vellum::ErrorCode::not_found,
                          "no run of the loop has kept an output '" + std::string(name) + "'");
    *tensor = vellum::c_api::new_tensor(name, found->second);
  });
}

// Runs in flight, for C.
#include <chrono>
#include <memory>
#include <vector>

#include "api/c_api_support.hpp"

struct vellum_run {
  vellum::Run run;
};

using vellum::c_api::guarded;
using vellum::c_api::require;

namespace {

std::vector<vellum::InputValues> to_cpp(const vellum_input_values* given, size_t count) {
  std::vector<vellum::InputValues> inputs;
  if (count) require(given, "inputs");
  for (size_t i = 0; i < count; ++i) {
    require(given[i].name, "the name of an input");
    if (given[i].byte_count) require(given[i].values, "the values of an input");
    if (given[i].rank) require(given[i].dims, "the dims of an input");
    inputs.push_back({given[i].name,
                      {static_cast<const std::byte*>(given[i].values), given[i].byte_count},
                      {given[i].dims, given[i].dims ? given[i].rank : 0}});
  }
  return inputs;
}

std::vector<vellum::OutputValues> to_cpp(const vellum_output_values* given, size_t count) {
  std::vector<vellum::OutputValues> outputs;
  if (count) require(given, "outputs");
  for (size_t i = 0; i < count; ++i) {
    require(given[i].name, "the name of an output");
    if (given[i].byte_count) require(given[i].values, "the memory for an output");
    outputs.push_back({given[i].name, {static_cast<std::byte*>(given[i].values), given[i].byte_count}});
  }
  return outputs;
}

}  // namespace

vellum_status vellum_session_submit(vellum_session* session, const vellum_input_values* inputs,
                                    size_t input_count, const vellum_output_values* outputs,
                                    size_t output_count, vellum_run** run, vellum_error* error) {
  if (run) *run = nullptr;
  return guarded(error, [&] {
    require(session, "session");
    require(run, "run");
    auto made = std::make_unique<vellum_run>();
    made->run = session->session.submit(to_cpp(inputs, input_count), to_cpp(outputs, output_count));
    *run = made.release();
  });
}

vellum_status vellum_session_try_submit(vellum_session* session, const vellum_input_values* inputs,
                                        size_t input_count, const vellum_output_values* outputs,
                                        size_t output_count, vellum_run** run, vellum_error* error) {
  if (run) *run = nullptr;
  return guarded(error, [&] {
    require(session, "session");
    require(run, "run");
    auto made = std::make_unique<vellum_run>();
    made->run = session->session.try_submit(to_cpp(inputs, input_count), to_cpp(outputs, output_count));
    if (made->run.valid()) *run = made.release();
  });
}

vellum_status vellum_run_done(const vellum_run* run, int32_t* done, vellum_error* error) {
  return guarded(error, [&] {
    require(run, "run");
    require(done, "done");
    *done = run->run.done();
  });
}

vellum_status vellum_run_wait(const vellum_run* run, vellum_error* error) {
  return guarded(error, [&] {
    require(run, "run");
    run->run.wait();
  });
}

vellum_status vellum_run_wait_for(const vellum_run* run, uint32_t milliseconds, int32_t* done,
                                  vellum_error* error) {
  return guarded(error, [&] {
    require(run, "run");
    require(done, "done");
    *done = run->run.wait_for(std::chrono::milliseconds(milliseconds));
  });
}

vellum_status vellum_run_cancel(const vellum_run* run, vellum_error* error) {
  return guarded(error, [&] {
    require(run, "run");
    run->run.cancel();
  });
}

void vellum_run_destroy(vellum_run* run) { delete run; }

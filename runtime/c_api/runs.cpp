// Runs in flight, for C.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "c_api/support.hpp"

using vellum::c_api::guarded;
using vellum::c_api::input_values;
using vellum::c_api::output_values;
using vellum::c_api::require;

std::vector<vellum::InputValues> vellum::c_api::input_values(const vellum_input_values* c_inputs,
                                                             size_t count) {
  std::vector<vellum::InputValues> inputs;
  if (count) require(c_inputs, "inputs");
  for (size_t i = 0; i < count; ++i) {
    require(c_inputs[i].name, "the name of an input");
    if (c_inputs[i].byte_count) require(c_inputs[i].values, "the values of an input");
    if (c_inputs[i].rank) require(c_inputs[i].dims, "the dims of an input");
    inputs.push_back({c_inputs[i].name,
                      {static_cast<const std::byte*>(c_inputs[i].values), c_inputs[i].byte_count},
                      {c_inputs[i].dims, c_inputs[i].dims ? c_inputs[i].rank : 0}});
  }
  return inputs;
}

std::vector<vellum::OutputValues> vellum::c_api::output_values(const vellum_output_values* c_outputs,
                                                               size_t count) {
  std::vector<vellum::OutputValues> outputs;
  if (count) require(c_outputs, "outputs");
  for (size_t i = 0; i < count; ++i) {
    require(c_outputs[i].name, "the name of an output");
    if (c_outputs[i].byte_count) require(c_outputs[i].values, "the memory for an output");
    outputs.push_back(
        {c_outputs[i].name, {static_cast<std::byte*>(c_outputs[i].values), c_outputs[i].byte_count}});
  }
  return outputs;
}

std::map<std::string, vellum::Tensor> vellum::c_api::input_tensors(const vellum::Session& session,
                                                                   const vellum_input_values* inputs,
                                                                   size_t count) {
  std::map<std::string, vellum::Tensor> tensors;
  for (const vellum::InputValues& input : input_values(inputs, count)) {
    const auto known = std::ranges::find_if(
        session.inputs(), [&](const vellum::TensorInfo& info) { return info.has_name(input.name); });
    const std::string name(input.name);
    if (known == session.inputs().end())
      throw vellum::Error(vellum::ErrorCode::not_found, "there is no input '" + name + "'");
    if (tensors.contains(name))
      throw vellum::Error(vellum::ErrorCode::invalid_argument, "input '" + name + "' is given twice");
    const vellum::Shape shape =
        input.shape.empty() ? known->shape : vellum::Shape(input.shape.begin(), input.shape.end());
    const size_t bytes = vellum::c_api::byte_size({name, known->dtype, shape});
    if (bytes != input.values.size())
      throw vellum::Error(vellum::ErrorCode::invalid_argument,
                          "input '" + name + "' of shape " + vellum::to_string(shape) + " takes " +
                              std::to_string(bytes) + " bytes, but " + std::to_string(input.values.size()) +
                              " were given");
    const std::shared_ptr<const std::byte> values(std::shared_ptr<void>(), input.values.data());
    tensors.emplace(name, vellum::Tensor(known->dtype, shape, values));
  }
  return tensors;
}

namespace {

// Gives the caller the run that submit(session) begins, or NULL if that began none.
template <typename Submit>
vellum_status begin_run(vellum_session* session, vellum_run** run, vellum_error* error,
                        const Submit& submit) {
  if (run) *run = nullptr;
  return guarded(error, [&] {
    require(session, "session");
    require(run, "run");
    auto made = std::make_unique<vellum_run>();
    made->run = submit(session->session);
    if (!made->run.valid()) return;
    *run = made.release();
    session->has_run = true;
  });
}

}  // namespace

vellum_status vellum_session_submit(vellum_session* session, const vellum_input_values* inputs,
                                    size_t input_count, const vellum_output_values* outputs,
                                    size_t output_count, vellum_run** run, vellum_error* error) {
  return begin_run(session, run, error, [&](vellum::Session& to) {
    return to.submit(input_values(inputs, input_count), output_values(outputs, output_count));
  });
}

vellum_status vellum_session_try_submit(vellum_session* session, const vellum_input_values* inputs,
                                        size_t input_count, const vellum_output_values* outputs,
                                        size_t output_count, vellum_run** run, vellum_error* error) {
  return begin_run(session, run, error, [&](vellum::Session& to) {
    return to.try_submit(input_values(inputs, input_count), output_values(outputs, output_count));
  });
}

vellum_status vellum_session_submit_and_keep(vellum_session* session, const vellum_input_values* inputs,
                                             size_t input_count, vellum_run** run, vellum_error* error) {
  return begin_run(session, run, error, [&](vellum::Session& to) {
    return to.submit(vellum::c_api::input_tensors(to, inputs, input_count));
  });
}

vellum_status vellum_session_try_submit_and_keep(vellum_session* session, const vellum_input_values* inputs,
                                                 size_t input_count, vellum_run** run, vellum_error* error) {
  return begin_run(session, run, error, [&](vellum::Session& to) {
    return to.try_submit(vellum::c_api::input_tensors(to, inputs, input_count));
  });
}

vellum_status vellum_run_output(const vellum_run* run, const char* name, vellum_tensor** tensor,
                                vellum_error* error) {
  if (tensor) *tensor = nullptr;
  return guarded(error, [&] {
    require(run, "run");
    require(name, "name");
    require(tensor, "tensor");
    *tensor = vellum::c_api::new_tensor(name, run->run.output(name));
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

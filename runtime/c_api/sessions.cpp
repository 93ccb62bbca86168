// Sessions, for C.
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "c_api/support.hpp"

namespace {

using vellum::Error;
using vellum::ErrorCode;
using vellum::c_api::byte_size;
using vellum::c_api::guarded;
using vellum::c_api::make_text;
using vellum::c_api::require;
using vellum::c_api::write_result;
using vellum::c_api::write_tensor_info;

const vellum::TensorInfo& find(const std::vector<vellum::TensorInfo>& tensors, const char* name,
                               const char* kind) {
  for (const vellum::TensorInfo& tensor : tensors)
    if (tensor.has_name(name)) return tensor;
  std::string known;
  for (const vellum::TensorInfo& tensor : tensors) known += (known.empty() ? "'" : ", '") + tensor.name + "'";
  throw Error(ErrorCode::not_found,
              "there is no " + std::string(kind) + " '" + name + "'; the model has " + known);
}

void check_size(const vellum::TensorInfo& tensor, size_t byte_count) {
  if (byte_count != byte_size(tensor))
    throw Error(ErrorCode::invalid_argument,
                "'" + tensor.name + "' is " + std::string(vellum::name(tensor.dtype)) + " " +
                    vellum::to_string(tensor.shape) + ", which takes " + std::to_string(byte_size(tensor)) +
                    " bytes, but " + std::to_string(byte_count) + " were given");
}

// The caller's bytes as they lie there: set_input() has copied them when it returns.
void set_input(vellum_session& session, const vellum::TensorInfo& input, const void* values,
               size_t byte_count) {
  check_size(input, byte_count);
  const std::shared_ptr<const std::byte> bytes(std::shared_ptr<void>(),
                                               static_cast<const std::byte*>(values));
  session.session.set_input(input.name, vellum::Tensor(input.dtype, input.shape, bytes));
}

}  // namespace

vellum_status vellum_session_create(const vellum_device* device, const vellum_model* model,
                                    const vellum_session_options* options, vellum_session** session,
                                    vellum_error* error) {
  if (session) *session = nullptr;
  return guarded(error, [&] {
    require(device, "device");
    require(model, "model");
    require(session, "session");
    const vellum::SessionOptions session_options = vellum::c_api::session_options(options);
    *session = new vellum_session(vellum::Session(device->device, model->model, session_options),
                                  session_options.profile);
  });
}

void vellum_session_destroy(vellum_session* session) { delete session; }

size_t vellum_session_warning_count(const vellum_session* session) {
  return session ? session->session.warnings().size() : 0;
}

const char* vellum_session_warning(const vellum_session* session, size_t index) {
  return index < vellum_session_warning_count(session) ? session->session.warnings()[index].c_str() : "";
}

size_t vellum_session_input_count(const vellum_session* session) {
  return session ? session->session.inputs().size() : 0;
}

size_t vellum_session_output_count(const vellum_session* session) {
  return session ? session->session.outputs().size() : 0;
}

vellum_status vellum_session_input(const vellum_session* session, size_t index, vellum_tensor_info* info,
                                   vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    write_tensor_info(session->session.inputs(), index, "input", info);
  });
}

vellum_status vellum_session_output(const vellum_session* session, size_t index, vellum_tensor_info* info,
                                    vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    write_tensor_info(session->session.outputs(), index, "output", info);
  });
}

vellum_status vellum_session_set_input(vellum_session* session, const char* name, const void* values,
                                       size_t byte_count, vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    require(name, "name");
    require(values, "values");
    const vellum::TensorInfo& input = find(session->session.inputs(), name, "input");
    if (!vellum::is_known(input.shape))
      throw Error(ErrorCode::invalid_argument, "the shape of input '" + input.name + "' is open (" +
                                                   vellum::to_string(input.shape) +
                                                   "); use vellum_session_set_input_shaped");
    set_input(*session, input, values, byte_count);
  });
}

vellum_status vellum_session_set_input_shaped(vellum_session* session, const char* name, const int64_t* dims,
                                              size_t rank, const void* values, size_t byte_count,
                                              vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    require(name, "name");
    if (rank) require(dims, "dims");
    require(values, "values");
    vellum::TensorInfo input = find(session->session.inputs(), name, "input");
    input.shape = vellum::Shape(dims, dims + rank);
    if (!std::all_of(dims, dims + rank, [](int64_t dim) { return dim >= 0; }))
      throw Error(ErrorCode::invalid_argument, "the shape given for input '" + input.name + "', " +
                                                   vellum::to_string(input.shape) +
                                                   ", has a negative dimension");
    set_input(*session, input, values, byte_count);
  });
}

vellum_status vellum_session_prepare(vellum_session* session, const vellum_input_shape* shapes,
                                     size_t shape_count, vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    session->drop_plan();
    session->session.prepare(vellum::c_api::input_shapes(shapes, shape_count));
  });
}

vellum_status vellum_session_run(vellum_session* session, vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    session->drop_plan();
    session->session.run();
    session->has_run = true;
    session->read_layers();
  });
}

vellum_status vellum_session_get_output(const vellum_session* session, const char* name, void* values,
                                        size_t byte_count, vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    require(name, "name");
    if (byte_count) require(values, "values");
    check_size(find(session->session.outputs(), name, "output"), byte_count);
    session->session.output(name, std::span(static_cast<std::byte*>(values), byte_count));
  });
}

vellum_status vellum_session_output_tensor(const vellum_session* session, const char* name,
                                           vellum_tensor** tensor, vellum_error* error) {
  if (tensor) *tensor = nullptr;
  return guarded(error, [&] {
    require(session, "session");
    require(name, "name");
    require(tensor, "tensor");
    *tensor = vellum::c_api::new_tensor(name, session->session.output(name));
  });
}

vellum_status vellum_session_get_counts(const vellum_session* session, vellum_session_counts* counts,
                                        vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    const vellum::Session& asked = session->session;
    write_result(counts, {0, asked.dispatch_count(), asked.pipeline_count(), asked.barrier_count()},
                 "counts");
  });
}

vellum_status vellum_graph_passes(vellum_text** names, vellum_error* error) {
  return make_text(names, error, [] {
    std::string text;
    for (const std::string& pass : vellum::graph_passes()) text += pass + "\n";
    return text;
  });
}

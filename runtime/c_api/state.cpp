// State of sessions, for C.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "c_api/support.hpp"

using vellum::Error;
using vellum::ErrorCode;
using vellum::c_api::byte_size;
using vellum::c_api::guarded;
using vellum::c_api::require;
using vellum::c_api::require_index;
using vellum::c_api::write_result;

struct vellum_saved_state {
  vellum::SavedState state;
};

namespace {

vellum::TensorInfo info_of(const vellum::StateInfo& state) { return {state.input, state.dtype, state.shape}; }

const vellum::StateInfo& find_state(const vellum_session& session, const char* name) {
  for (const vellum::StateInfo& state : session.session.states())
    if (state.input == name || state.output == name) return state;
  throw Error(ErrorCode::not_found, "'" + std::string(name) + "' is no state of the session");
}

void check_bytes(const vellum::StateInfo& state, size_t byte_count) {
  const size_t wanted = byte_size(info_of(state));
  if (byte_count != wanted)
    throw Error(ErrorCode::invalid_argument, "state '" + state.input + "' takes " + std::to_string(wanted) +
                                                 " bytes, but " + std::to_string(byte_count) + " were given");
}

}  // namespace

size_t vellum_session_state_count(const vellum_session* session) {
  return session ? session->session.states().size() : 0;
}

vellum_status vellum_session_state(const vellum_session* session, size_t index, vellum_state_info* info,
                                   vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    require(info, "info");
    const std::vector<vellum::StateInfo>& states = session->session.states();
    require_index(index, states.size(), "state");
    const vellum::StateInfo& state = states[index];
    write_result(info,
                 vellum_state_info{0, state.input.c_str(), state.output.c_str(), state.shape.data(),
                                   state.shape.size(), static_cast<vellum_dtype>(state.dtype),
                                   byte_size(info_of(state))},
                 "info");
  });
}

vellum_status vellum_session_reset_state(vellum_session* session, vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    session->session.reset_state();
  });
}

vellum_status vellum_session_get_state(const vellum_session* session, const char* name, void* values,
                                       size_t byte_count, vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    require(name, "name");
    require(values, "values");
    check_bytes(find_state(*session, name), byte_count);
    const vellum::Tensor tensor = session->session.state(name);
    if (byte_count) std::memcpy(values, tensor.data(), byte_count);
  });
}

vellum_status vellum_session_set_state(vellum_session* session, const char* name, const void* values,
                                       size_t byte_count, vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    require(name, "name");
    require(values, "values");
    const vellum::StateInfo& state = find_state(*session, name);
    check_bytes(state, byte_count);
    const std::shared_ptr<const std::byte> bytes(std::shared_ptr<void>(),
                                                 static_cast<const std::byte*>(values));
    session->session.set_state(name, vellum::Tensor(state.dtype, state.shape, bytes));
  });
}

vellum_status vellum_session_save_state(const vellum_session* session, vellum_saved_state** saved,
                                        vellum_error* error) {
  if (saved) *saved = nullptr;
  return guarded(error, [&] {
    require(session, "session");
    require(saved, "saved");
    *saved = new vellum_saved_state{session->session.save_state()};
  });
}

vellum_status vellum_session_restore_state(vellum_session* session, const vellum_saved_state* saved,
                                           vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    require(saved, "saved");
    session->session.restore_state(saved->state);
  });
}

void vellum_saved_state_destroy(vellum_saved_state* saved) { delete saved; }

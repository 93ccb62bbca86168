// Session's functions for state: inputs that stay on the device and get the value of an output in each run.
#include <algorithm>
#include <utility>

#include "api/guard.hpp"
#include "api/session_impl.hpp"
#include "passes/caches/growing_caches.hpp"
#include "vulkan/context.hpp"

namespace vellum {

bool Session::Impl::is_state_input(size_t index) const {
  return std::ranges::find(states, index, &StatePair::input) != states.end();
}

bool Session::Impl::is_state_output(size_t index) const {
  return std::ranges::find(states, index, &StatePair::output) != states.end();
}

void Session::Impl::require_no_state_input(size_t index) const {
  if (is_state_input(index))
    throw Error(ErrorCode::invalid_argument, "input '" + model.inputs()[index].name +
                                                 "' is state of the session: set_state() and reset_state() "
                                                 "change it, runs continue it");
}

void Session::Impl::require_no_state_output(size_t index) const {
  if (is_state_output(index))
    throw Error(ErrorCode::invalid_argument,
                "output '" + model.outputs()[index].name + "' is state of the session: state() reads it");
}

void Session::Impl::check_state_options() const {
  if (states.empty()) return;
  if (options.in_flight > 1)
    throw Error(ErrorCode::invalid_argument,
                "with state each run needs the state of the run before: in_flight must be 1");
  if (options.repeat_every > 0)
    throw Error(ErrorCode::invalid_argument,
                "with state a run cannot be repeated: it changes what it reads; repeat_every must be 0");
  for (const StatePair& pair : states)
    if (model.inputs()[pair.input].decides_shapes)
      throw Error(ErrorCode::invalid_argument, "input '" + model.inputs()[pair.input].name +
                                                   "' cannot be state: its values decide shapes");
}

void Session::Impl::prepare_state(const Program& program) {
  if (states.empty()) return;
  if (state) {
    if (state->has_descs_of(program)) return;
    throw Error(
        ErrorCode::invalid_argument,
        "the shapes of states are fixed when the session is first prepared: these inputs give others; "
        "make another session for them");
  }
  state = std::make_shared<StateMemory>(impl(device)->context, program, memory_budget);
  try {
    reset_state();
  } catch (...) {
    state.reset();
    throw;
  }
}

void Session::Impl::reset_state() {
  state->fill_with_zeros();
  for (size_t i = 0; i < states.size(); ++i)
    if (const auto& initial = model.inputs()[states[i].input].initial_value) state->write(i, *initial);
  cached_tokens = 0;
}

void Session::Impl::append_tokens(uint32_t steps) {
  if (new_tokens == 0) return;
  const int64_t added = new_tokens * int64_t{steps};
  if (cached_tokens + added > int64_t{options.state_capacity})
    throw Error(ErrorCode::invalid_argument,
                "the caches hold " + std::to_string(cached_tokens) + " tokens of " +
                    std::to_string(options.state_capacity) + ": " + std::to_string(added) +
                    " more have no room; reset the state, or make a session with a larger state_capacity");
  cached_tokens += added;
}

bool Session::Impl::is_cache_length(size_t index, const Tensor& tensor) const {
  if (options.state_capacity == 0 || state_infos[index].input != kCacheLength) return false;
  const int64_t length = tensor.to_ints().at(0);
  if (length < 0 || length > int64_t{options.state_capacity})
    throw Error(ErrorCode::invalid_argument, "a cache of " + std::to_string(options.state_capacity) +
                                                 " tokens cannot hold " + std::to_string(length));
  return true;
}

void Session::Impl::count_cached_tokens() {
  if (new_tokens > 0) cached_tokens = state->read(state_position(kCacheLength), DType::i64).to_ints().at(0);
}

void Session::Impl::update_state_infos() {
  state_infos.clear();
  for (const StatePair& pair : states)
    state_infos.push_back({inputs[pair.input].name, outputs[pair.output].name, inputs[pair.input].dtype,
                           inputs[pair.input].shape});
}

size_t Session::Impl::state_position(std::string_view name) const {
  std::string names;
  for (size_t i = 0; i < states.size(); ++i) {
    const TensorInfo &input = model.inputs()[states[i].input], &output = model.outputs()[states[i].output];
    names += (i ? ", '" : "'") + input.name + "'";
    if (!input.has_name(name) && !output.has_name(name)) continue;
    if (!state)
      throw Error(ErrorCode::invalid_argument,
                  "the session has no state yet: give the shapes of its inputs, or run it, first");
    return i;
  }
  throw Error(ErrorCode::not_found, "'" + std::string(name) + "' is no state of the session" +
                                        (states.empty() ? ", which has none" : "; it has " + names));
}

uint64_t SavedState::bytes() const { return memory_ ? memory_->bytes() : 0; }

const std::vector<StateInfo>& Session::states() const { return checked().state_infos; }

void Session::reset_state() {
  guard([&] {
    const SessionUses::Exclusive use(checked().uses);
    const RequestQueue::Lock lock = checked().drained();
    if (checked().state) checked().reset_state();
  });
}

Tensor Session::state(std::string_view name) const {
  return guard([&] {
    const SessionUses::Exclusive use(checked().uses);
    const RequestQueue::Lock lock = checked().drained();
    const size_t index = checked().state_position(name);
    return checked().state->read(index, checked().state_infos[index].dtype);
  });
}

void Session::set_state(std::string_view name, const Tensor& tensor) {
  guard([&] {
    const SessionUses::Exclusive use(checked().uses);
    const RequestQueue::Lock lock = checked().drained();
    const size_t index = checked().state_position(name);
    const StateInfo& info = checked().state_infos[index];
    check_holds_values(info.input, tensor);
    if (tensor.type() != TensorType{info.dtype, info.shape})
      throw Error(ErrorCode::invalid_argument, "state '" + info.input + "' is " +
                                                   to_string(TensorType{info.dtype, info.shape}) +
                                                   ", the tensor " + to_string(tensor.type()));
    const bool is_length = checked().is_cache_length(index, tensor);
    checked().state->write(index, tensor);
    if (is_length) checked().cached_tokens = tensor.to_ints().at(0);
  });
}

SavedState Session::save_state() const {
  return guard([&] {
    const SessionUses::Exclusive use(checked().uses);
    const RequestQueue::Lock lock = checked().drained();
    if (!checked().state)
      throw Error(ErrorCode::invalid_argument, "the session has no state, or is not prepared yet");
    SavedState saved;
    saved.memory_ = checked().state->copy();
    return saved;
  });
}

void Session::restore_state(const SavedState& saved) {
  guard([&] {
    const SessionUses::Exclusive use(checked().uses);
    const RequestQueue::Lock lock = checked().drained();
    if (!saved.valid()) throw Error(ErrorCode::invalid_argument, "the saved state is empty");
    if (!checked().state)
      throw Error(ErrorCode::invalid_argument, "the session has no state, or is not prepared yet");
    if (saved.memory_->context() != checked().state->context())
      throw Error(ErrorCode::invalid_argument, "the saved state is of another device than the session");
    if (!checked().state->has_descs_of(*saved.memory_))
      throw Error(ErrorCode::invalid_argument,
                  "the saved state is of a session whose states have other types or shapes");
    checked().state->copy_from(*saved.memory_);
    checked().count_cached_tokens();
  });
}

}  // namespace vellum

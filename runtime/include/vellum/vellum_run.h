/*
 * Runs in flight: inferences that are submitted and waited for. A part of vellum/vellum.h.
 */
#ifndef VELLUM_RUN_H
#define VELLUM_RUN_H

#include "vellum/vellum_session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An inference that was submitted. It may outlive its session. */
typedef struct vellum_run vellum_run;

/* An input in the caller's memory. */
typedef struct vellum_input_values {
  const char* name;
  const void* values;
  size_t byte_count;
  const int64_t* dims; /* outermost first; NULL: the input's current shape */
  size_t rank;
} vellum_input_values;

/* The memory for an output; `byte_count` must be its byte_size. */
typedef struct vellum_output_values {
  const char* name;
  void* values;
  size_t byte_count;
} vellum_output_values;

/*
 * Begins an inference and returns as soon as it is submitted. If vellum_session_options.in_flight runs are under way,
 * it first waits for the oldest. `inputs` must list every input, and is copied. `outputs` lists memory to write to,
 * which belongs to the library until the run is done or destroyed. Every output whose shape is known may be listed. An
 * output whose shape only the run determines is kept for vellum_run_output(). Other outputs that are not listed are not
 * read. Inputs of vellum_session_set_input() and the outputs of the last vellum_session_run() are dropped. May be
 * called from several threads at once.
 */
VELLUM_C_API vellum_status vellum_session_submit(vellum_session* session, const vellum_input_values* inputs,
                                                 size_t input_count, const vellum_output_values* outputs,
                                                 size_t output_count, vellum_run** run, vellum_error* error);
/*
 * Begins an inference as vellum_session_submit() does, if a run can begin at once. Otherwise, while in_flight runs are
 * under way, returns VELLUM_OK with *run NULL, so that a producer of frames can drop this frame. Never waits for the
 * device. VELLUM_INVALID_ARGUMENT if the session is not prepared for these shapes.
 */
VELLUM_C_API vellum_status vellum_session_try_submit(vellum_session* session, const vellum_input_values* inputs,
                                                     size_t input_count, const vellum_output_values* outputs,
                                                     size_t output_count, vellum_run** run, vellum_error* error);
/*
 * Begin an inference as the two functions above do, and keep all of its outputs for vellum_run_output(). Use them for
 * outputs whose sizes are not known in advance.
 */
VELLUM_C_API vellum_status vellum_session_submit_and_keep(vellum_session* session, const vellum_input_values* inputs,
                                                          size_t input_count, vellum_run** run, vellum_error* error);
VELLUM_C_API vellum_status vellum_session_try_submit_and_keep(vellum_session* session,
                                                              const vellum_input_values* inputs, size_t input_count,
                                                              vellum_run** run, vellum_error* error);
/*
 * Waits, then returns an output that was kept. Runs of the two functions above keep all outputs; every run keeps its
 * outputs with data-dependent shapes. VELLUM_NOT_FOUND for other outputs.
 */
VELLUM_C_API vellum_status vellum_run_output(const vellum_run* run, const char* name, vellum_tensor** tensor,
                                             vellum_error* error);
/* Sets *done to not 0 if vellum_run_wait() would return at once. Does not wait. */
VELLUM_C_API vellum_status vellum_run_done(const vellum_run* run, int32_t* done, vellum_error* error);
/* Waits until the run and earlier ones are done and its outputs are written. Returns the run's error on every call. */
VELLUM_C_API vellum_status vellum_run_wait(const vellum_run* run, vellum_error* error);
/* Waits at most `milliseconds` for the device, then sets *done as vellum_run_done() does. */
VELLUM_C_API vellum_status vellum_run_wait_for(const vellum_run* run, uint32_t milliseconds, int32_t* done,
                                               vellum_error* error);
/*
 * Stops the parts of the run that were not submitted yet, and operators on the host; returns at once. When
 * the submitted parts are done, vellum_run_wait() returns VELLUM_CANCELLED. See Run::cancel() in
 * vellum/session.hpp. May be called from any thread.
 */
VELLUM_C_API vellum_status vellum_run_cancel(const vellum_run* run, vellum_error* error);
/* Waits for the run, so that nothing is written to the caller's memory afterwards. */
VELLUM_C_API void vellum_run_destroy(vellum_run* run);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* VELLUM_RUN_H */

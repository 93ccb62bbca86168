/*
 * Loops of runs on the device: steps of diffusion, greedy decoding. vellum/steps.hpp defines the terms. A part of
 * vellum/vellum.h.
 *
 *   const vellum_feedback feedback = {"next", "input_ids"};
 *   const char* const kept[] = {"next"};
 *   vellum_step_options options;
 *   vellum_step_options_init(&options);
 *   options.steps = 64;
 *   options.feedback = &feedback, options.feedback_count = 1;
 *   options.step_outputs = kept, options.step_output_count = 1;
 *   options.end_output = "next", options.end_values = &end_of_text, options.end_value_count = 1;
 *   vellum_step_loop_create(session, &options, &loop, &error);
 *   vellum_step_loop_run(loop, session, &first_token, 1, NULL, NULL, &results, &error);
 *   vellum_step_loop_output(loop, "next", &tokens, &error);
 */
#ifndef VELLUM_STEPS_H
#define VELLUM_STEPS_H

#include "vellum/vellum_run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An output of a step that is an input of the next one. */
typedef struct vellum_feedback {
  const char* output;
  const char* input;
} vellum_feedback;

/* Fill it with vellum_step_options_init(), then change what should differ. */
typedef struct vellum_step_options {
  size_t size;               /* of this struct, as the caller was compiled */
  uint32_t steps;            /* the most steps of a run; default 1 */
  uint32_t steps_per_submit; /* 0: as many as are predicted to take a second */
  const vellum_feedback* feedback;
  size_t feedback_count;
  const char* const* step_inputs; /* inputs with a value for each step */
  size_t step_input_count;
  const char* const* step_outputs; /* outputs whose value after each step is returned */
  size_t step_output_count;
  const char* end_output; /* an integer output that ends the loop; NULL or empty: all steps run */
  const int64_t* end_values;
  size_t end_value_count; /* at most 8 */
} vellum_step_options;
VELLUM_C_API void vellum_step_options_init_sized(vellum_step_options* options, size_t size);
#define vellum_step_options_init(options) vellum_step_options_init_sized((options), sizeof(vellum_step_options))

/* Steps that are bound. One thread at a time. It may outlive its session. */
typedef struct vellum_step_loop vellum_step_loop;

/* Binds steps for the current input shapes of a session that is prepared: Session::bind_steps(). */
VELLUM_C_API vellum_status vellum_step_loop_create(vellum_session* session, const vellum_step_options* options,
                                                   vellum_step_loop** loop, vellum_error* error);
VELLUM_C_API void vellum_step_loop_destroy(vellum_step_loop* loop);

typedef struct vellum_step_results {
  size_t size;    /* of this struct, as the caller was compiled */
  uint32_t steps; /* that ran */
  int32_t ended;  /* not 0: by end_output */
} vellum_step_results;

/*
 * Called between submits with the number of steps that are done. Returns 0 to go on; anything else stops the run: steps
 * that are submitted are completed, and the function below succeeds with the results so far. It must not call the
 * session.
 */
typedef int32_t (*vellum_step_callback)(uint32_t steps, void* user);

/*
 * Runs the steps of a loop of the session, and returns when they are done: Session::run_steps(). `inputs`: inputs of the
 * first step; those of step_inputs have one more dimension, the steps, in front of their dims. Inputs that are not listed
 * keep their values. `progress` may be NULL.
 */
VELLUM_C_API vellum_status vellum_step_loop_run(vellum_step_loop* loop, vellum_session* session,
                                                const vellum_input_values* inputs, size_t input_count,
                                                vellum_step_callback progress, void* user,
                                                vellum_step_results* results, vellum_error* error);
/* Returns the values of one of step_outputs after each step of the last run: {steps, dims of the output}. */
VELLUM_C_API vellum_status vellum_step_loop_output(const vellum_step_loop* loop, const char* name,
                                                   vellum_tensor** tensor, vellum_error* error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* VELLUM_STEPS_H */

/*
 * Vellum in C: Vulkan compute inference for vision models, with planned, shared memory.
 *
 *   vellum_error error;
 *   vellum_device* device = NULL;
 *   vellum_model* model = NULL;
 *   vellum_session* session = NULL;
 *   if (vellum_device_open(NULL, &device, &error) || vellum_model_load("model.onnx", &model, &error) ||
 *       vellum_session_create(device, model, NULL, &session, &error) ||
 *       vellum_session_set_input(session, "image", pixels, sizeof pixels, &error) ||
 *       vellum_session_run(session, &error) ||
 *       vellum_session_get_output(session, "scores", scores, sizeof scores, &error))
 *     fprintf(stderr, "%s\n", error.message);
 *
 * Every function that can fail returns a status, 0 for success, and fills a vellum_error, which may be NULL. Nothing is
 * thrown. A function that fails to make a handle sets it to NULL. Strings are UTF-8 and end with a zero; strings that
 * the library returns are valid as long as the handle that they come from. Destroying NULL does nothing. A session
 * keeps its device and model alive: they may be destroyed in any order.
 *
 * Structs with a `size` may grow at their end in later versions, and are read and filled as far as the caller knows them:
 * set it to the size of the struct first, as `vellum_tensor_info info = VELLUM_SIZED(vellum_tensor_info);` does. Options
 * are filled by their _init macro, which sets it. The function of the same name, for callers without these headers, fills
 * the struct as version 0.2.0 had it; _init_sized takes the size of any later one. Structs without a `size` never change.
 *
 * Threads: devices and models may be used from several threads at once, a session from one at a time, except for
 * submitting runs. Different runs may be used on different threads.
 */
#ifndef VELLUM_H
#define VELLUM_H

#include "vellum/vellum_base.h"
#include "vellum/vellum_bundle.h"
#include "vellum/vellum_device.h"
#include "vellum/vellum_estimate.h"
#include "vellum/vellum_kernels.h"
#include "vellum/vellum_large_picture.h"
#include "vellum/vellum_model.h"
#include "vellum/vellum_quantize.h"
#include "vellum/vellum_report.h"
#include "vellum/vellum_run.h"
#include "vellum/vellum_session.h"
#include "vellum/vellum_steps.h"
#include "vellum/vellum_tune.h"

#endif /* VELLUM_H */

/* What a program in C does with frames: 0, or the line of the first check that failed. */
#ifndef VELLUM_TESTS_API_C_FRAME_PROGRAM_H
#define VELLUM_TESTS_API_C_FRAME_PROGRAM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs a model with an input "x" of 9 x 11 pixels and an output "y" on an NV12 frame of 64 x 36 pixels, normalised by
 * 128, averaged, letterboxed and mirrored. `what` receives what was wrong. */
int frame_in_c(const void* model_bytes, size_t model_size, const unsigned char* frame, size_t frame_bytes,
               float* output, size_t output_bytes, char what[512]);

#ifdef __cplusplus
}
#endif

#endif

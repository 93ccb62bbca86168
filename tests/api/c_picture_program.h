/* What a program in C does with pictures: 0, or the line of the first check that failed. */
#ifndef VELLUM_TESTS_API_C_PICTURE_PROGRAM_H
#define VELLUM_TESTS_API_C_PICTURE_PROGRAM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs a model with an input "x" of 9 x 11 pixels on a letterboxed NV12 frame of 64 x 36 pixels, and makes of the output
 * "y", from -0.5 to 1, a picture of 32 x 36 pixels over the frame, from opaque to transparent green. `what` receives what
 * was wrong. */
int picture_in_c(const void* model_bytes, size_t model_size, const unsigned char* frame, size_t frame_bytes,
                 unsigned char* picture, size_t picture_bytes, char what[512]);

#ifdef __cplusplus
}
#endif

#endif

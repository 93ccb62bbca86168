/* What the C program of large pictures tells the test: 0, or the line of the first check that failed. */
#ifndef VELLUM_TESTS_API_C_LARGE_PICTURE_PROGRAM_H
#define VELLUM_TESTS_API_C_LARGE_PICTURE_PROGRAM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs a network of the input "x", of three channels, in tiles of at most tile rows and columns over a
 * picture that it is given whole; `output` receives the whole output, of three channels and `scale` times the
 * rows and columns. */
int large_picture_in_c(const void* model_bytes, size_t model_size, const float* input, int height, int width,
                       int tile, int scale, float* output, char what[512]);

#ifdef __cplusplus
}
#endif

#endif

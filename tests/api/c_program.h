/* What the C program tells the test: 0, or the line of the first check that failed. */
#ifndef VELLUM_TESTS_API_C_PROGRAM_H
#define VELLUM_TESTS_API_C_PROGRAM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs a model of one float input and one float output on the test's device. `what` receives what was wrong. */
int run_in_c(const void* model_bytes, size_t model_size, const float* input, size_t input_count, float* output,
             size_t output_count, char what[512]);
/* Runs a model whose input "x" has four floats and whose output "places" tells where they are positive, one row of int64,
 * several times. */
int find_in_c(const void* model_bytes, size_t model_size, char what[512]);
/* Tunes for the model with the input "x" and the output "y"; then three inferences of it, two at once; `outputs` has room
 * for all. */
int submit_in_c(const void* model_bytes, size_t model_size, const float* input, size_t input_count,
                float* outputs, size_t output_count, char what[512]);
/* Reports, pages and tensors of that model, whose nodes are four; `file` has it, too. */
int report_in_c(const void* model_bytes, size_t model_size, const char* file, const float* input, size_t input_count,
                char what[512]);
/* Checks kernels of the test's device. */
int check_kernels_in_c(char what[512]);
/* Reads what example_kernel_report() of the test has. */
struct vellum_kernel_report;
int read_kernel_report_in_c(const struct vellum_kernel_report* report, char what[512]);
/* That model and its bundle in borrowed memory; `outputs` has room for both. */
int in_memory_in_c(const void* model_bytes, size_t model_size, const float* input, size_t input_count, float* outputs,
                   size_t output_count, char what[512]);
/* Quantises a model with the input "x" of (1, 3, 9, 11) and the output "y", whose layers with weights are two. */
int quantize_in_c(const void* model_bytes, size_t model_size, char what[512]);
/* Structs of another size than this header's. */
int sizes_in_c(char what[512]);
/* Calls that must fail, on a model with the input "x" and the output "y". */
int misuse_in_c(const void* model_bytes, size_t model_size, char what[512]);

#ifdef __cplusplus
}
#endif

#endif

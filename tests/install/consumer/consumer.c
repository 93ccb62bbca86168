#include <stdio.h>
#include <vellum/vellum.h>

int main(int count, char** arguments) {
  vellum_error error;
  vellum_model* model = NULL;
  if (count != 2 || vellum_model_load(arguments[1], &model, &error) != VELLUM_OK) {
    fprintf(stderr, "%s\n", count == 2 ? error.message : "one argument: the model");
    return 1;
  }
  vellum_model_destroy(model);
  printf("loaded\n");
  return 0;
}

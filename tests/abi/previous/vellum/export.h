#ifndef VELLUM_EXPORT_H
#define VELLUM_EXPORT_H


#if defined(VELLUM_SHARED) && defined(_WIN32)
#ifdef VELLUM_BUILDING
#define VELLUM_API __declspec(dllexport)
#else
#define VELLUM_API __declspec(dllimport)
#endif
#elif defined(VELLUM_SHARED) && defined(__GNUC__)
#define VELLUM_API __attribute__((visibility("default")))
#else
#define VELLUM_API
#endif

#endif

/* VELLUM_API marks the functions and classes that a shared library of Vellum exports. */
#ifndef VELLUM_EXPORT_H
#define VELLUM_EXPORT_H

/* The target Vellum::vellum and vellum.pc define VELLUM_SHARED if Vellum is a shared library. */
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

#endif /* VELLUM_EXPORT_H */

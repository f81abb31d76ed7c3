/*
 * demangle.h - C++ and Rust names in source form.
 *
 * The demangler is that of the C++ runtime (__cxa_demangle), looked up when first
 * needed: without libstdc++, names are shown mangled.
 */
#ifndef RSC_COLLECT_SYMBOLS_DEMANGLE_H
#define RSC_COLLECT_SYMBOLS_DEMANGLE_H

struct rsc_demangler {
    char *(*demangle)(const char *name, char *buffer, unsigned long *bytes, int *status);
    int looked; /* for the library, found or not */
};

/*
 * The readable form of a name that starts with _Z, owned by the caller (free); NULL if
 * it is not such a name, cannot be demangled, or would be too long. The hash of Rust's
 * _ZN...17h<hash>E names is left out.
 */
char *rsc_demangle(struct rsc_demangler *demangler, const char *name);

#endif

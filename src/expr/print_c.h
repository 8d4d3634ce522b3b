/* Programs printed as C: what loops over them are written around (cpu/jit_loop.c). */
#ifndef FTB_PRINT_C_H
#define FTB_PRINT_C_H

#include "expr/program.h"

typedef struct ftb_printer {
    char *bytes; /* NULL: only counts */
    size_t used;
} ftb_printer;

void ftb_print(ftb_printer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Types of values in the code; truths are as wide as floats, so that loops vectorise. */
const char *ftb_print_type(FtB_Type t);
const char *ftb_print_stored_type(FtB_Type t); /* in memory; NULL: there is none in C */
/* What FTB_LEAST and its like, which C picks by _Generic, are for in C++: values of a compute type. */
void ftb_print_class(ftb_printer *w, FtB_Type t);
/* How a monoid combines x and y. */
const char *ftb_print_monoid(ftb_monoid monoid);
/* A function op<n> for each elementwise code n. */
void ftb_print_operators(ftb_printer *w, const ftb_program *p);
/* const <type> v<value> = ...; of a constant. */
void ftb_print_constant(ftb_printer *w, const ftb_program *p, int value);
/* const <type> v<out> = ...; of an elementwise code, a cast or a choice, over the values v<n> before it. */
void ftb_print_code(ftb_printer *w, const ftb_program *p, int c);
/* `value` cast to another type, as kernels cast. */
void ftb_print_cast(ftb_printer *w, FtB_Type to, FtB_Type from, const char *value);

#endif

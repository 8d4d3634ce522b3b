/* Messages compiled by the host's C compiler, if the environment variable FEATBLAS_JIT asks for it. */
#ifndef FTB_JIT_H
#define FTB_JIT_H

#include "cpu/jit_call.h"
#include "expr/message.h"

/* Reduces rows, as ftb_message_reduce does. */
typedef void (*ftb_jit_rows)(const ftb_jit_call *call);

extern const char ftb_jit_prelude[]; /* what all sources begin with (cmake/Embed.cmake) */
#define FTB_JIT_ENTRY "ftb_message_rows"

/* FEATBLAS_JIT is set to something. */
bool ftb_jit_wanted(void);
/* The function of a source: out of the process's table, the cache of files, or the compiler. NULL where there
 * is none, for whatever reason; never an error. (jit.c) */
ftb_jit_rows ftb_jit_compile(const char *source);
/* A source that reduces the message's program over a pattern, ftb_new()ed; NULL if it has none: what works
 * over features or whole blocks, 16-bit floats, few values, no memory. (jit_loop.c) */
char *ftb_codegen(const ftb_message *m, const ftb_program *p, const ftb_message_type *type,
                  bool wide_columns);

#endif

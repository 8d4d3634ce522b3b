/* Mutations of files for readers: bits and bytes, cuts, repetitions, and what means something to a reader. */
#ifndef TESTS_MUTATE_H
#define TESTS_MUTATE_H

#include "support/rng.h"

#include <stdbool.h>
#include <stddef.h>

enum { INPUT_ROOM = 65536 };

typedef struct input {
    char bytes[INPUT_ROOM];
    size_t size;
} input;

void put_text(input *in, const char *text); /* that and no more */
/* `count` bytes in place of `removed` ones (or as many as there are); nothing where there is no room. */
void put_at(input *in, size_t at, size_t removed, const void *bytes, size_t count);
void put_token(input *in, rng *r, size_t at); /* something that means something in a text */
/* One mutation. text: fields and lines are what it takes hold of, else numbers of four and eight bytes. */
void mutate(input *in, rng *r, bool text);

#endif

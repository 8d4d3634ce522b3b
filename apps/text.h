/* Small text files beside the input: tables of labels, lists of ids, headers. */
#ifndef APP_TEXT_H
#define APP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A whole file in memory, cut into records and fields in place. */
typedef struct text {
    const char *path;
    char *bytes; /* size of them, then a NUL */
    size_t size;
    char *at;       /* the next record */
    int64_t line;   /* of the record last read, from 1 */
    int64_t next;   /* line of the next record */
    char delimiter; /* guessed from the first line unless set before text_next */
} text;

/* Reads a file, gzip by content; at most `limit` bytes where limit > 0. Returns an exit code. */
int text_read(text *t, const char *path, size_t limit);
void text_free(text *t);
/* The next record's fields, NUL-terminated and unquoted ("a ""b""" is a "b"); a quoted field may span
 * lines. Fields beyond `room` are dropped. Returns how many fields there are, -1 at the end. */
int text_next(text *t, char **fields, int room);
/* The next line, without its end; NULL after the last. */
char *text_line(text *t);

/* Finds strings: open addressing over the positions 0..count-1 of some list. */
typedef struct string_index {
    const char *(*get)(const void *list, int64_t at);
    const void *list;
    int64_t *slots; /* position + 1, 0: free */
    size_t nslots;  /* a power of two */
} string_index;

bool string_index_build(string_index *x, int64_t count, const char *(*get)(const void *, int64_t),
                        const void *list);
int64_t string_index_find(const string_index *x, const char *word); /* the first position, or -1 */
void string_index_free(string_index *x);

/* The field that `word` means: a name in the header, or a number from 1; -1: none. */
int text_column(const char *word, int count, char *const *header);

#endif

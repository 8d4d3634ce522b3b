/* Words that messages are made of. */
#ifndef FTB_CORE_WORDS_H
#define FTB_CORE_WORDS_H

#include <stdint.h>
#include <string.h>

enum { FTB_WORDS = 32 }; /* room for each */

/* A number of bytes as --memory-limit takes it: "57M", rounded up; "12 bytes" below 1K. Returns buffer. */
char *ftb_bytes_text(char *buffer, double bytes);
/* The indices below n: "0 to 5"; "none" where there are none. Returns buffer. */
char *ftb_below_text(char *buffer, int64_t n);
/* Did you mean: the one of `words` that differs least from `word`, by a slip or two; NULL if none does. */
const char *ftb_closest(const char *word, int count, const char *const *words);

/* Copies as much of `word` as there is room for, and ends it; how long that is. In every call's path, where
 * snprintf took a fifth of a small product. */
static inline size_t ftb_put_word(char *to, size_t room, const char *word)
{
    const size_t whole = strlen(word), length = whole < room ? whole : room - 1;
    memcpy(to, word, length);
    to[length] = '\0';
    return length;
}

#endif

/* Words that messages are made of. */
#ifndef FTB_CORE_WORDS_H
#define FTB_CORE_WORDS_H

#include <stdint.h>

enum { FTB_WORDS = 32 }; /* room for each */

/* A number of bytes as --memory-limit takes it: "57M", rounded up; "12 bytes" below 1K. Returns buffer. */
char *ftb_bytes_text(char *buffer, double bytes);
/* The indices below n: "0 to 5"; "none" where there are none. Returns buffer. */
char *ftb_below_text(char *buffer, int64_t n);
/* Did you mean: the one of `words` that differs least from `word`, by a slip or two; NULL if none does. */
const char *ftb_closest(const char *word, int count, const char *const *words);

#endif

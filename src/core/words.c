/* Words that messages are made of (words.h). */
#include "core/words.h"

#include "core/core.h"

#include <math.h>
#include <stdio.h>

#define LONGEST 63 /* letters that are compared */

char *ftb_bytes_text(char *buffer, double bytes)
{
    static const char units[] = "KMGTP";
    double size = bytes / 1024;
    int unit = 0;
    if (bytes < 1024) {
        snprintf(buffer, FTB_WORDS, "%.0f bytes", bytes);
        return buffer;
    }
    for (; unit < 4 && (size >= 102400 || (size >= 1024 && fmod(size, 1024) == 0)); unit++)
        size /= 1024;
    snprintf(buffer, FTB_WORDS, "%.0f%c", ceil(size), units[unit]);
    return buffer;
}

char *ftb_below_text(char *buffer, int64_t n)
{
    snprintf(buffer, FTB_WORDS, n > 0 ? "0 to %lld" : "none", (long long)n - 1);
    return buffer;
}

/* Edits (insert, delete, replace, swap two neighbours) that make b of a; both of at most LONGEST letters. */
static int distance(const char *a, int na, const char *b, int nb)
{
    int rows[3][LONGEST + 1];
    int *before = rows[0], *last = rows[1], *now = rows[2];
    for (int y = 0; y <= nb; y++)
        last[y] = y;
    for (int x = 1; x <= na; x++) {
        now[0] = x;
        for (int y = 1; y <= nb; y++) {
            int replace = last[y - 1] + (a[x - 1] != b[y - 1]);
            now[y] = ftb_min(replace, ftb_min(last[y], now[y - 1]) + 1);
            if (x > 1 && y > 1 && a[x - 1] == b[y - 2] && a[x - 2] == b[y - 1])
                now[y] = ftb_min(now[y], before[y - 2] + 1);
        }
        int *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[nb];
}

const char *ftb_closest(const char *word, int count, const char *const *words)
{
    size_t length = strlen(word);
    if (length > LONGEST)
        return NULL;
    int best =
        length > 1 ? ftb_max(1, (int)length / 3) + 1 : 1; /* further away is another word, not a slip */
    const char *closest = NULL;
    for (int n = 0; n < count; n++) {
        size_t other = strlen(words[n]);
        if (other > LONGEST)
            continue;
        int d = distance(word, (int)length, words[n], (int)other);
        if (d < best) {
            best = d;
            closest = words[n];
        }
    }
    return closest;
}

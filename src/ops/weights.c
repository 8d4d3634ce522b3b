/* The named weights of FtB_project: semirings/weights.def as a table, and the nearest name to a wrong one. */
#include "ops/ops.h"

#define LONGEST 63 /* letters that ftb_closest compares */

#define FTB_WEIGHT(name, unweighted, prepare, semiring, epilogue, formula, summary)                          \
    {name, unweighted, prepare, semiring, epilogue, formula, summary},
static const ftb_weight weights[] = {
#include "weights.def"
};
#undef FTB_WEIGHT
#define COUNT ((int)(sizeof weights / sizeof *weights))

const ftb_weight *ftb_weights(int *count)
{
    *count = COUNT;
    return weights;
}

const ftb_weight *ftb_weight_find(const char *name)
{
    for (int n = 0; n < COUNT; n++)
        if (strcmp(weights[n].name, name) == 0)
            return &weights[n];
    return NULL;
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

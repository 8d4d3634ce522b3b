/* featblas project beside similaripy: tests/cases/similaripy holds two small matrices, of reals and of
 * structure, and what similaripy makes of their columns, the six largest of each; its values are FP32. */
#include "support/check.h"
#include "support/command.h"
#include "support/temporary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS = 24, TOP = 6, MOST = COLUMNS * COLUMNS };

typedef struct pairs {
    double value[COLUMNS + 1][COLUMNS + 1]; /* NAN: none; ids count from 1 */
} pairs;

typedef struct measure {
    const char *matrix, *name;
    const char *weight, *semiring, *epilogue; /* a weight, or the text of one */
} measure;

/* h: the dot product. Of structure, qi and qj are the degrees, as in the named weights. */
#define TVERSKY(alpha, beta) "h / (h + " alpha " * (qi - h) + " beta " * (qj - h))"
#define DOT "plus : a * b"
static const measure measures[] = {
    {"real", "dot", "dot", NULL, NULL},
    {"real", "cosine", "cosine", NULL, NULL},
    {"real", "asymmetric-cosine", "asymmetric-cosine", NULL, NULL},
    {"real", "jaccard", NULL, DOT, TVERSKY("1", "1")},
    {"real", "dice", NULL, DOT, TVERSKY("0.5", "0.5")},
    {"real", "tversky", NULL, DOT, TVERSKY("0.75", "0.25")},
    {"real", "p3", NULL, "plus : a * b / sk", "h / si"},
    {"real", "p3alpha", NULL, "plus : pow(a, 0.7) * pow(b / sk, 0.7)", "h / pow(si, 0.7)"},
    {"real", "rp3beta", NULL, "plus : a * b / sk", "h / si / pow(sj, 0.6)"},
    {"real", "s_plus", NULL, DOT,
     "h / (0.4 * (h + 0.7 * (qi - h) + 0.2 * (qj - h)) + 0.6 * pow(qi, 0.3) * pow(qj, 0.7))"},
    {"binary", "dot", "count", NULL, NULL},
    {"binary", "cosine", "cosine", NULL, NULL},
    {"binary", "asymmetric-cosine", "asymmetric-cosine", NULL, NULL},
    {"binary", "jaccard", "jaccard", NULL, NULL},
    {"binary", "dice", "dice", NULL, NULL},
    {"binary", "tversky", "tversky", NULL, NULL},
    {"binary", "p3", "heats", NULL, NULL},
    {"binary", "p3alpha", NULL, "plus : pow(1 / dk, 0.7)", "h / pow(di, 0.7)"},
    {"binary", "rp3beta", NULL, "plus : 1 / dk", "h / di / pow(dj, 0.6)"},
    {"binary", "s_plus", NULL, "plus : 1",
     "h / (0.4 * (h + 0.7 * (di - h) + 0.2 * (dj - h)) + 0.6 * pow(di, 0.3) * pow(dj, 0.7))"},
};

static int read_pairs(pairs *p, const char *path)
{
    char line[256];
    int i, j, count = 0;
    double value;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (i = 0; i <= COLUMNS; i++)
        for (j = 0; j <= COLUMNS; j++)
            p->value[i][j] = NAN;
    while (fgets(line, sizeof line, file))
        if (line[0] != '#' && sscanf(line, "%d %d %lf", &i, &j, &value) == 3) {
            assert_true(i >= 1 && i <= COLUMNS && j >= 1 && j <= COLUMNS && isnan(p->value[i][j]));
            p->value[i][j] = value;
            count++;
        }
    fclose(file);
    return count;
}

static int fewer(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The values of a row, the largest first. */
static int sorted(const pairs *p, int row, double *values)
{
    int count = 0;
    for (int j = 1; j <= COLUMNS; j++)
        if (!isnan(p->value[row][j]))
            values[count++] = p->value[row][j];
    qsort(values, (size_t)count, sizeof *values, fewer);
    return count;
}

static bool near(double a, double b) { return fabs(a - b) <= 1e-6 * fmax(1, fabs(b)); }

/* All of theirs are among ours, with their values, and every row's largest are the same: of equal ones, each
 * may keep others. */
static void compare(const measure *m, const pairs *all, const pairs *top, const pairs *theirs)
{
    for (int i = 1; i <= COLUMNS; i++) {
        double ours[COLUMNS], other[COLUMNS];
        const int count = sorted(theirs, i, other);
        for (int j = 1; j <= COLUMNS; j++)
            if (!isnan(theirs->value[i][j]) && !near(all->value[i][j], theirs->value[i][j]))
                fail_msg("%s of %s.mtx, pair %d %d: %.9g; similaripy has %.9g", m->name, m->matrix, i, j,
                         all->value[i][j], theirs->value[i][j]);
        if (sorted(top, i, ours) != count)
            fail_msg("%s of %s.mtx, column %d: not %d pairs", m->name, m->matrix, i, count);
        for (int k = 0; k < count; k++)
            if (!near(ours[k], other[k]))
                fail_msg("%s of %s.mtx, column %d, %d: %.9g; similaripy has %.9g", m->name, m->matrix, i, k,
                         ours[k], other[k]);
    }
}

static int project(pairs *p, const measure *m, const char *matrix, const char *top)
{
    const char *arguments[16] = {"featblas", "project", "-q", matrix, "--precision", "12"};
    int n = 6;
    if (m->weight) {
        arguments[n++] = "--weight";
        arguments[n++] = m->weight;
    } else {
        arguments[n++] = "--semiring";
        arguments[n++] = m->semiring;
        arguments[n++] = "--epilogue";
        arguments[n++] = m->epilogue;
    }
    if (top) {
        arguments[n++] = "--top-k";
        arguments[n++] = top;
    }
    if (command_run(arguments) != 0) {
        size_t size;
        fail_msg("%s of %s.mtx: %s", m->name, m->matrix, read_bytes("said", &size));
    }
    return read_pairs(p, temp_path("wrote"));
}

static void beside_similaripy(void **state)
{
    static pairs all, top, theirs;
    char matrix[1024], path[1024];
    (void)state;
    for (size_t k = 0; k < sizeof measures / sizeof *measures; k++) {
        const measure *m = &measures[k];
        const char *folder = getenv("FEATBLAS_SOURCE_DIR");
        snprintf(matrix, sizeof matrix, "%s/tests/cases/similaripy/%s.mtx", folder, m->matrix);
        snprintf(path, sizeof path, "%s/tests/cases/similaripy/%s_%s.txt", folder, m->matrix, m->name);
        assert_in_range(read_pairs(&theirs, path), COLUMNS, COLUMNS * TOP);
        assert_in_range(project(&all, m, matrix, NULL), COLUMNS * TOP, MOST);
        project(&top, m, matrix, "6");
        compare(m, &all, &top, &theirs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(beside_similaripy)};
    if (!getenv("FEATBLAS_COMMAND") || !getenv("FEATBLAS_SOURCE_DIR"))
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

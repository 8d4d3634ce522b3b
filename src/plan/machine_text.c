/* Machine facts as text: read, written, and printed for people. */
#include "core/locale.h"
#include "plan/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum unit { COUNT, FLAG, SIZE, RATE } unit;

/* Where a name's number goes; NULL: no such name. */
typedef struct field {
    const char *name;
    unit unit;
    int *count;
    int64_t *size;
    double *rate;
} field;

enum { NFIELDS = 17 };

static void list(field fields[NFIELDS], ftb_machine_facts *m)
{
    const field all[NFIELDS] = {{"cores", COUNT, &m->cores, NULL, NULL},
                                {"l1", SIZE, NULL, &m->l1, NULL},
                                {"l2", SIZE, NULL, &m->l2, NULL},
                                {"l3", SIZE, NULL, &m->l3, NULL},
                                {"near_l3", FLAG, &m->near_l3, NULL, NULL},
                                {"memory", SIZE, NULL, &m->memory, NULL},
                                {"l1_rate", RATE, NULL, NULL, &m->l1_rate},
                                {"l2_rate", RATE, NULL, NULL, &m->l2_rate},
                                {"l3_rate", RATE, NULL, NULL, &m->l3_rate},
                                {"memory_rate", RATE, NULL, NULL, &m->memory_rate},
                                {"gpu_multiprocessors", COUNT, &m->gpu.multiprocessors, NULL, NULL},
                                {"gpu_l2", SIZE, NULL, &m->gpu.l2, NULL},
                                {"gpu_memory", SIZE, NULL, &m->gpu.memory, NULL},
                                {"gpu_shared", SIZE, NULL, &m->gpu.shared, NULL},
                                {"gpu_clock", RATE, NULL, NULL, &m->gpu.clock},
                                {"gpu_l2_rate", RATE, NULL, NULL, &m->gpu.l2_rate},
                                {"gpu_memory_rate", RATE, NULL, NULL, &m->gpu.memory_rate}};
    memcpy(fields, all, sizeof all);
}

/* NULL if well, else what is wrong. */
static const char *set(const field *f, const char *text)
{
    char *end;
    locale_t before = ftb_locale_enter();
    double x = strtod(text, &end);
    ftb_locale_leave(before);
    end += strspn(end, " \t");
    if (f->unit == SIZE && *end && strchr("KMG", *end))
        x *= *end == 'K' ? 0x1p10 : *end == 'M' ? 0x1p20 : 0x1p30, end++;
    if (end == text || end[strspn(end, " \t\r\n")] || !(x >= 0 && x < 1e15))
        return "expected a number, sizes with K, M or G";
    if (f->unit == COUNT) {
        if (x < 1 || x > 65536 || x != floor(x))
            return "expected 1 to 65536";
        *f->count = (int)x;
    } else if (f->unit == FLAG) {
        if (x != 0 && x != 1)
            return "expected 0 or 1";
        *f->count = (int)x;
    } else if (f->unit == SIZE) {
        *f->size = (int64_t)x;
    } else {
        *f->rate = 1e9 * x;
    }
    return NULL;
}

/* One line without its comment. */
static const char *read_line(field fields[NFIELDS], char *text)
{
    char name[32], *value = strchr(text, '=');
    if (!text[strspn(text, " \t\r\n")])
        return NULL;
    if (!value || sscanf(text, " %31[a-z0-9_]", name) != 1)
        return "expected name = number";
    for (int f = 0; f < NFIELDS; f++)
        if (strcmp(fields[f].name, name) == 0)
            return set(&fields[f], value + 1);
    return "unknown name; known are cores, l1, l2, l3, near_l3, memory, l1_rate, l2_rate, l3_rate, "
           "memory_rate, and gpu_multiprocessors, gpu_l2, gpu_memory, gpu_shared, gpu_clock, gpu_l2_rate, "
           "gpu_memory_rate";
}

bool ftb_machine_read(ftb_machine_facts *facts, FILE *file, int *line, const char **wrong)
{
    char text[256];
    ftb_machine_facts read = *facts;
    field fields[NFIELDS];
    list(fields, &read);
    for (*line = 1; fgets(text, sizeof text, file); ++*line) {
        text[strcspn(text, "#")] = 0;
        *wrong = read_line(fields, text);
        if (*wrong)
            return false;
    }
    *line = 0;
    *wrong = ferror(file)                          ? "cannot be read"
             : read.l1 < 1024 || read.l2 < read.l1 ? "expected l1 of at least 1K, and l2 no smaller than l1"
             : read.l3 && read.l3 < read.l2        ? "expected l3 no smaller than l2, or 0"
             : read.memory < 4 * read.l2 || !read.cores
                 ? "expected cores, and memory of at least four times l2"
             : read.gpu.multiprocessors && (read.gpu.clock <= 0 || read.gpu.memory_rate <= 0)
                 ? "expected gpu_clock and gpu_memory_rate beside gpu_multiprocessors"
                 : NULL;
    if (!*wrong)
        *facts = read;
    return !*wrong;
}

void ftb_machine_write(const ftb_machine_facts *facts, FILE *file)
{
    ftb_machine_facts m = *facts;
    field fields[NFIELDS];
    locale_t before = ftb_locale_enter();
    list(fields, &m);
    for (int f = 0; f < NFIELDS; f++)
        if (strncmp(fields[f].name, "gpu_", 4) == 0 && !m.gpu.multiprocessors)
            break;
        else if (fields[f].count)
            fprintf(file, "%s = %d\n", fields[f].name, *fields[f].count);
        else if (fields[f].unit == SIZE)
            fprintf(file, "%s = %lld\n", fields[f].name, (long long)*fields[f].size);
        else
            fprintf(file, "%s = %.4g\n", fields[f].name, 1e-9 * *fields[f].rate);
    ftb_locale_leave(before);
}

static void print_rate(double rate, const char *from, const char **between, FILE *file)
{
    if (rate > 0) {
        fprintf(file, "%s%.3g GB/s from %s", *between, 1e-9 * rate, from);
        *between = ", ";
    }
}

void ftb_machine_print(const ftb_machine_facts *m, FILE *file)
{
    const char *between = "; one core reads ";
    fprintf(file, "%d core%s, L1 %lld KiB, L2 %lld KiB", m->cores, m->cores == 1 ? "" : "s",
            (long long)(m->l1 >> 10), (long long)(m->l2 >> 10));
    if (m->l3)
        fprintf(file, ", L3 %lld MiB", (long long)(m->l3 >> 20));
    print_rate(m->l1_rate, "L1", &between, file);
    print_rate(m->l2_rate, "L2", &between, file);
    print_rate(m->l3_rate, "L3", &between, file);
    print_rate(m->memory_rate, "memory", &between, file);
    if (m->gpu.multiprocessors)
        fprintf(file, "; a GPU of %d multiprocessors, L2 %lld MiB", m->gpu.multiprocessors,
                (long long)(m->gpu.l2 >> 20));
}

/* Wisdom as text, all numbers whole:
 *
 *     featblas-wisdom 1
 *     machine isa=avx512 cores=2 l1=49152 l2=2097152 l3=503316480
 *     costs l2_read=117000 ... visit=2310 ...
 *     spmm kernel=plus_copy_f32 nrows=100000 ... degrees=8c03cf2c61a9e2b7 -> partitioned segment=4096 ...
 *     end 1
 *
 * Costs, which are there if they were calibrated, are in thousandths of the units of plan/costs.h. Read
 * strictly: a single space between words, every name in its place, nothing behind the end. */
#include "plan/wisdom.h"

#include "core/isa.h"

#include <inttypes.h>
#include <math.h>

#define LARGEST_TILE (INT64_C(1) << 40)
#define LARGEST_COST (INT64_C(1) << 40)

static const char *const machine_names[FTB_WISDOM_MACHINE] = {"cores", "l1", "l2", "l3"};
/* ---- writing */

int ftb_wisdom_print_head(char *to, size_t room)
{
    ftb_wisdom_case here;
    ftb_wisdom_here(&here, FTB_PLAN_SPMM);
    return snprintf(
        to, room,
        "featblas-wisdom 1\nmachine isa=%s cores=%" PRId64 " l1=%" PRId64 " l2=%" PRId64 " l3=%" PRId64 "\n",
        ftb_isa_name(here.isa), here.machine[0], here.machine[1], here.machine[2], here.machine[3]);
}

int ftb_wisdom_print_costs(char *to, size_t room, const ftb_costs *costs)
{
    ftb_costs copy = *costs;
    int at = snprintf(to, room, "costs");
    for (int c = 0; c < FTB_NCOSTS; c++)
        at += snprintf(to + at, room - (size_t)at, " %s=%" PRId64, ftb_cost_name(c),
                       (int64_t)llround(1000 * *ftb_cost_at(&copy, c) / ftb_cost_unit(c)));
    return at + snprintf(to + at, room - (size_t)at, "\n");
}

int ftb_wisdom_print(char *to, size_t room, const ftb_wisdom_entry *entry)
{
    const ftb_wisdom_case *when = &entry->when;
    const ftb_choice *choice = &entry->choice;
    const ftb_plan_row *row = &ftb_plan_rows[when->kind];
    const ftb_way *way = row->ways;
    while (way->family != choice->family)
        way++;
    int at = snprintf(to, room, "%s kernel=%s", row->op, when->kernel);
    for (int f = 0; f < FTB_CASE_FACTS && row->case_names[f]; f++)
        at += snprintf(to + at, room - (size_t)at, " %s=%" PRId64, row->case_names[f], when->fact[f]);
    at += snprintf(to + at, room - (size_t)at, " degrees=%016" PRIx64, when->degrees);
    return at + snprintf(to + at, room - (size_t)at,
                         " -> %s segment=%" PRId64 " tile=%" PRId64 " parts=%" PRId64 " ordered=%" PRId32
                         " nanoseconds=%" PRId64 "\n",
                         way->name, choice->segment, choice->tile, choice->parts, choice->ordered,
                         choice->nanoseconds);
}

int ftb_wisdom_print_tail(char *to, size_t room, int64_t count)
{
    return snprintf(to, room, "end %" PRId64 "\n", count);
}

/* ---- reading */

typedef struct reader {
    const char *at, *end, *line; /* line: its first byte */
    ftb_wisdom_fault *fault;
} reader;

static bool wrong(const reader *r, const char *at, const char *expected)
{
    r->fault->column = at - r->line + 1;
    r->fault->expected = expected;
    return false;
}

/* Whether the text goes on with these bytes, which are then read. */
static bool skip(reader *r, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

static bool word(reader *r, const char *expected) { return skip(r, expected) || wrong(r, r->at, expected); }

static bool new_line(reader *r)
{
    if (!skip(r, "\n"))
        return wrong(r, r->at, "the end of the line");
    r->line = r->at;
    r->fault->line++;
    return true;
}

/* Decimal, in [0, most]. */
static bool number(reader *r, int64_t *x, int64_t most)
{
    const char *begin = r->at;
    int64_t value = 0;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
        int digit = *r->at - '0';
        if (value > (INT64_MAX - digit) / 10 || 10 * value + digit > most)
            return wrong(r, begin, "a smaller number");
        value = 10 * value + digit;
    }
    if (r->at == begin)
        return wrong(r, begin, "a whole number");
    *x = value;
    return true;
}

/* " name=number" */
static bool named(reader *r, const char *name, int64_t *x, int64_t most)
{
    const char *begin = r->at;
    if (!skip(r, " ") || !skip(r, name) || !skip(r, "="))
        return wrong(r, begin, name);
    return number(r, x, most);
}

static bool hexadecimal(reader *r, uint64_t *x)
{
    static const char digits[] = "0123456789abcdef";
    const char *begin = r->at;
    *x = 0;
    for (int d = 0; d < 16; d++, r->at++) {
        const char *digit = r->at < r->end && *r->at ? strchr(digits, *r->at) : NULL;
        if (!digit)
            return wrong(r, begin, "16 hexadecimal digits");
        *x = *x << 4 | (uint64_t)(digit - digits);
    }
    return true;
}

static bool kernel(reader *r, char *name, size_t room)
{
    const char *begin = r->at;
    size_t n = 0;
    for (; r->at < r->end &&
           ((*r->at >= 'a' && *r->at <= 'z') || (*r->at >= '0' && *r->at <= '9') || *r->at == '_');
         r->at++)
        if (n + 1 < room)
            name[n++] = *r->at;
        else
            return wrong(r, begin, "a kernel's name");
    return n > 0 || wrong(r, begin, "a kernel's name");
}

static bool choice(reader *r, ftb_choice *c, const ftb_plan_row *row)
{
    int64_t ordered = 0;
    const ftb_way *way = row->ways;
    while (way->name && !skip(r, way->name))
        way++;
    const char *begin = r->at;
    if (!way->name)
        return wrong(r, begin, "a way that the operation has");
    c->family = way->family;
    if (!named(r, "segment", &c->segment, FTB_MOST_SEGMENT))
        return false;
    if ((c->segment > 0) != way->segments)
        return wrong(r, begin, way->segments ? "a segment of 1 to 65536" : "segment=0");
    begin = r->at;
    if (!named(r, "tile", &c->tile, LARGEST_TILE))
        return false;
    if (way->segments && c->tile == 0)
        return wrong(r, begin, "a tile of 1 or more");
    if (!named(r, "parts", &c->parts, way->parts ? FTB_MOST_PARTS : 0) ||
        !named(r, "ordered", &ordered, way->parts))
        return false;
    c->ordered = (int32_t)ordered;
    return named(r, "nanoseconds", &c->nanoseconds, INT64_MAX);
}

/* A case, after the operation's name. */
static bool entry_of(reader *r, ftb_wisdom_entry *entry, ftb_plan_kind kind)
{
    const ftb_plan_row *row = &ftb_plan_rows[kind];
    memset(entry, 0, sizeof *entry);
    ftb_wisdom_here(&entry->when, kind);
    if (!word(r, " kernel=") || !kernel(r, entry->when.kernel, sizeof entry->when.kernel))
        return false;
    for (int f = 0; f < FTB_CASE_FACTS && row->case_names[f]; f++)
        if (!named(r, row->case_names[f], &entry->when.fact[f], INT64_MAX))
            return false;
    return word(r, " degrees=") && hexadecimal(r, &entry->when.degrees) && word(r, " -> ") &&
           choice(r, &entry->choice, row) && new_line(r);
}

/* The head; a text of another machine is not read any further. */
static bool head(reader *r)
{
    ftb_wisdom_case here;
    bool same = true;
    ftb_wisdom_here(&here, FTB_PLAN_SPMM);
    if (!word(r, "featblas-wisdom 1") || !new_line(r) || !word(r, "machine isa="))
        return false;
    char isa[32] = "";
    if (!kernel(r, isa, sizeof isa))
        return false;
    same = strcmp(isa, ftb_isa_name(here.isa)) == 0;
    for (int m = 0; m < FTB_WISDOM_MACHINE; m++) {
        int64_t x = 0;
        if (!named(r, machine_names[m], &x, INT64_MAX))
            return false;
        same = same && x == here.machine[m];
    }
    const char *machine = r->line;
    if (!new_line(r))
        return false;
    r->line = same ? r->line : machine;
    r->fault->line -= !same;
    return same || wrong(r, machine, NULL);
}

/* The costs, after their line's name. */
static bool costs_of(reader *r, ftb_costs *costs)
{
    for (int c = 0; c < FTB_NCOSTS; c++) {
        const char *begin = r->at;
        int64_t x = 0;
        if (!named(r, ftb_cost_name(c), &x, LARGEST_COST))
            return false;
        if (x == 0)
            return wrong(r, begin, "a cost of 1 or more");
        *ftb_cost_at(costs, c) = 1e-3 * ftb_cost_unit(c) * (double)x;
    }
    return new_line(r);
}

bool ftb_wisdom_read(ftb_wisdom_text *read, const char *text, int64_t size, ftb_wisdom_fault *fault)
{
    reader r = {text, text + size, text, fault};
    int64_t said = 0;
    read->count = 0;
    *fault = (ftb_wisdom_fault){.line = 1};
    if (!head(&r))
        return false;
    read->calibrated = skip(&r, "costs");
    if (read->calibrated && !costs_of(&r, &read->costs))
        return false;
    while (!skip(&r, "end ")) {
        ftb_plan_kind kind = 0;
        while (kind < FTB_PLAN_KINDS && !skip(&r, ftb_plan_rows[kind].op))
            kind++;
        if (kind == FTB_PLAN_KINDS)
            return wrong(&r, r.at, "spgemm, spmm, sddmm, attention, gpu_spmm, gpu_sddmm or end");
        if (read->count == FTB_WISDOM_MOST)
            return wrong(&r, r.line, "no more than 1024 cases");
        if (!entry_of(&r, &read->entries[read->count], kind))
            return false;
        read->count++;
    }
    const char *begin = r.at;
    if (!number(&r, &said, INT64_MAX))
        return false;
    if (said != read->count)
        return wrong(&r, begin, "the number of cases above");
    return new_line(&r) && (r.at == r.end || wrong(&r, r.at, "nothing after the end"));
}

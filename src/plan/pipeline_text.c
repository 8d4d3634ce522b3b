/* A pipeline's description, read from JSON, and the table of what it takes. */
#include "core/words.h"
#include "plan/pipeline.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

/* A key, where its number goes, and its range; NULL: another kind of value. */
typedef struct field {
    const char *key;
    int64_t *whole;
    double *real;
    double scale; /* of a real: what it is multiplied by */
    int64_t low, high;
} field;

enum { FIELDS = 15 };

static void list(field f[FIELDS], ftb_pipeline_machine *m)
{
    const int64_t cycles = INT64_C(1) << 20, bytes = 4096;
    const field all[FIELDS] = {{"name", NULL, NULL, 0, 0, 0},
                               {"prefetch", NULL, NULL, 0, 0, 0},
                               {"clock_ghz", NULL, &m->clock, 1e9, 0, 1000},
                               {"memory_gb_per_second", NULL, &m->memory_rate, 1e9, 0, 1000000},
                               {"memory_latency_cycles", &m->memory_latency, NULL, 0, 0, cycles},
                               {"streams", &m->streams, NULL, 0, 1, 4096},
                               {"scratchpad_bytes", &m->scratchpad, NULL, 0, 0, INT64_C(1) << 50},
                               {"outstanding_reads", &m->outstanding, NULL, 0, 1, cycles},
                               {"burst_bytes", &m->burst, NULL, 0, 1, bytes},
                               {"update_cycles", &m->update, NULL, 0, 1, cycles},
                               {"lanes", &m->lanes, NULL, 0, 1, bytes},
                               {"pointer_bytes", &m->pointer_bytes, NULL, 0, 0, bytes},
                               {"edge_bytes", &m->edge_bytes, NULL, 0, 1, bytes},
                               {"weight_bytes", &m->weight_bytes, NULL, 0, 0, bytes},
                               {"value_bytes", &m->value_bytes, NULL, 0, 1, bytes}};
    memcpy(f, all, sizeof all);
}

typedef struct reader {
    ftb_pipeline_machine *m;
    const char *path;
    char *message;
    size_t room;
} reader;

static bool refuse(const reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(const reader *r, const char *format, ...)
{
    va_list arguments;
    const int used = snprintf(r->message, r->room, "%s: ", r->path);
    va_start(arguments, format);
    if (used > 0 && (size_t)used < r->room)
        vsnprintf(r->message + used, r->room - (size_t)used, format, arguments);
    va_end(arguments);
    return false;
}

static bool take(const reader *r, const field *f, const json_t *value)
{
    if (f->real) {
        const double x = json_number_value(value);
        if (!json_is_number(value) || !(x > 0 && x <= (double)f->high))
            return refuse(r, "%s: expected a number above 0, up to %lld", f->key, (long long)f->high);
        *f->real = x * f->scale;
    } else if (f->whole) {
        const int64_t x = json_integer_value(value);
        if (!json_is_integer(value) || x < f->low || x > f->high)
            return refuse(r, "%s: expected a whole number from %lld to %lld", f->key, (long long)f->low,
                          (long long)f->high);
        *f->whole = x;
    } else if (strcmp(f->key, "prefetch") == 0) {
        if (!json_is_boolean(value))
            return refuse(r, "prefetch: expected true or false");
        r->m->prefetch = json_is_true(value);
    } else {
        if (!json_is_string(value) || json_string_length(value) >= sizeof r->m->name)
            return refuse(r, "name: expected a text of up to %zu bytes", sizeof r->m->name - 1);
        snprintf(r->m->name, sizeof r->m->name, "%s", json_string_value(value));
    }
    return true;
}

static bool known(const reader *r, const field fields[FIELDS], const char *key)
{
    const char *keys[FIELDS], *closest;
    for (int f = 0; f < FIELDS; f++) {
        if (strcmp(fields[f].key, key) == 0)
            return true;
        keys[f] = fields[f].key;
    }
    closest = ftb_closest(key, FIELDS, keys);
    return closest ? refuse(r, "unknown key '%.64s'; did you mean '%s'?", key, closest)
                   : refuse(r, "unknown key '%.64s'", key);
}

static bool take_all(const reader *r, json_t *root)
{
    field fields[FIELDS];
    const char *key;
    json_t *value;
    list(fields, r->m);
    if (!json_is_object(root))
        return refuse(r, "expected a JSON object, {\"name\": ...}");
    json_object_foreach(root, key, value)
    {
        if (!known(r, fields, key))
            return false;
    }
    for (int f = 0; f < FIELDS; f++) {
        value = json_object_get(root, fields[f].key);
        if (!value)
            return refuse(r, "%s is missing", fields[f].key);
        if (!take(r, &fields[f], value))
            return false;
    }
    return true;
}

bool ftb_pipeline_read(ftb_pipeline_machine *m, const char *path, char *message, size_t room)
{
    ftb_pipeline_machine made = {.name = ""};
    const reader r = {.m = &made, .path = path, .message = message, .room = room};
    json_error_t error;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        return error.line > 0 ? refuse(&r, "line %d, column %d: %s", error.line, error.column, error.text)
                              : refuse(&r, "%s", error.text);
    const bool ok = take_all(&r, root);
    json_decref(root);
    if (ok)
        *m = made;
    return ok;
}

/* ---- the table */

static int longest(const ftb_pipeline_totals *t)
{
    int most = 0;
    for (int s = 0; s < FTB_PIPE_STAGES; s++)
        most = t->bound[s] > t->bound[most] ? s : most;
    return most;
}

void ftb_pipeline_print(const ftb_pipeline_totals *t, const ftb_pipeline_machine *m, FILE *out)
{
    const double whole = t->cycles > 0 ? t->cycles : 1, seconds = t->cycles / m->clock;
    const int most = longest(t);
    fprintf(out, "%-30s %16s %8s %8s\n", "stage", "cycles", "of all", "binds");
    for (int s = 0; s < FTB_PIPE_STAGES; s++)
        fprintf(out, "%-30s %16.0f %6.1f %% %6.1f %%%s\n", ftb_pipeline_stage_names[s], t->stage[s],
                100 * t->stage[s] / whole, 100 * t->bound[s] / whole,
                s == most && t->bound[s] > 0 ? "  <- binds" : "");
    fprintf(out, "%-30s %16.0f %6.1f %%\n", "latency before phases flow", t->fill, 100 * t->fill / whole);
    fprintf(out, "%-30s %16.0f, %.4g s at %.4g GHz\n", "in all", t->cycles, seconds, m->clock / 1e9);
    fprintf(out, "%-30s %16lld in %lld supersteps of %lld slices\n", "edges", (long long)t->edges,
            (long long)t->supersteps, (long long)t->slices);
    if (t->cycles > 0)
        fprintf(out, "%-30s %16.4g a second, %.4g bytes of memory an edge\n", "", (double)t->edges / seconds,
                t->bytes / (t->edges > 0 ? (double)t->edges : 1));
    fprintf(out, "%-30s %16lld cycles of destination streams\n", "stalls of atomic updates",
            (long long)t->stalls);
}

/* Reading small text files; see text.h. */
#include "text.h"

#include "app.h"
#include "io/input.h"

#include <stdlib.h>
#include <string.h>

static int read_all(text *t, ftb_input *in, size_t limit)
{
    size_t room = 0;
    for (int64_t got = 1; got > 0 && !(limit && t->size == limit); t->size += (size_t)got) {
        if (room - t->size < 2) {
            room = room ? 2 * room : 65536;
            char *grown = realloc(t->bytes, room);
            if (!grown)
                return app_fail(APP_MEMORY, "%s: out of memory", t->path);
            t->bytes = grown;
        }
        size_t wanted = room - t->size - 1;
        wanted = limit && limit - t->size < wanted ? limit - t->size : wanted;
        GrB_Info info = ftb_input_read(in, t->bytes + t->size, (int64_t)wanted, &got);
        if (info != GrB_SUCCESS)
            return app_library_error(info, APP_INPUT);
    }
    t->bytes[t->size] = '\0';
    return APP_OK;
}

int text_read(text *t, const char *path, size_t limit)
{
    ftb_input *in = NULL;
    *t = (text){.path = path, .next = 1};
    GrB_Info info = ftb_input_open(&in, ftb_context(), path);
    if (info == GrB_SUCCESS)
        info = ftb_text_check(in);
    int code = info == GrB_SUCCESS ? read_all(t, in, limit) : app_library_error(info, APP_INPUT);
    ftb_input_close(&in);
    if (code != APP_OK) {
        text_free(t);
        return code;
    }
    t->at = t->bytes;
    if (t->size >= 3 && memcmp(t->bytes, FTB_UTF8_MARK, 3) == 0)
        t->at += 3;
    return APP_OK;
}

void text_free(text *t)
{
    free(t->bytes);
    t->bytes = t->at = NULL;
}

static bool ended(const text *t) { return t->at >= t->bytes + t->size; }

char *text_line(text *t)
{
    if (ended(t))
        return NULL;
    char *line = t->at, *end = memchr(line, '\n', (size_t)(t->bytes + t->size - line));
    end = end ? end : t->bytes + t->size;
    t->at = end + 1;
    t->line = t->next++;
    *end = '\0';
    if (end > line && end[-1] == '\r')
        end[-1] = '\0';
    return line;
}

/* Reads a quoted field at t->at, which points behind the opening quote, into place. */
static char *quoted(text *t)
{
    char *field = t->at, *out = field, *end = t->bytes + t->size;
    while (t->at < end) {
        if (t->at[0] == '"' && t->at[1] != '"')
            break;
        t->at += t->at[0] == '"'; /* a doubled quote */
        t->next += t->at[0] == '\n';
        *out++ = *t->at++;
    }
    t->at += t->at < end;
    t->at += strcspn(t->at, (char[]){t->delimiter, '\n', '\0'});
    *out = '\0'; /* before t->at, unless the quote was never closed: then both are at the end */
    return field;
}

int text_next(text *t, char **fields, int room)
{
    int count = 0;
    if (ended(t))
        return -1;
    if (!t->delimiter)
        t->delimiter = ftb_guess_delimiter(t->at, t->bytes + t->size);
    t->line = t->next;
    for (;;) {
        char *field;
        if (*t->at == '"') {
            t->at++;
            field = quoted(t);
        } else {
            field = t->at;
            t->at += strcspn(t->at, (char[]){t->delimiter, '\n', '\0'});
        }
        char stop = *t->at;
        if (stop == '\n' && t->at > field && t->at[-1] == '\r')
            t->at[-1] = '\0';
        *t->at = '\0';
        t->at++;
        if (count < room)
            fields[count] = field;
        count++;
        if (stop != t->delimiter || stop == '\0')
            break;
    }
    t->next++;
    return count < room ? count : room;
}

int text_column(const char *word, int count, char *const *header)
{
    for (int c = 0; c < count; c++)
        if (strcmp(header[c], word) == 0)
            return c;
    char *end;
    long n = strtol(word, &end, 10);
    return *word && !*end && n >= 1 && n <= count ? (int)n - 1 : -1;
}

static uint64_t hash(const char *word) /* FNV-1a */
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *word; word++)
        h = (h ^ (unsigned char)*word) * UINT64_C(0x100000001b3);
    return h ^ (h >> 32);
}

static size_t slot_of(const string_index *x, const char *word)
{
    size_t slot = hash(word) & (x->nslots - 1);
    while (x->slots[slot] && strcmp(x->get(x->list, x->slots[slot] - 1), word) != 0)
        slot = (slot + 1) & (x->nslots - 1);
    return slot;
}

bool string_index_build(string_index *x, int64_t count, const char *(*get)(const void *, int64_t),
                        const void *list)
{
    *x = (string_index){.get = get, .list = list, .nslots = 16};
    while (x->nslots < 2 * (size_t)count)
        x->nslots *= 2;
    x->slots = calloc(x->nslots, sizeof *x->slots);
    if (!x->slots)
        return false;
    for (int64_t at = 0; at < count; at++) {
        size_t slot = slot_of(x, get(list, at));
        if (!x->slots[slot])
            x->slots[slot] = at + 1;
    }
    return true;
}

int64_t string_index_find(const string_index *x, const char *word) { return x->slots[slot_of(x, word)] - 1; }

void string_index_free(string_index *x)
{
    free(x->slots);
    x->slots = NULL;
}

/* Hash table from texts to numbers: open addressing, at most half full. */
#include "io/intern.h"

static uint64_t mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_text(const char *text, int64_t length, uint64_t seed)
{
    uint64_t h = seed ^ (uint64_t)length, word;
    for (; length >= 8; length -= 8, text += 8) {
        memcpy(&word, text, 8);
        h = mix(h ^ word, 0x9e3779b97f4a7c15);
    }
    word = 0;
    for (int64_t c = 0; c < length; c++)
        word |= (uint64_t)(unsigned char)text[c] << (8 * c);
    return mix(h ^ word, 0xd6e8feb86659fd93);
}

static void insert(ftb_intern *t, uint64_t hash, int64_t code)
{
    int64_t mask = t->nslots - 1, s = (int64_t)(hash & (uint64_t)mask);
    while (t->code[s])
        s = (s + 1) & mask;
    t->hash[s] = hash;
    t->code[s] = code;
}

static GrB_Info rehash(ftb_intern *t, int64_t nslots)
{
    ftb_intern old = *t;
    t->hash = ftb_new(t->ctx, nslots, sizeof *t->hash);
    t->code = ftb_new0(t->ctx, nslots, sizeof *t->code);
    if (!t->hash || !t->code) {
        ftb_delete(t->hash);
        ftb_delete(t->code);
        *t = old;
        return ftb_nomem();
    }
    t->nslots = nslots;
    for (int64_t s = 0; s < old.nslots; s++)
        if (old.code[s])
            insert(t, old.hash[s], old.code[s]);
    ftb_delete(old.hash);
    ftb_delete(old.code);
    return GrB_SUCCESS;
}

GrB_Info ftb_intern_reserve(ftb_intern *t, int64_t count, int64_t bytes)
{
    int64_t need = t->count + count, nslots = ftb_max(t->nslots, 1024);
    int64_t used = t->offset ? t->offset[t->count] : 0;
    if (!t->seed)
        t->seed = (uint64_t)(uintptr_t)t | 1; /* differs from run to run; the numbers do not depend on it */
    while (nslots < 2 * need)
        nslots *= 2;
    if (nslots > t->nslots) {
        GrB_Info info = rehash(t, nslots);
        if (info != GrB_SUCCESS)
            return info;
    }
    if (need > t->room || !t->offset) {
        int64_t room = ftb_max(need, t->room + t->room / 2);
        bool fresh = !t->offset;
        if (!ftb_resize(t->ctx, (void **)&t->offset, room + 1, sizeof *t->offset))
            return ftb_nomem();
        if (fresh)
            t->offset[0] = 0;
        t->room = room;
    }
    bytes += count; /* each text is followed by a NUL */
    if (used + bytes > t->bytes_room || !t->bytes) {
        int64_t room = ftb_max(used + bytes, t->bytes_room + t->bytes_room / 2);
        if (!ftb_resize(t->ctx, (void **)&t->bytes, room, 1))
            return ftb_nomem();
        t->bytes_room = room;
    }
    return GrB_SUCCESS;
}

int64_t ftb_intern_add(ftb_intern *t, const char *text, int64_t length)
{
    uint64_t hash = hash_text(text, length, t->seed);
    int64_t mask = t->nslots - 1, s = (int64_t)(hash & (uint64_t)mask);
    for (; t->code[s]; s = (s + 1) & mask) {
        int64_t code = t->code[s] - 1;
        if (t->hash[s] == hash && t->offset[code + 1] - t->offset[code] - 1 == length &&
            memcmp(t->bytes + t->offset[code], text, (size_t)length) == 0)
            return code;
    }
    int64_t code = t->count++;
    char *to = t->bytes + t->offset[code];
    memcpy(to, text, (size_t)length);
    to[length] = '\0';
    t->offset[code + 1] = t->offset[code] + length + 1;
    t->hash[s] = hash;
    t->code[s] = code + 1;
    return code;
}

GrB_Info ftb_intern_labels(FtB_Labels *labels, ftb_intern *t)
{
    int64_t count = t->count, *offset = t->offset;
    char *bytes = t->bytes;
    ftb_delete(t->hash);
    ftb_delete(t->code);
    *t = (ftb_intern){.ctx = t->ctx};
    if (ftb_resize(t->ctx, (void **)&offset, count + 1, sizeof *offset) &&
        ftb_resize(t->ctx, (void **)&bytes, offset[count], 1))
        return ftb_labels_make(labels, t->ctx, count, offset, bytes);
    ftb_delete(offset);
    ftb_delete(bytes);
    return ftb_nomem();
}

void ftb_intern_clear(ftb_intern *t)
{
    ftb_delete(t->hash);
    ftb_delete(t->code);
    ftb_delete(t->offset);
    ftb_delete(t->bytes);
    *t = (ftb_intern){.ctx = t->ctx};
}

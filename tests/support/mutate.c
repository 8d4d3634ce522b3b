#include "support/mutate.h"

#include <string.h>

void put_text(input *in, const char *text)
{
    in->size = strlen(text);
    memcpy(in->bytes, text, in->size);
}

void put_at(input *in, size_t at, size_t removed, const void *bytes, size_t count)
{
    if (removed > in->size - at)
        removed = in->size - at;
    if (in->size - removed + count > INPUT_ROOM - 1)
        return;
    memmove(in->bytes + at + count, in->bytes + at + removed, in->size - at - removed);
    memcpy(in->bytes + at, bytes, count);
    in->size += count - removed;
}

static const char *some_token(rng *r)
{
    static const char *const tokens[] = {"0",          "-1",
                                         "1e999",      "nan",
                                         "-inf",       "99999999999999999999",
                                         "2147483648", "9223372036854775807",
                                         "\"",         "\"\"",
                                         "\n",         "\r\n",
                                         "\t",         ",",
                                         "%",          "#",
                                         " ",          "x",
                                         "4294967296", "1.5",
                                         "symmetric",  "pattern",
                                         "integer",    "skew-symmetric",
                                         "1 1 1\n",    "0x1p3",
                                         "+",          "\xff",
                                         "1d5",        ".",
                                         "\"a,b\nc\"", "\n\n\n"};
    return tokens[rng_below(r, sizeof tokens / sizeof *tokens)];
}

void put_token(input *in, rng *r, size_t at)
{
    const char *token = some_token(r);
    put_at(in, at, (size_t)rng_below(r, 4), token, strlen(token));
}

static bool between_fields(char c) { return c && strchr(" \t\r\n,;", c); }

/* Something else in place of the field at `at`. */
static void put_field(input *in, rng *r, size_t at)
{
    size_t from = at, to = at;
    while (from > 0 && !between_fields(in->bytes[from - 1]))
        from--;
    while (to < in->size && !between_fields(in->bytes[to]))
        to++;
    const char *token = some_token(r);
    put_at(in, from, to - from, token, strlen(token));
}

/* The line at `at` once more, or not at all. */
static void put_line(input *in, rng *r, size_t at)
{
    char line[256];
    size_t from = at, to = at;
    while (from > 0 && in->bytes[from - 1] != '\n')
        from--;
    while (to < in->size && in->bytes[to++] != '\n')
        ;
    if (to - from > sizeof line)
        return;
    memcpy(line, in->bytes + from, to - from);
    if (rng_below(r, 3))
        put_at(in, from, 0, line, to - from);
    else
        put_at(in, from, to - from, "", 0);
}

static void put_number(input *in, rng *r, size_t at)
{
    static const char numbers[][8] = {{0},
                                      {-1, -1, -1, -1, -1, -1, -1, -1},
                                      {0, 0, 0, 0, 0, 0, 0, -128},
                                      {-1, -1, -1, 127},
                                      {1},
                                      {8},
                                      {0, 0, 0, 0, 1},
                                      {100}};
    const size_t count = rng_below(r, 2) ? 8 : 4, from = at - at % count;
    uint64_t number = 0;
    if (rng_below(r, 3) == 0 && from + count <= in->size) { /* a little more or less, or much more */
        memcpy(&number, in->bytes + from, count);
        number = rng_below(r, 4) ? number + (uint64_t)rng_below(r, 5) - 2 : number << rng_below(r, 60);
        memcpy(in->bytes + from, &number, count);
        return;
    }
    put_at(in, from, count, numbers[rng_below(r, sizeof numbers / sizeof *numbers)], count);
}

static void repeat(input *in, rng *r, size_t at)
{
    char copy[256];
    size_t from = in->size ? (size_t)rng_below(r, (int64_t)in->size) : 0, count = (size_t)rng_below(r, 200);
    if (count > in->size - from)
        count = in->size - from;
    memcpy(copy, in->bytes + from, count);
    put_at(in, at, rng_below(r, 2) ? count : 0, copy, count);
}

void mutate(input *in, rng *r, bool text)
{
    size_t at = in->size ? (size_t)rng_below(r, (int64_t)in->size) : 0;
    switch (rng_below(r, text ? 12 : 8)) {
    case 0: /* one bit */
        if (in->size > 0)
            in->bytes[at] ^= (char)(1 << rng_below(r, 8));
        break;
    case 1: /* one byte */
        if (in->size > 0)
            in->bytes[at] = (char)rng_bits(r);
        break;
    case 2: /* cut off */
        in->size = rng_below(r, 4) ? in->size : at;
        break;
    case 3: /* take out */
        put_at(in, at, (size_t)rng_below(r, rng_below(r, 2) ? 4 : 200), "", 0);
        break;
    case 4:
    case 5:
        repeat(in, r, at);
        break;
    case 8:
    case 9:
        put_field(in, r, at);
        break;
    case 10:
        put_line(in, r, at);
        break;
    default:
        (text ? put_token : put_number)(in, r, at);
    }
}

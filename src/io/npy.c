/* Headers of .npy arrays: a Python dictionary of three known keys, parsed as such. */
#include "io/npy.h"
#include "core/number.h"

#include <stdio.h>
#include <stdlib.h>

char *ftb_npy_name(char *buffer, const ftb_npy *h)
{
    if (h->kind == 'c')
        snprintf(buffer, 32, "complex%d", 8 * h->size);
    else
        snprintf(buffer, 32, "%c%d", h->kind, h->size);
    return buffer;
}

char ftb_npy_order(void)
{
    const uint16_t one = 1;
    char first;
    memcpy(&first, &one, 1);
    return first ? '<' : '>';
}

static const struct {
    const char *dtype;
    FtB_Type type;
} dtypes[] = {{"b1", FTB_BOOL},   {"i1", FTB_INT8},  {"i2", FTB_INT16},  {"i4", FTB_INT32},
              {"i8", FTB_INT64},  {"u1", FTB_UINT8}, {"u2", FTB_UINT16}, {"u4", FTB_UINT32},
              {"u8", FTB_UINT64}, {"f2", FTB_FP16},  {"f4", FTB_FP32},   {"f8", FTB_FP64}};

const char *ftb_npy_dtype(FtB_Type type)
{
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        if (dtypes[d].type == type)
            return dtypes[d].dtype;
    return NULL;
}

FtB_Type ftb_npy_type(const ftb_npy *h)
{
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        if (dtypes[d].dtype[0] == h->kind && dtypes[d].dtype[1] - '0' == h->size)
            return dtypes[d].type;
    return (FtB_Type)0;
}

void ftb_npy_head(char *out, const char *dtype, const char *shape)
{
    static const char magic[] = "\x93NUMPY\x01"; /* version 1.0: the NUL is the minor number */
    memcpy(out, magic, 8);
    out[8] = FTB_NPY_HEAD - 10; /* little-endian length of the dictionary */
    out[9] = 0;
    char order = dtype[1] == '1' || dtype[0] == 'S' ? '|' : ftb_npy_order();
    int n = snprintf(out + 10, FTB_NPY_HEAD - 10, "{'descr': '%c%s', 'fortran_order': False, 'shape': %s, }",
                     order, dtype, shape);
    memset(out + 10 + n, ' ', (size_t)(FTB_NPY_HEAD - 10 - n));
    out[FTB_NPY_HEAD - 1] = '\n';
}

/* What follows 'key': in the dictionary, or NULL. */
static const char *find_key(const char *text, const char *key)
{
    char quoted[32];
    for (const char *quote = "'\""; *quote; quote++) {
        snprintf(quoted, sizeof quoted, "%c%s%c", *quote, key, *quote);
        const char *at = strstr(text, quoted);
        if (!at)
            continue;
        at += strlen(quoted);
        at += strspn(at, " ");
        if (*at == ':')
            return at + 1 + strspn(at + 1, " ");
    }
    return NULL;
}

static bool parse_dtype(ftb_npy *h, const char *p)
{
    char quote = *p++, order = *p;
    uint64_t size;
    if (quote != '\'' && quote != '"')
        return false;
    if (!order || !strchr("<>|=", order))
        return false;
    h->swapped = (order == '<' || order == '>') && order != ftb_npy_order();
    h->kind = p[1];
    if (h->kind == '\0')
        return false;
    const char *end = ftb_parse_unsigned(p + 2, &size);
    if (!end || *end != quote || size > 1000000)
        return false;
    bool text = h->kind == 'S' || h->kind == 'U';
    h->size = text ? (h->kind == 'U' ? 4 : 1) : (int)size;
    h->length = (int)size;
    return true;
}

static bool parse_shape(ftb_npy *h, const char *p)
{
    if (*p++ != '(')
        return false;
    for (h->ndim = 0;; h->ndim++) {
        p += strspn(p, " ");
        if (*p == ')')
            return true;
        if (h->ndim == 2)
            return false;
        p = ftb_parse_integer(p, &h->shape[h->ndim]);
        if (!p || h->shape[h->ndim] < 0)
            return false;
        p += strspn(p, "L "); /* Python 2 */
        if (*p == ',')
            p++;
        else if (*p != ')')
            return false;
    }
}

GrB_Info ftb_npy_parse(ftb_npy *h, const char *text, const char *file, const char *member)
{
    *h = (ftb_npy){0};
    const char *order = find_key(text, "fortran_order");
    h->fortran = order && strncmp(order, "True", 4) == 0;
    const char *dtype = find_key(text, "descr"), *shape = find_key(text, "shape");
    if (!dtype || !parse_dtype(h, dtype))
        return ftb_fail(FTB_FORMAT, "%s: %s: the header's dtype is not one of booleans, integers or reals",
                        file, member);
    if (!shape || !parse_shape(h, shape))
        return ftb_fail(FTB_FORMAT, "%s: %s: the header's shape is not one of at most two dimensions", file,
                        member);
    return GrB_SUCCESS;
}

GrB_Info ftb_npy_read_head(ftb_npy *h, int64_t *size, FtB_Context ctx,
                           GrB_Info (*read)(void *arg, void *bytes, int64_t count), void *arg,
                           const char *file, const char *member)
{
    unsigned char start[12];
    char *text = NULL;
    int64_t length;
    GrB_Info info;
    FTB_CHECK(read(arg, start, 10));
    if (memcmp(start, "\x93NUMPY", 6) != 0 || start[6] < 1 || start[6] > 3) {
        info = ftb_fail(FTB_FORMAT, "%s: %s: is no .npy array", file, member);
        goto done;
    }
    length = start[8] | start[9] << 8;
    *size = 10 + length;
    if (start[6] > 1) { /* 4 bytes of length */
        FTB_CHECK(read(arg, start + 10, 2));
        length |= (int64_t)start[10] << 16 | (int64_t)start[11] << 24;
        *size = 12 + length;
    }
    if (length > 65536) {
        info = ftb_fail(FTB_FORMAT, "%s: %s: a header of %lld bytes", file, member, (long long)length);
        goto done;
    }
    if (!(text = ftb_new(ctx, length + 1, 1)))
        return ftb_nomem();
    FTB_CHECK(read(arg, text, length));
    text[length] = '\0';
    FTB_CHECK(ftb_npy_parse(h, text, file, member));
done:
    ftb_delete(text);
    return info;
}

void ftb_npy_swap(void *data, int64_t count, int size)
{
    for (char *p = data; count > 0; count--, p += size)
        for (int b = 0; b < size / 2; b++) {
            char c = p[b];
            p[b] = p[size - 1 - b];
            p[size - 1 - b] = c;
        }
}

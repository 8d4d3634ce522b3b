/* Named tensors, and texts by key, in memory: arrays that ascend by name, so that a model's few dozen are
 * found by bisection and always listed in one order. The tensors of a file share one buffer; a block that
 * views one of them keeps that buffer alive. */
#include "nn/tensors.h"

static bool valid(FtB_Tensors t) { return t && t->magic == FTB_MAGIC_TENSORS; }

GrB_Info ftb_tensors_check(FtB_Tensors t)
{
    if (!t)
        return ftb_fail(GrB_NULL_POINTER, "t is NULL; expected an FtB_Tensors");
    if (!valid(t))
        return ftb_fail(GrB_UNINITIALIZED_OBJECT, "t is not an FtB_Tensors, or was freed");
    return GrB_SUCCESS;
}

GrB_Info ftb_tensors_make(FtB_Tensors *t, FtB_Context ctx, const char *source)
{
    *t = NULL;
    FtB_Tensors made = ftb_new0(ctx, 1, sizeof *made);
    if (!made)
        return ftb_nomem();
    made->magic = FTB_MAGIC_TENSORS;
    made->ctx = ctx;
    made->source = source ? ftb_strdup(ctx, source) : NULL;
    if (source && !made->source) {
        FtB_Tensors_free(&made);
        return ftb_nomem();
    }
    *t = made;
    return GrB_SUCCESS;
}

GrB_Info FtB_Tensors_new(FtB_Tensors *t)
{
    if (!t)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Tensors_new: t is NULL");
    return ftb_tensors_make(t, ftb_context(), NULL);
}

static void clear_tensor(ftb_tensor *tensor)
{
    ftb_delete(tensor->name);
    ftb_buffer_release(tensor->owner);
}

static void clear_text(ftb_tensor_text *text)
{
    ftb_delete(text->key);
    ftb_delete(text->value);
}

GrB_Info FtB_Tensors_free(FtB_Tensors *handle)
{
    if (!handle || !*handle)
        return GrB_SUCCESS;
    FtB_Tensors t = *handle;
    GrB_Info info = ftb_tensors_check(t);
    if (info != GrB_SUCCESS)
        return info;
    for (int64_t k = 0; k < t->count; k++)
        clear_tensor(&t->tensors[k]);
    for (int64_t k = 0; k < t->ntexts; k++)
        clear_text(&t->texts[k]);
    ftb_delete(t->tensors);
    ftb_delete(t->texts);
    ftb_delete(t->source);
    t->magic = 0;
    ftb_delete(t);
    *handle = NULL;
    return GrB_SUCCESS;
}

bool ftb_tensors_grow(FtB_Context ctx, void **array, int64_t count, int64_t *room, size_t size)
{
    int64_t more = ftb_max(8, 2 * *room);
    if (count < *room)
        return true;
    if (!ftb_resize(ctx, array, more, size))
        return false;
    *room = more;
    return true;
}

int64_t ftb_tensor_values(int rank, const int64_t *shape)
{
    int64_t values = 1;
    for (int d = 0; d < rank; d++)
        if (shape[d] > INT64_MAX / 16 || __builtin_mul_overflow(values, shape[d], &values) ||
            values > INT64_MAX / 16)
            return -1;
    return values;
}

/* The first place, of `count` structs of `size` bytes that begin with a name, whose name is not below. */
static int64_t place_of(const void *array, int64_t count, size_t size, const char *name, bool *found)
{
    int64_t low = 0, high = count;
    *found = false;
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        const char *here = *(char *const *)((const char *)array + (size_t)mid * size);
        int order = strcmp(here, name);
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
        *found = *found || order == 0;
    }
    return low;
}

/* JSON texts are UTF-8 (RFC 3629): without overlong forms, surrogates and what is above U+10FFFF. */
static bool is_utf8(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    while (*s) {
        int more = *s < 0x80 ? 0 : *s >= 0xc2 && *s < 0xe0 ? 1 : (*s & 0xf0) == 0xe0 ? 2 : 3;
        if (more == 3 && (*s < 0xf0 || *s > 0xf4))
            return false;
        if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) || (*s == 0xf0 && s[1] < 0x90) ||
            (*s == 0xf4 && s[1] > 0x8f))
            return false;
        for (s++; more > 0; more--, s++)
            if ((*s & 0xc0) != 0x80)
                return false;
    }
    return true;
}

/* ---- tensors */

int64_t FtB_Tensors_count(FtB_Tensors t) { return valid(t) ? t->count : 0; }

const char *FtB_Tensors_name(FtB_Tensors t, int64_t k)
{
    return k >= 0 && k < FtB_Tensors_count(t) ? t->tensors[k].name : NULL;
}

const char *FtB_Tensors_source(FtB_Tensors t) { return valid(t) && t->source ? t->source : "tensors"; }

/* Says which tensors there are instead; few, as a message is short. */
static GrB_Info no_tensor(FtB_Tensors t, const char *name)
{
    char names[256] = "";
    size_t length = 0;
    for (int64_t k = 0; k < t->count && length < sizeof names; k++)
        length += (size_t)snprintf(names + length, sizeof names - length, "%s'%s'", k ? ", " : "",
                                   t->tensors[k].name);
    return ftb_fail(GrB_INVALID_VALUE, "%s: has no tensor '%s'; it has %s%s%s", FtB_Tensors_source(t), name,
                    t->count ? "" : "none", names, length < sizeof names ? "" : "...");
}

GrB_Info FtB_Tensors_get(FtB_Block *X, FtB_Tensors t, const char *name, int *rank, int64_t *shape)
{
    bool found;
    if (!X || !name)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Tensors_get: %s is NULL", X ? "name" : "X");
    *X = NULL;
    GrB_Info info = ftb_tensors_check(t);
    if (info != GrB_SUCCESS)
        return info;
    int64_t at = place_of(t->tensors, t->count, sizeof *t->tensors, name, &found);
    if (!found)
        return no_tensor(t, name);
    const ftb_tensor *tensor = &t->tensors[at];
    int64_t last = tensor->rank > 0 ? tensor->shape[tensor->rank - 1] : 1;
    int64_t rows = tensor->rank > 1 ? ftb_tensor_values(tensor->rank - 1, tensor->shape) : 1;
    info = ftb_block_view(X, t->ctx, tensor->type, rows, last, last, ftb_buffer_retain(tensor->owner));
    if (info != GrB_SUCCESS)
        return info;
    (*X)->offset = (const char *)tensor->data - (const char *)ftb_buffer_data(tensor->owner);
    if (rank)
        *rank = tensor->rank;
    if (shape)
        memcpy(shape, tensor->shape, (size_t)tensor->rank * sizeof *shape);
    return GrB_SUCCESS;
}

static GrB_Info check_set(FtB_Tensors t, const char *name, FtB_Block X, int rank, const int64_t *shape)
{
    int64_t values;
    GrB_Info info = ftb_tensors_check(t);
    if (info == GrB_SUCCESS && !name)
        info = ftb_fail(GrB_NULL_POINTER, "FtB_Tensors_set: name is NULL");
    if (info == GrB_SUCCESS)
        info = FtB_Block_shape(X, NULL, NULL, NULL, NULL, NULL);
    if (info != GrB_SUCCESS)
        return info;
    if (!is_utf8(name) || strcmp(name, "__metadata__") == 0)
        return ftb_fail(GrB_INVALID_VALUE,
                        "FtB_Tensors_set: name is '%.200s'; expected UTF-8, not '__metadata__'", name);
    if (rank < -1 || rank > FTB_TENSOR_RANK)
        return ftb_fail(GrB_INVALID_VALUE, "FtB_Tensors_set: '%s': rank is %d; expected -1 to %d", name, rank,
                        FTB_TENSOR_RANK);
    if (rank > 0 && !shape)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Tensors_set: '%s': shape is NULL; expected %d dimensions",
                        name, rank);
    for (int d = 0; d < rank; d++)
        if (shape[d] < 0)
            return ftb_fail(GrB_INVALID_VALUE, "FtB_Tensors_set: '%s': dimension %d of shape is %lld", name,
                            d, (long long)shape[d]);
    values = rank >= 0 ? ftb_tensor_values(rank, shape) : X->nrows * X->ncols;
    if (values != X->nrows * X->ncols)
        return ftb_fail(
            GrB_INVALID_VALUE,
            "FtB_Tensors_set: '%s': shape has %lld values; expected those of X, which is %lld x %lld", name,
            (long long)values, (long long)X->nrows, (long long)X->ncols);
    return ftb_buffer_ask_as(X->owner, FTB_READ, name);
}

/* A buffer with a copy of X's values, without gaps. */
static ftb_buffer *pack(FtB_Context ctx, FtB_Block X)
{
    size_t size = FtB_Type_size(X->type), row = (size_t)X->ncols * size;
    ftb_buffer *b = ftb_buffer_adopt(ctx, ftb_new(ctx, X->nrows * X->ncols, size));
    for (int64_t i = 0; b && row > 0 && i < X->nrows; i++)
        memcpy((char *)ftb_buffer_data(b) + (size_t)i * row,
               (const char *)ftb_block_data(X) + (size_t)(i * X->ld) * size, row);
    return b;
}

GrB_Info FtB_Tensors_set(FtB_Tensors t, const char *name, FtB_Block X, int rank, const int64_t *shape)
{
    bool found;
    GrB_Info info = check_set(t, name, X, rank, shape);
    if (info != GrB_SUCCESS)
        return info;
    void *array = t->tensors;
    bool room = ftb_tensors_grow(t->ctx, &array, t->count, &t->room, sizeof *t->tensors);
    t->tensors = array;
    ftb_tensor made = {.type = X->type, .rank = rank >= 0 ? rank : 2, .shape = {X->nrows, X->ncols}};
    made.bytes = X->nrows * X->ncols * (int64_t)FtB_Type_size(X->type);
    if (rank > 0)
        memcpy(made.shape, shape, (size_t)rank * sizeof *shape);
    made.name = room ? ftb_strdup(t->ctx, name) : NULL;
    made.owner = made.name ? pack(t->ctx, X) : NULL;
    if (!made.owner) {
        clear_tensor(&made);
        return ftb_nomem();
    }
    made.data = ftb_buffer_data(made.owner);
    int64_t at = place_of(t->tensors, t->count, sizeof *t->tensors, name, &found);
    if (found)
        clear_tensor(&t->tensors[at]);
    else
        memmove(t->tensors + at + 1, t->tensors + at, (size_t)(t->count++ - at) * sizeof *t->tensors);
    t->tensors[at] = made;
    return GrB_SUCCESS;
}

/* ---- texts */

int64_t FtB_Tensors_text_count(FtB_Tensors t) { return valid(t) ? t->ntexts : 0; }

const char *FtB_Tensors_text_key(FtB_Tensors t, int64_t k)
{
    return k >= 0 && k < FtB_Tensors_text_count(t) ? t->texts[k].key : NULL;
}

const char *FtB_Tensors_get_text(FtB_Tensors t, const char *key)
{
    bool found;
    if (!valid(t) || !key)
        return NULL;
    int64_t at = place_of(t->texts, t->ntexts, sizeof *t->texts, key, &found);
    return found ? t->texts[at].value : NULL;
}

static void remove_text(FtB_Tensors t, const char *key)
{
    bool found;
    int64_t at = place_of(t->texts, t->ntexts, sizeof *t->texts, key, &found);
    if (!found)
        return;
    clear_text(&t->texts[at]);
    t->ntexts--;
    memmove(t->texts + at, t->texts + at + 1, (size_t)(t->ntexts - at) * sizeof *t->texts);
}

GrB_Info FtB_Tensors_set_text(FtB_Tensors t, const char *key, const char *value)
{
    bool found;
    GrB_Info info = ftb_tensors_check(t);
    if (info != GrB_SUCCESS)
        return info;
    if (!key)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Tensors_set_text: key is NULL");
    if (!value) {
        remove_text(t, key);
        return GrB_SUCCESS;
    }
    if (!is_utf8(key) || !is_utf8(value))
        return ftb_fail(GrB_INVALID_VALUE,
                        "FtB_Tensors_set_text: '%.200s': expected a key and a value in UTF-8", key);
    void *array = t->texts;
    bool room = ftb_tensors_grow(t->ctx, &array, t->ntexts, &t->text_room, sizeof *t->texts);
    t->texts = array;
    ftb_tensor_text made = {.key = room ? ftb_strdup(t->ctx, key) : NULL};
    made.value = made.key ? ftb_strdup(t->ctx, value) : NULL;
    if (!made.value) {
        clear_text(&made);
        return ftb_nomem();
    }
    int64_t at = place_of(t->texts, t->ntexts, sizeof *t->texts, key, &found);
    if (found)
        clear_text(&t->texts[at]);
    else
        memmove(t->texts + at + 1, t->texts + at, (size_t)(t->ntexts++ - at) * sizeof *t->texts);
    t->texts[at] = made;
    return GrB_SUCCESS;
}

/* safetensors files: 8 bytes that hold, little-endian, the length of a JSON text; the text, which may end in
 * blanks; then the tensors' bytes, without holes. The text is an object of
 *
 *     "name": {"dtype": "F32", "shape": [16, 1433], "data_offsets": [0, 91712]}
 *
 * with places counted from the end of the text, and perhaps "__metadata__": {"key": "text", ...}.
 * The data is read by one read; where its tensors are aligned, as those of the usual writers are, they stay
 * where they are. Format: https://github.com/huggingface/safetensors#format; what its own reader refuses is
 * refused here. */
#include "io/input.h"
#include "nn/tensors.h"

#include <jansson.h>
#include <stdlib.h>

#define MOST_HEAD INT64_C(100000000) /* bytes of the text: the format's own limit */
/* What jansson's tree takes for a byte of the text, at most, on a 64-bit machine: "{}," becomes 250. */
#define TREE_BYTES 96

static const struct {
    const char *name;
    FtB_Type type;
} dtypes[] = {{"F64", FTB_FP64},   {"F32", FTB_FP32},   {"F16", FTB_FP16},   {"BF16", FTB_BF16},
              {"I64", FTB_INT64},  {"I32", FTB_INT32},  {"I16", FTB_INT16},  {"I8", FTB_INT8},
              {"U64", FTB_UINT64}, {"U32", FTB_UINT32}, {"U16", FTB_UINT16}, {"U8", FTB_UINT8},
              {"BOOL", FTB_BOOL}};

#define DTYPES ((int)(sizeof dtypes / sizeof *dtypes))

static GrB_Info check_order(const char *path)
{
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        return GrB_SUCCESS;
    return ftb_fail(FTB_IO, "%s: safetensors files are little-endian, and this machine is not", path);
}

/* ---- reading: the head */

typedef struct reader {
    FtB_Tensors t;
    ftb_input *in;
    const char *name; /* of the file */
} reader;

static GrB_Info refuse(const reader *r, const char *tensor, const char *what)
{
    return ftb_fail(FTB_FORMAT, "%s: tensor '%.200s': %s", r->name, tensor, what);
}

static GrB_Info read_dtype(const reader *r, ftb_tensor *tensor, const json_t *entry)
{
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    if (!dtype)
        return refuse(r, tensor->name, "has no dtype; expected \"dtype\": \"F32\" or the like");
    for (int d = 0; d < DTYPES; d++)
        if (strcmp(dtypes[d].name, dtype) == 0)
            tensor->type = dtypes[d].type;
    if (!tensor->type)
        return ftb_fail(
            FTB_FORMAT,
            "%s: tensor '%.200s': dtype '%.40s' is none of F64, F32, F16, BF16, I64, I32, I16, I8, U64, "
            "U32, U16, U8, BOOL",
            r->name, tensor->name, dtype);
    return GrB_SUCCESS;
}

/* An array of at most `most` integers >= 0; false: it is something else. */
static bool read_integers(const json_t *array, size_t most, int64_t *out, int *count)
{
    if (!json_is_array(array) || json_array_size(array) > most)
        return false;
    *count = (int)json_array_size(array);
    for (int k = 0; k < *count; k++) {
        const json_t *value = json_array_get(array, (size_t)k);
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            return false;
        out[k] = json_integer_value(value);
    }
    return true;
}

static GrB_Info read_tensor(const reader *r, ftb_tensor *tensor, const json_t *entry)
{
    int64_t places[2], values;
    int count;
    if (!json_is_object(entry))
        return refuse(r, tensor->name,
                      "is described by no object; expected {\"dtype\": ..., \"shape\": ...}");
    GrB_Info info = read_dtype(r, tensor, entry);
    if (info != GrB_SUCCESS)
        return info;
    if (!read_integers(json_object_get(entry, "shape"), FTB_TENSOR_RANK, tensor->shape, &tensor->rank))
        return refuse(r, tensor->name, "shape is no array of at most 8 dimensions >= 0");
    if (!read_integers(json_object_get(entry, "data_offsets"), 2, places, &count) || count != 2)
        return refuse(r, tensor->name, "data_offsets is no array of two places >= 0");
    values = ftb_tensor_values(tensor->rank, tensor->shape);
    if (values < 0)
        return refuse(r, tensor->name, "shape has more values than can be addressed");
    tensor->at = places[0];
    tensor->bytes = values * (int64_t)FtB_Type_size(tensor->type);
    if (places[1] < places[0] || places[1] - places[0] != tensor->bytes)
        return ftb_fail(
            FTB_FORMAT, "%s: tensor '%.200s': its shape takes %lld bytes; its data_offsets are %lld, %lld",
            r->name, tensor->name, (long long)tensor->bytes, (long long)places[0], (long long)places[1]);
    return GrB_SUCCESS;
}

static GrB_Info add_tensor(const reader *r, const char *name, const json_t *entry)
{
    FtB_Tensors t = r->t;
    t->tensors[t->count] = (ftb_tensor){.name = ftb_strdup(t->ctx, name)};
    if (!t->tensors[t->count].name)
        return ftb_nomem();
    return read_tensor(r, &t->tensors[t->count++], entry);
}

static GrB_Info add_texts(const reader *r, json_t *object)
{
    FtB_Tensors t = r->t;
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        return ftb_fail(FTB_FORMAT, "%s: __metadata__ is no object of texts", r->name);
    t->text_room = (int64_t)json_object_size(object);
    t->texts = ftb_new0(t->ctx, t->text_room, sizeof *t->texts);
    if (!t->texts)
        return ftb_nomem();
    json_object_foreach(object, key, value)
    {
        ftb_tensor_text *text = &t->texts[t->ntexts];
        if (!json_is_string(value))
            return ftb_fail(FTB_FORMAT, "%s: __metadata__: '%.200s' is no text", r->name, key);
        t->ntexts++;
        text->key = ftb_strdup(t->ctx, key);
        text->value = text->key ? ftb_strdup(t->ctx, json_string_value(value)) : NULL;
        if (!text->value)
            return ftb_nomem();
    }
    return GrB_SUCCESS;
}

/* Of tensors and of texts, which begin with it. */
static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static GrB_Info read_entries(const reader *r, json_t *root)
{
    FtB_Tensors t = r->t;
    const char *name;
    json_t *entry;
    GrB_Info info = GrB_SUCCESS;
    if (!json_is_object(root))
        return ftb_fail(FTB_FORMAT, "%s: the header is no object of tensors", r->name);
    t->room = (int64_t)json_object_size(root);
    t->tensors = ftb_new0(t->ctx, t->room, sizeof *t->tensors);
    if (!t->tensors)
        return ftb_nomem();
    json_object_foreach(root, name, entry)
    {
        info = strcmp(name, "__metadata__") == 0 ? add_texts(r, entry) : add_tensor(r, name, entry);
        if (info != GrB_SUCCESS)
            return info;
    }
    qsort(t->tensors, (size_t)t->count, sizeof *t->tensors, by_name);
    if (t->ntexts > 0)
        qsort(t->texts, (size_t)t->ntexts, sizeof *t->texts, by_name);
    return GrB_SUCCESS;
}

static GrB_Info json_failed(const reader *r, const json_error_t *error)
{
    if (json_error_code(error) == json_error_out_of_memory)
        return ftb_fail(GrB_OUT_OF_MEMORY, "%s: out of memory for the header", r->name);
    return ftb_fail(FTB_FORMAT, "%s: the header, at its byte %d: %s", r->name, error->position, error->text);
}

/* The text, and what it says of the tensors. The tree is not from the context's allocator, but counted. */
static GrB_Info read_head(const reader *r)
{
    FtB_Context ctx = r->t->ctx;
    unsigned char bytes[8];
    uint64_t length = 0;
    void *text = NULL;
    json_t *root = NULL;
    json_error_t error;
    int64_t counted = 0;
    GrB_Info info = ftb_input_exactly(r->in, bytes, 8, "length of the header");
    if (info != GrB_SUCCESS)
        return info;
    for (int b = 0; b < 8; b++)
        length |= (uint64_t)bytes[b] << (8 * b);
    if (length < 2 || length > (uint64_t)MOST_HEAD)
        return ftb_fail(FTB_FORMAT, "%s: is no safetensors file: its header would have %llu bytes", r->name,
                        (unsigned long long)length);
    FTB_CHECK(ftb_read_array(&text, ctx, r->in, (int64_t)length, 1, "header"));
    if (!ftb_count(ctx, (int64_t)length * TREE_BYTES)) {
        info = ftb_nomem();
        goto done;
    }
    counted = (int64_t)length * TREE_BYTES;
    root = *(const char *)text == '{' ? json_loadb(text, length, JSON_REJECT_DUPLICATES, &error) : NULL;
    if (*(const char *)text != '{')
        info =
            ftb_fail(FTB_FORMAT, "%s: is no safetensors file: its header does not begin with '{'", r->name);
    else
        info = root ? read_entries(r, root) : json_failed(r, &error);
done:
    json_decref(root);
    ftb_uncount(ctx, counted);
    ftb_delete(text);
    return info;
}

/* ---- reading: the data */

typedef struct place {
    int64_t at, end;
    ftb_tensor *tensor;
} place;

static int by_place(const void *a_, const void *b_)
{
    const place *a = a_, *b = b_;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end); /* those without bytes first */
}

/* The tensors follow each other from byte 0 on; *total: bytes of all. */
static GrB_Info check_places(const reader *r, int64_t *total)
{
    FtB_Tensors t = r->t;
    const char *before = NULL;
    int64_t end = 0;
    GrB_Info info = GrB_SUCCESS;
    place *places = ftb_new(t->ctx, t->count, sizeof *places);
    if (!places)
        return ftb_nomem();
    for (int64_t k = 0; k < t->count; k++)
        places[k] = (place){t->tensors[k].at, t->tensors[k].at + t->tensors[k].bytes, &t->tensors[k]};
    qsort(places, (size_t)t->count, sizeof *places, by_place);
    for (int64_t k = 0; k < t->count && info == GrB_SUCCESS; k++) {
        if (places[k].at != end)
            info = ftb_fail(FTB_FORMAT,
                            "%s: tensor '%.200s' begins at byte %lld of the data; expected %lld, %s%.200s%s",
                            r->name, places[k].tensor->name, (long long)places[k].at, (long long)end,
                            before ? "where '" : "its begin", before ? before : "", before ? "' ends" : "");
        end = places[k].end;
        before = places[k].tensor->name;
    }
    *total = end;
    ftb_delete(places);
    return info;
}

static GrB_Info read_data(const reader *r, int64_t total, ftb_buffer **data)
{
    FtB_Context ctx = r->t->ctx;
    void *bytes = NULL;
    char more;
    int64_t got = 0;
    GrB_Info info = ftb_read_array(&bytes, ctx, r->in, total, 1, "data of the tensors");
    if (info == GrB_SUCCESS)
        info = ftb_input_read(r->in, &more, 1, &got);
    if (info == GrB_SUCCESS && got > 0)
        info = ftb_fail(FTB_FORMAT, "%s: goes on behind the %lld bytes of its tensors", r->name,
                        (long long)total);
    if (info != GrB_SUCCESS) {
        ftb_delete(bytes);
        return info;
    }
    *data = ftb_buffer_adopt(ctx, bytes);
    return *data ? GrB_SUCCESS : ftb_nomem();
}

/* Each tensor's part of the data; a copy where its values would not be aligned. */
static GrB_Info hand_out(const reader *r, ftb_buffer *data)
{
    FtB_Tensors t = r->t;
    for (int64_t k = 0; k < t->count; k++) {
        ftb_tensor *x = &t->tensors[k];
        const char *from = (const char *)ftb_buffer_data(data) + x->at;
        if (x->at % (int64_t)FtB_Type_size(x->type) == 0) {
            x->owner = ftb_buffer_retain(data);
            x->data = (char *)ftb_buffer_data(data) + x->at;
        } else {
            x->owner = ftb_buffer_adopt(t->ctx, ftb_new(t->ctx, x->bytes, 1));
            if (!x->owner)
                return ftb_nomem();
            x->data = memcpy(ftb_buffer_data(x->owner), from, (size_t)x->bytes);
        }
        if (x->type == FTB_BOOL) /* only 0 and 1 are values of the C type */
            for (int64_t v = 0; v < x->bytes; v++)
                ((unsigned char *)x->data)[v] = ((unsigned char *)x->data)[v] != 0;
    }
    return GrB_SUCCESS;
}

GrB_Info FtB_Tensors_read(FtB_Tensors *t, const char *path)
{
    reader r = {0};
    ftb_buffer *data = NULL;
    FtB_Context ctx = ftb_context();
    int64_t total = 0;
    GrB_Info info;
    if (!t || !path)
        return ftb_fail(GrB_NULL_POINTER, "FtB_Tensors_read: %s is NULL", t ? "path" : "t");
    *t = NULL;
    FTB_CHECK(check_order(path));
    FTB_CHECK(ftb_input_open(&r.in, ctx, path));
    r.name = ftb_input_name(r.in);
    FTB_CHECK(ftb_tensors_make(&r.t, ctx, r.name));
    FTB_CHECK(read_head(&r));
    FTB_CHECK(check_places(&r, &total));
    FTB_CHECK(read_data(&r, total, &data));
    FTB_CHECK(hand_out(&r, data));
    *t = r.t;
    r.t = NULL;
done:
    if (info == FTB_LIMIT)
        ftb_wrap_error(info, "%s: ", path);
    ftb_buffer_release(data);
    FtB_Tensors_free(&r.t);
    ftb_input_close(&r.in);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(ctx);
    return info;
}

/* ---- writing */

/* A text that grows. */
typedef struct text {
    FtB_Context ctx;
    void *bytes;
    int64_t size, room;
    bool failed;
} text;

static void add_bytes(text *x, const char *bytes, int64_t count)
{
    int64_t room = x->size + count > x->room ? 2 * x->room + count + 256 : x->room;
    if (room > x->room)
        x->failed = x->failed || !ftb_resize(x->ctx, &x->bytes, room, 1);
    if (x->failed)
        return;
    x->room = room;
    memcpy((char *)x->bytes + x->size, bytes, (size_t)count);
    x->size += count;
}

static void add(text *x, const char *bytes) { add_bytes(x, bytes, (int64_t)strlen(bytes)); }

static void add_integer(text *x, int64_t value)
{
    char digits[24];
    add_bytes(x, digits, snprintf(digits, sizeof digits, "%lld", (long long)value));
}

static void add_string(text *x, const char *s)
{
    char escape[8];
    add(x, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            add(x, "\\");
        if ((unsigned char)*s >= 0x20)
            add_bytes(x, s, 1);
        else
            add_bytes(x, escape, snprintf(escape, sizeof escape, "\\u%04x", (unsigned)*s));
    }
    add(x, "\"");
}

static void add_entry(text *x, const ftb_tensor *tensor, int64_t at)
{
    for (int d = 0; d < DTYPES; d++)
        if (dtypes[d].type == tensor->type) {
            add(x, ":{\"dtype\":\"");
            add(x, dtypes[d].name);
        }
    add(x, "\",\"shape\":[");
    for (int d = 0; d < tensor->rank; d++) {
        add(x, d ? "," : "");
        add_integer(x, tensor->shape[d]);
    }
    add(x, "],\"data_offsets\":[");
    add_integer(x, at);
    add(x, ",");
    add_integer(x, at + tensor->bytes);
    add(x, "]}");
}

/* The next tensor in the order of the data, 8-byte dtypes first; *size and *k say where the last one was. */
static const ftb_tensor *next_tensor(FtB_Tensors t, size_t *size, int64_t *k)
{
    for (; *size > 0; *size /= 2, *k = 0)
        while (*k < t->count) {
            const ftb_tensor *tensor = &t->tensors[(*k)++];
            if (FtB_Type_size(tensor->type) == *size)
                return tensor;
        }
    return NULL;
}

/* The length and the text, padded so that the data is aligned. */
static GrB_Info make_head(text *x, FtB_Tensors t, const char *path)
{
    size_t size = 8;
    int64_t k = 0, at = 0;
    const ftb_tensor *tensor;
    const char *separator = "";
    add(x, "01234567{");
    for (int64_t m = 0; m < t->ntexts; m++) {
        add(x, m ? "," : "\"__metadata__\":{");
        add_string(x, t->texts[m].key);
        add(x, ":");
        add_string(x, t->texts[m].value);
        separator = ",";
    }
    add(x, t->ntexts > 0 ? "}" : "");
    while ((tensor = next_tensor(t, &size, &k))) {
        add(x, separator);
        add_string(x, tensor->name);
        add_entry(x, tensor, at);
        at += tensor->bytes;
        separator = ",";
    }
    add(x, "}");
    while (!x->failed && x->size % 8 != 0)
        add(x, " ");
    if (x->failed)
        return ftb_nomem();
    if (x->size - 8 > MOST_HEAD)
        return ftb_fail(GrB_INVALID_VALUE,
                        "%s: names and texts make a header of %lld bytes; at most %lld are allowed", path,
                        (long long)x->size - 8, (long long)MOST_HEAD);
    for (int b = 0; b < 8; b++)
        ((char *)x->bytes)[b] = (char)((uint64_t)(x->size - 8) >> (8 * b) & 255);
    return GrB_SUCCESS;
}

GrB_Info FtB_Tensors_write(FtB_Tensors t, const char *path)
{
    ftb_file *file = NULL;
    size_t size = 8;
    int64_t k = 0;
    const ftb_tensor *tensor;
    GrB_Info info = ftb_tensors_check(t);
    if (info == GrB_SUCCESS && !path)
        info = ftb_fail(GrB_NULL_POINTER, "FtB_Tensors_write: path is NULL");
    if (info == GrB_SUCCESS)
        info = check_order(path);
    if (info != GrB_SUCCESS)
        return info;
    text head = {.ctx = t->ctx};
    FTB_CHECK(make_head(&head, t, path));
    FTB_CHECK(ftb_file_create(&file, t->ctx, path));
    FTB_CHECK(ftb_file_write(file, head.bytes, head.size));
    while ((tensor = next_tensor(t, &size, &k)))
        FTB_CHECK(ftb_file_write(file, tensor->data, tensor->bytes));
    info = ftb_file_commit(&file);
done:
    ftb_file_discard(&file);
    ftb_delete(head.bytes);
    if (info == FTB_CANCELLED)
        ftb_cancel_clear(t->ctx);
    return info;
}

/* What is inside a sparse vector: a list of its entries, a bitmap, or every place's value.
 *
 * Which of them a vector has follows from how many of its places have entries, and nothing else; what reads
 * one takes each. Contents are on the host, counted, and nobody else's. */
#ifndef FTB_VECTOR_FORMS_H
#define FTB_VECTOR_FORMS_H

#include "core/mask.h"

#define FTB_MAGIC_VECTOR 0x46544257

typedef enum ftb_vector_form {
    FTB_VECTOR_LIST,   /* places, ascending, and a value for each */
    FTB_VECTOR_BITMAP, /* for every place whether it has an entry, and a value, which is 0 where it has none
                        */
    FTB_VECTOR_DENSE   /* every place has an entry */
} ftb_vector_form;

typedef struct ftb_vector {
    ftb_vector_form form;
    FtB_Type type;
    int64_t size, nvals;
    int64_t *index;   /* of a list */
    uint8_t *present; /* of a bitmap: 0 or 1 */
    void *values;     /* a list's nvals, else one for each place */
} ftb_vector;

struct FtB_Vector_opaque {
    uint32_t magic;
    FtB_Context ctx;
    ftb_vector v;
};

const char *ftb_form_name(ftb_vector_form form);
/* That of a vector with so many entries. Bytes of a place are as many as of an entry where a third of the
 * places have one; but what reads all places reads them one after the other. */
ftb_vector_form ftb_vector_form_of(int64_t size, int64_t nvals);

/* Memory for a content: a list's for nvals entries; a bitmap has none yet. */
GrB_Info ftb_vector_room(ftb_vector *v, FtB_Context ctx, ftb_vector_form form, FtB_Type type, int64_t size,
                         int64_t nvals);
void ftb_vector_clear(ftb_vector *v); /* frees it; what is zeroed is allowed */
/* Memory for values of `type` at the places of another one, in its form: these are there, the values not yet.
 */
GrB_Info ftb_vector_like(ftb_vector *v, FtB_Context ctx, const ftb_vector *from, FtB_Type type);
/* A copy in another form, or the same: dense only if all places have entries. */
GrB_Info ftb_vector_as(ftb_vector *to, FtB_Context ctx, const ftb_vector *from, ftb_vector_form form);
/* Its own form, in place; as it was on failure. */
GrB_Info ftb_vector_settle(ftb_vector *v, FtB_Context ctx);
/* Its values become another dtype's; as it was on failure. */
GrB_Info ftb_vector_cast(ftb_vector *v, FtB_Context ctx, FtB_Type type);
/* How many of `size` places have entries; list (NULL: not wanted) gets them, ascending. */
int64_t ftb_vector_list(FtB_Context ctx, const uint8_t *present, int64_t size, int64_t *list);
/* The bitmap of a list, size places, zeroed before. */
void ftb_vector_mark(FtB_Context ctx, uint8_t *present, const int64_t *list, int64_t count);

/* Where the value of place i is; -1: it has no entry. */
int64_t ftb_vector_find(const ftb_vector *v, int64_t i);

/* An object of a content, which it adopts (also on failure). */
GrB_Info ftb_vector_make(FtB_Vector *out, FtB_Context ctx, ftb_vector *v);
/* v's content becomes another one, which it adopts. */
void ftb_vector_become(FtB_Vector v, ftb_vector *content);
GrB_Info ftb_vector_check_shape(const char *call, FtB_Type type, int64_t size);
/* Unwraps a slot (as ftb_arg_matrix). */
GrB_Info ftb_arg_vector(FtB_Vector *v, FtB_Arg arg, const char *name, bool optional);

#endif

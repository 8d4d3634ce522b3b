/* Reads lines of the documents' texts, "KIND\tWHERE\t...", and says which are not so:
 *   semiring WHERE TEXT               the library takes it for a semiring
 *   message  WHERE TEXT MESSAGE       it, or a product with it, fails with this message ("..." stands for
 * anything) type     WHERE OPERANDS TEXT TYPE with operands of these types a message has this type */
#include "common.h"

#include <string.h>

static int failures;

static void wrong(const char *where, const char *text, const char *what)
{
    printf("%s: '%s': %s\n", where, text, what);
    failures++;
}

/* Whether the message is this one; "..." ends what is compared. */
static bool is_message(const char *got, const char *want)
{
    const char *dots = strstr(want, ", ...");
    return dots ? strncmp(got, want, (size_t)(dots - want)) == 0 : strcmp(got, want) == 0;
}

static FtB_Matrix one(FtB_Type type)
{
    FtB_Matrix A;
    const int64_t zero = 0;
    const uint64_t value = 0;
    OK(FtB_Matrix_build(&A, type, 1, 1, 1, 1, &zero, &zero, &value, FTB_DUP_SUM, NULL));
    return A;
}

static void check_message(const char *where, const char *text, const char *message)
{
    FtB_Semiring s, bound = NULL;
    FtB_Matrix A = one(FTB_FP64), C;
    FtB_Block W;
    OK(FtB_Matrix_new(&C, FTB_FP64, 1, 1, 1));
    OK(FtB_Block_new(&W, 1, 1, FTB_FP64));
    GrB_Info info = FtB_Semiring_new(&s, text);
    if (info == GrB_SUCCESS && strstr(text, "W"))
        OK(FtB_Semiring_bind(&bound, s, FTB_BIND("W", W)));
    if (info == GrB_SUCCESS)
        info = FtB_mxm(C, NULL, NULL, bound ? bound : s, A, A, NULL);
    if (info == GrB_SUCCESS)
        wrong(where, text, "is no mistake");
    else if (!is_message(FtB_error(), message))
        wrong(where, text, FtB_error());
}

static GrB_Info see(const FtB_Rows *rows, void *arg)
{
    *(FtB_Type *)arg = rows->type;
    return GrB_SUCCESS;
}

/* The type that follows a name in "`a` FP32, `b` INT16" or "`a`, `b` INT8". */
static FtB_Type type_of(const char *operands, const char *name)
{
    const char *at = strstr(operands, name);
    for (; at && *at; at++)
        for (FtB_Type t = FTB_BOOL; t <= FTB_BF16; t++) {
            const size_t length = strlen(FtB_Type_name(t));
            if (strncasecmp(at, FtB_Type_name(t), length) == 0 && (!at[length] || at[length] == ','))
                return t;
        }
    return FTB_FP32;
}

static void check_type(const char *where, const char *operands, const char *text, const char *type)
{
    char semiring[256];
    FtB_Sink sink;
    FtB_Type got = 0;
    snprintf(semiring, sizeof semiring, "%s : %s", strstr(operands, "summed") ? "plus" : "any", text);
    OK(FtB_Sink_callback(&sink, see, &got));
    if (FtB_mxm(sink, NULL, NULL, semiring, one(type_of(operands, "`a`")), one(type_of(operands, "`b`")),
                NULL))
        wrong(where, text, FtB_error());
    else if (strcasecmp(FtB_Type_name(got), type) != 0)
        wrong(where, text, FtB_Type_name(got));
}

int main(void)
{
    char line[4096], *part[5];
    while (fgets(line, sizeof line, stdin)) {
        int parts = 0;
        line[strcspn(line, "\n")] = 0;
        for (char *p = line; p && parts < 5; p = p ? p + 1 : NULL) {
            part[parts++] = p;
            if ((p = strchr(p, '\t')))
                *p = 0;
        }
        FtB_Semiring s;
        if (parts == 3 && FtB_Semiring_new(&s, part[2]) != GrB_SUCCESS)
            wrong(part[1], part[2], FtB_error());
        else if (parts == 4)
            check_message(part[1], part[2], part[3]);
        else if (parts == 5)
            check_type(part[1], part[2], part[3], part[4]);
    }
    return failures != 0;
}

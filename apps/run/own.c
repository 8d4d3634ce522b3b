/* A vertex program of the user's own texts; its state is columns of FP64. */
#include "run/programs.h"

#include "core/core.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 6, NAME = 28 }; /* as FTB_STATE takes them; characters of one */

/* Whether a text has this name, as old.NAME, too. */
static bool has_name(const char *text, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = text ? strstr(text, name) : NULL; at; at = strstr(at + 1, name)) {
        const char before = at == text ? ' ' : at[-1], after = at[length];
        if (!isalnum((unsigned char)before) && before != '_' && !isalnum((unsigned char)after) &&
            after != '_')
            return true;
    }
    return false;
}

/* A field that is begun with is a slip where no other text has it. */
static int check_used(const run_values *v, const char *name)
{
    const char *const texts[] = {v->send, v->combine, v->apply, v->active, v->settled, v->until, v->priority};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        if (has_name(texts[t], name))
            return APP_OK;
    return app_fail(APP_USAGE, "--init: '%s' is in none of the other texts", name);
}

/* The names left of = in --init. */
static int list_fields(const run_work *w, char fields[FIELDS][NAME], int *count)
{
    *count = 0;
    for (const char *at = w->values->init; *at;) {
        const char *end = at + strcspn(at, ";"), *name = at + strspn(at, " \t\n");
        const size_t length = strcspn(name, " \t\n=;");
        if (name < end && (*count == FIELDS || length == 0 || length >= NAME))
            return app_fail(APP_USAGE, "--init: expected up to %d of FIELD = text, with ; between them",
                            FIELDS);
        if (name < end)
            snprintf(fields[(*count)++], NAME, "%.*s", (int)length, name);
        at = *end ? end + 1 : end;
    }
    int code = *count > 0 ? APP_OK : app_fail(APP_USAGE, "--init: expected FIELD = text");
    for (int f = 0; f < *count && code == APP_OK; f++)
        code = check_used(w->values, fields[f]);
    return code;
}

/* What is wrong with --init, which is a program's apply. */
static GrB_Info name_init(GrB_Info info)
{
    static const char apply[] = "apply: ";
    const char *text = FtB_error();
    const size_t skip = strncmp(text, apply, strlen(apply)) == 0 ? strlen(apply) : 0;
    char *copy = skip > 0 ? strdup(text + skip) : NULL;
    if (copy)
        info = ftb_fail(info, "--init: %s", copy);
    free(copy);
    return info;
}

/* A superstep that makes the state of nothing, then the others. */
static GrB_Info run_texts(run_work *w, FtB_States states, bool *begins)
{
    const run_values *v = w->values;
    FtB_Program program = NULL;
    *begins = true;
    GrB_Info info =
        FtB_Program_new(&program, FTB_PROGRAM(.send = "id", .combine = "min : message", .apply = v->init,
                                              .rounds = 1, .applies = FTB_APPLY_ALL));
    if (info == GrB_SUCCESS)
        info = FtB_run(program, w->A, states, NULL);
    FtB_Program_free(&program);
    if (info != GrB_SUCCESS)
        return info;
    *begins = false;
    info = FtB_Program_new(
        &program, FTB_PROGRAM(.send = v->send, .combine = v->combine, .apply = v->apply, .active = v->active,
                              .settled = v->settled, .until = v->until, .priority = v->priority,
                              .delta = isnan(v->delta) ? 0 : v->delta,
                              .direction = v->direction < 0 ? FTB_OUT : (FtB_Direction)v->direction));
    if (info == GrB_SUCCESS)
        info = FtB_run(program, w->A, states,
                       FTB_RUN_OPTIONS(.start = {w->sources, w->nsources}, .rounds = v->rounds,
                                       .explain = w->explain, .supersteps = &w->supersteps));
    FtB_Program_free(&program);
    return info;
}

int run_own(run_work *w)
{
    char fields[FIELDS][NAME];
    FtB_Binding states[FIELDS];
    FtB_Block columns[FIELDS] = {NULL};
    bool begins = false;
    int count;
    int code = list_fields(w, fields, &count);
    if (code != APP_OK)
        return code;
    w->ncolumns = count;
    GrB_Info info = FtB_Block_new(&w->X, w->n, count, FTB_FP64);
    for (int f = 0; f < count && info == GrB_SUCCESS; f++) {
        info = FtB_Block_columns(&columns[f], w->X, f, 1);
        states[f] = (FtB_Binding){fields[f], FTB_ARG(columns[f])};
    }
    if (info == GrB_SUCCESS)
        info = run_texts(w, (FtB_States){states, (size_t)count}, &begins);
    if (info != GrB_SUCCESS && begins)
        info = name_init(info);
    code = run_error(info, APP_USAGE, &w->names, w->values, w->held + run_room(w));
    for (int f = 0; f < count; f++)
        FtB_Block_free(&columns[f]);
    return code;
}

/* A C function gets src, dst and edge with one width: values that broadcast are repeated for it, and their
 * gradient is the sum over the copies. The gradient of a mean's message is that of the mean over the number
 * of messages; of min and max only the winner's is not 0. */
#include "cpu/message_call.h"

enum { OPERANDS = 3 };
static const char *const names[OPERANDS] = {"src", "dst", "edge"};

struct ftb_caller {
    const ftb_message *m;
    int64_t width;                 /* that the function is told */
    int feeds[OPERANDS];           /* -1: there is none */
    int grad, count, entry, saved; /* feeds of gradients, or -1 */
    float *wide[OPERANDS];         /* copies of one value */
    float *from;                   /* the gradient of the message's values */
    float *to;                     /* what the function writes */
};

static int find(const ftb_message *m, const char *name)
{
    const ftb_feed *feed = ftb_message_find(m, name);
    return feed ? (int)(feed - m->feeds) : -1;
}

bool ftb_caller_compares(const ftb_feed *feed)
{
    return strcmp(feed->name, "e'") == 0 || strcmp(feed->name, "saved") == 0;
}

void ftb_caller_delete(ftb_caller *c)
{
    if (!c)
        return;
    for (int o = 0; o < OPERANDS; o++)
        ftb_delete(c->wide[o]);
    ftb_delete(c->from);
    ftb_delete(c->to);
    ftb_delete(c);
}

GrB_Info ftb_caller_new(ftb_caller **out, const ftb_message *m)
{
    ftb_caller *c = ftb_new0(m->ctx, 1, sizeof *c);
    *out = c;
    if (!c)
        return ftb_nomem();
    *c = (ftb_caller){.m = m,
                      .width = 1,
                      .grad = find(m, "grad"),
                      .count = m->gradient_mean ? find(m, "di") : -1,
                      .entry = find(m, "e'"),
                      .saved = find(m, "saved")};
    bool room = true;
    for (int o = 0; o < OPERANDS; o++) {
        c->feeds[o] = find(m, names[o]);
        if (c->feeds[o] >= 0)
            c->width = ftb_max(c->width, m->feeds[c->feeds[o]].width);
    }
    for (int o = 0; o < OPERANDS; o++) {
        c->wide[o] = ftb_new(m->ctx, c->width, sizeof(float));
        room = room && c->wide[o];
    }
    c->from = ftb_new(m->ctx, c->grad < 0 ? 1 : m->feeds[c->grad].width, sizeof(float));
    c->to = ftb_new(m->ctx, c->width, sizeof(float));
    if (room && c->from && c->to)
        return GrB_SUCCESS;
    ftb_caller_delete(c);
    *out = NULL;
    return ftb_nomem();
}

/* An operand's values for item t, as many as `width`. */
static const float *operand(const ftb_caller *c, int o, const ftb_operand *operands, int64_t t)
{
    if (c->feeds[o] < 0)
        return NULL;
    const ftb_operand *x = &operands[c->feeds[o]];
    const float *values = (const float *)x->data + t * x->stride;
    if (c->m->feeds[c->feeds[o]].width > 1 || c->width == 1)
        return values;
    for (int64_t f = 0; f < c->width; f++)
        c->wide[o][f] = values[0];
    return c->wide[o];
}

/* The gradient of item t's message. */
static const float *gradient_from(const ftb_caller *c, const ftb_operand *operands, int64_t t)
{
    const ftb_operand *grad = &operands[c->grad];
    const float *values = (const float *)grad->data + t * grad->stride;
    int64_t width = c->m->feeds[c->grad].width;
    if (c->count < 0 && c->saved < 0)
        return values;
    float divisor = 1;
    if (c->count >= 0)
        divisor = ((const float *)operands[c->count].data)[t * operands[c->count].stride];
    for (int64_t f = 0; f < width; f++)
        c->from[f] = values[f] / divisor;
    if (c->saved < 0)
        return c->from;
    int64_t e = ((const int64_t *)operands[c->entry].data)[t * operands[c->entry].stride];
    const int64_t *winners = (const int64_t *)operands[c->saved].data + t * operands[c->saved].stride;
    for (int64_t f = 0; f < width; f++)
        c->from[f] = winners[f] == e ? c->from[f] : 0;
    return c->from;
}

static void run_gradient(ftb_caller *c, int64_t items, const ftb_operand *operands, float *out)
{
    const ftb_message *m = c->m;
    int of = m->gradient_of - 1;
    int64_t width = m->function_width;
    float *to[OPERANDS] = {NULL};
    to[of] = c->to;
    for (int64_t t = 0; t < items; t++) {
        memset(c->to, 0, (size_t)c->width * sizeof *c->to);
        m->gradient(to[0], to[1], to[2], gradient_from(c, operands, t), operand(c, 0, operands, t),
                    operand(c, 1, operands, t), operand(c, 2, operands, t), c->width, m->theta);
        if (width == c->width) {
            memcpy(out + t * width, c->to, (size_t)width * sizeof *out);
            continue;
        }
        double sum = 0;
        for (int64_t f = 0; f < c->width; f++)
            sum += c->to[f];
        out[t] = (float)sum;
    }
}

void ftb_caller_run(ftb_caller *c, int64_t items, const ftb_operand *operands, float *out)
{
    const ftb_message *m = c->m;
    if (m->gradient_of > 0) {
        run_gradient(c, items, operands, out);
        return;
    }
    for (int64_t t = 0; t < items; t++)
        m->function(out + t * m->function_width, operand(c, 0, operands, t), operand(c, 1, operands, t),
                    operand(c, 2, operands, t), c->width, m->theta);
}

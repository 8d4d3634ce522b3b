/* Messages: a semiring's text and the arrays that its names stand for (message.h). */
#include "expr/message.h"
#include "core/words.h"
#include "expr/message_text.h"
#include "expr/tree.h"

static const int8_t one = 1; /* an entry of a pattern without values */

static bool message_uses(const ftb_message *m, const char *name)
{
    if (m->function)
        return strcmp(name, "src") == 0 || strcmp(name, "dst") == 0 || strcmp(name, "edge") == 0;
    return ftb_expr_uses(m->expr, name);
}

/* Notes that a name may be used here. */
static void offer(ftb_message *m, const char *name)
{
    size_t used = strlen(m->known);
    used += ftb_put_word(m->known + used, sizeof m->known - used, used ? ", " : "");
    ftb_put_word(m->known + used, sizeof m->known - used, name);
}

const ftb_feed *ftb_message_find(const ftb_message *m, const char *name)
{
    for (int f = 0; f < m->nfeeds; f++)
        if (strcmp(m->feeds[f].name, name) == 0)
            return &m->feeds[f];
    return NULL;
}

GrB_Info ftb_message_heads(ftb_message *m, const char *name, int64_t heads)
{
    if (heads > 1 && m->heads > 1 && heads != m->heads)
        return ftb_fail(GrB_DIMENSION_MISMATCH,
                        "semiring: '%s' has %lld heads, where other operands have %lld; expected the same "
                        "number, or 1",
                        name, (long long)heads, (long long)m->heads);
    m->heads = ftb_max(m->heads, heads);
    return GrB_SUCCESS;
}

/* Adds a feed that the text uses; takes over the reference to its owner, also on failure. */
static GrB_Info add_feed(ftb_message *m, const ftb_feed *feed)
{
    GrB_Info info = GrB_SUCCESS;
    if (ftb_message_find(m, feed->name))
        info = ftb_fail(GrB_INVALID_VALUE, "semiring: '%s' is bound, but stands for an operand here",
                        feed->name);
    else if (m->nfeeds == FTB_MAX_FEEDS)
        info = ftb_fail(GrB_INVALID_VALUE, "semiring: more than %d names in one text", FTB_MAX_FEEDS);
    else if (!feed->whole && feed->width < 1)
        info = ftb_fail(GrB_DIMENSION_MISMATCH, "semiring: '%s' has no columns", feed->name);
    else
        info = ftb_message_heads(m, feed->name, feed->heads);
    if (info != GrB_SUCCESS) {
        ftb_buffer_release(feed->owner);
        return info;
    }
    m->feeds[m->nfeeds++] = *feed;
    return GrB_SUCCESS;
}

ftb_feed ftb_block_feed(FtB_Block X, int64_t heads, ftb_side side)
{
    return (ftb_feed){.side = side,
                      .type = X->type,
                      .data = ftb_block_address(X),
                      .nrows = X->nrows,
                      .ld = X->ld,
                      .heads = heads,
                      .width = X->ncols / heads,
                      .offset = X->offset,
                      .owner = X->owner};
}

ftb_feed ftb_whole_feed(FtB_Block X)
{
    ftb_feed feed = ftb_block_feed(X, 1, FTB_SIDE_NONE);
    feed.whole = X;
    return feed;
}

GrB_Info ftb_message_block(ftb_message *m, const char *name, ftb_side side, FtB_Block X, int64_t heads)
{
    offer(m, name);
    if (!message_uses(m, name))
        return ftb_message_heads(m, name, heads);
    if (X->ncols % heads != 0)
        return ftb_fail(GrB_DIMENSION_MISMATCH,
                        "semiring: '%s' has %lld columns; expected a multiple of %lld heads", name,
                        (long long)X->ncols, (long long)heads);
    ftb_feed feed = ftb_block_feed(X, heads, side);
    ftb_buffer_retain(feed.owner);
    ftb_put_word(feed.name, sizeof feed.name, name);
    return add_feed(m, &feed);
}

/* Values of width 2 and more are divided among the heads when these are known: heads is 0 until then. */
GrB_Info ftb_message_values(ftb_message *m, const char *name, FtB_Matrix A, const int64_t *at)
{
    offer(m, name);
    if (!message_uses(m, name))
        return GrB_SUCCESS;
    ftb_feed feed = {
        .side = FTB_SIDE_NONE, .type = FTB_INT8, .data = &one, .nrows = 1, .ld = 1, .heads = 1, .width = 1};
    if (A->width > 0)
        feed = (ftb_feed){.side = FTB_SIDE_EDGE,
                          .type = A->type,
                          .data = A->values->host,
                          .nrows = A->pattern->nvals,
                          .ld = A->width,
                          .heads = A->width == 1,
                          .width = A->width,
                          .at = at,
                          .owner = ftb_buffer_retain(A->values)};
    ftb_put_word(feed.name, sizeof feed.name, name);
    return add_feed(m, &feed);
}

GrB_Info ftb_message_ask(const ftb_message *m)
{
    GrB_Info info = GrB_SUCCESS;
    for (int f = 0; f < m->nfeeds && info == GrB_SUCCESS; f++)
        info = ftb_buffer_ask_as(m->feeds[f].owner, FTB_READ,
                                 m->feeds[f].argument ? m->feeds[f].argument : m->feeds[f].name);
    return info;
}

void ftb_message_argument(ftb_message *m, const char *name, const char *argument)
{
    for (int f = 0; f < m->nfeeds; f++)
        if (strcmp(m->feeds[f].name, name) == 0)
            m->feeds[f].argument = argument;
}

/* ---- bindings */

static GrB_Info add_scalar(ftb_message *m, const char *name, const ftb_bound *b)
{
    bool real = b->type == FTB_FP64, small = b->integer >= INT16_MIN && b->integer <= INT16_MAX;
    ftb_buffer *value = ftb_buffer_new(m->ctx, 1, 8);
    if (!value)
        return ftb_nomem();
    ftb_feed feed = {.side = FTB_SIDE_NONE,
                     .type = real    ? FTB_FP64
                             : small ? FTB_INT16
                                     : FTB_INT64,
                     .data = ftb_buffer_data(value),
                     .nrows = 1,
                     .ld = 1,
                     .heads = 1,
                     .width = 1,
                     .constant = true,
                     .owner = value};
    if (real)
        memcpy(ftb_buffer_data(value), &b->real, sizeof b->real);
    else
        ftb_cast(ftb_buffer_data(value), feed.type, &b->integer, FTB_INT64, 1);
    ftb_put_word(feed.name, sizeof feed.name, name);
    return add_feed(m, &feed);
}

/* Whether x @ name occurs. */
static bool stands_right(const ftb_expr *e, const char *name)
{
    for (int n = 0; n < e->nnodes; n++)
        if (e->nodes[n].op == FTB_OP_MATMUL && ftb_tree_is_name(e, ftb_tree_arg(e, n, 1), name))
            return true;
    return false;
}

/* A bound block: its rows by each index that the text takes them by, its only row, or as a whole. */
static GrB_Info add_block(ftb_message *m, const char *name, const ftb_bound *b)
{
    static const struct {
        const char *index;
        ftb_side side;
    } uses[] = {{"[i]", FTB_SIDE_ROW}, {"[j]", FTB_SIDE_COL}, {"[k]", FTB_SIDE_COL}, {"[e]", FTB_SIDE_EDGE}};
    GrB_Info info = GrB_SUCCESS;
    for (int u = 0; u < 4 && info == GrB_SUCCESS; u++) {
        char indexed[2 * FTB_NAME_LENGTH];
        snprintf(indexed, sizeof indexed, "%s%s", name, uses[u].index);
        if (message_uses(m, indexed))
            info = ftb_message_block(m, indexed, uses[u].side, b->block, b->block->heads);
    }
    if (info != GrB_SUCCESS || !message_uses(m, name))
        return info;
    if (strcmp(name, "dst") == 0)
        return ftb_message_block(m, name, FTB_SIDE_ROW, b->block, b->block->heads);
    if (strcmp(name, "src") == 0)
        return ftb_message_block(m, name, FTB_SIDE_COL, b->block, b->block->heads);
    if (b->block->nrows == 1 && !stands_right(m->expr, name))
        return ftb_message_block(m, name, FTB_SIDE_NONE, b->block, b->block->heads);
    offer(m, name);
    ftb_feed feed = ftb_whole_feed(b->block);
    ftb_buffer_retain(feed.owner);
    ftb_put_word(feed.name, sizeof feed.name, name);
    return add_feed(m, &feed);
}

/* The tree of a semiring; an immortal one's is read here. */
static GrB_Info read_message(ftb_expr **e, ftb_reducer *r, FtB_Semiring s)
{
    if (s->ctx) {
        *e = ftb_expr_retain(s->message);
        *r = s->reducer;
        return GrB_SUCCESS;
    }
    FtB_Semiring made = NULL; /* as text, to which FtB_Semiring_new sets the rules */
    GrB_Info info = FtB_Semiring_new(&made, s->text);
    if (info == GrB_SUCCESS) {
        *e = ftb_expr_retain(made->message);
        *r = made->reducer;
    }
    FtB_Semiring_free(&made);
    return info;
}

GrB_Info ftb_message_new(ftb_message *m, FtB_Context ctx, FtB_Semiring s, const char *const *rename)
{
    ftb_expr *text = NULL;
    *m = (ftb_message){.ctx = ctx, .heads = 1};
    GrB_Info info = read_message(&text, &m->reducer, s);
    if (info != GrB_SUCCESS)
        goto done;
    m->wide = m->reducer.monoid == FTB_PLUS || m->reducer.monoid == FTB_TIMES;
    m->function = s->function;
    m->gradient = s->gradient;
    m->theta = s->theta;
    m->function_width = s->function_width;
    if (!m->function)
        info = ftb_message_text(&m->expr, s, text, rename);
    for (int b = 0; b < s->nbound && info == GrB_SUCCESS; b++) {
        const char *name = ftb_message_renamed(s->bound[b].name, rename);
        if (s->bound[b].block)
            info = add_block(m, name, &s->bound[b]);
        else if (message_uses(m, name))
            info = add_scalar(m, name, &s->bound[b]);
    }
    m->nbound = m->nfeeds;
done:
    ftb_expr_release(text);
    if (info != GrB_SUCCESS)
        ftb_message_clear(m);
    return info;
}

void ftb_message_clear(ftb_message *m)
{
    ftb_expr_release(m->expr);
    for (int f = 0; f < m->nfeeds; f++)
        ftb_buffer_release(m->feeds[f].owner);
    *m = (ftb_message){0};
}

/* ---- features */

/* Adds op(x, y) to the message's own tree, with a literal for y < 0: -1 - y. */
static int add_node(ftb_expr *e, ftb_operator op, int count, int x, int y)
{
    int args[2] = {x, y};
    if (x >= 0 && count == 2 && y < 0)
        args[1] = ftb_tree_add(e, &(ftb_node){.op = FTB_OP_LITERAL, .column = 1, .integer = -1 - y}, 0, NULL);
    if (x < 0 || (count == 2 && args[1] < 0))
        return x < 0 ? x : args[1];
    return ftb_tree_add(e, &(ftb_node){.op = op, .column = 1}, count, args);
}
#define LITERAL(x) (-1 - (x))

/* How many of the root's values are (not) true. */
static int count_truths(ftb_expr *e, bool truths)
{
    int truth = add_node(e, truths ? FTB_OP_BOOL : FTB_OP_NOT, 1, e->root, 0);
    return add_node(e, FTB_OP_SUM, 1, truth, 0);
}

bool ftb_message_reads(const ftb_message *m, const char *name)
{
    for (int n = 0; m->expr && n < m->expr->nnodes; n++)
        if (ftb_tree_is_name(m->expr, n, name))
            return true;
    return false;
}

/* GraphBLAS's k is a feature here, where k names the source's vertex; and a product that reads neither block
 * is one value for all features. */
static GrB_Info check_positions(const ftb_message *m)
{
    ftb_monoid monoid = m->reducer.monoid;
    if (ftb_message_reads(m, "k"))
        return ftb_fail(GrB_DOMAIN_MISMATCH,
                        "semiring: FIRSTJ and SECONDI of GraphBLAS give the inner index, a "
                        "feature of two blocks, which has none here");
    if (!ftb_message_reads(m, "dst") && !ftb_message_reads(m, "src") &&
        (monoid == FTB_PLUS || monoid == FTB_XOR || monoid == FTB_XNOR))
        return ftb_fail(
            GrB_DOMAIN_MISMATCH,
            "semiring: its products read neither block, and %s over the features counts them; any, or "
            "and and of such products are known",
            ftb_monoid_name(monoid));
    return GrB_SUCCESS;
}

GrB_Info ftb_message_over_features(ftb_message *m)
{
    GrB_Info info = check_positions(m);
    if (info != GrB_SUCCESS)
        return info;
    ftb_expr *e = m->expr;
    const ftb_node *root = &e->nodes[e->root];
    int made;
    switch (m->reducer.monoid) {
    case FTB_PLUS:
        if (root->op == FTB_OP_MUL)
            made = add_node(e, FTB_OP_DOT, 2, ftb_tree_arg(e, e->root, 0), ftb_tree_arg(e, e->root, 1));
        else
            made = add_node(e, FTB_OP_SUM, 1, e->root, 0);
        break;
    case FTB_ANY:
        made = add_node(e, FTB_OP_INDEX, 2, e->root, LITERAL(0));
        break;
    case FTB_OR:
        made = add_node(e, FTB_OP_NE, 2, count_truths(e, true), LITERAL(0));
        break;
    case FTB_AND:
        made = add_node(e, FTB_OP_EQ, 2, count_truths(e, false), LITERAL(0));
        break;
    case FTB_XOR:
        made = add_node(e, FTB_OP_BITAND, 2, count_truths(e, true), LITERAL(1));
        made = add_node(e, FTB_OP_EQ, 2, made, LITERAL(1));
        break;
    case FTB_XNOR:
        made = add_node(e, FTB_OP_BITAND, 2, count_truths(e, false), LITERAL(1));
        made = add_node(e, FTB_OP_EQ, 2, made, LITERAL(0));
        break;
    default:
        return ftb_fail(
            GrB_DOMAIN_MISMATCH,
            "semiring: %s over the features of two blocks' rows is not known; plus, any, or, and, "
            "xor and xnor are",
            ftb_monoid_name(m->reducer.monoid));
    }
    if (made < 0)
        return made == FTB_TREE_NOMEM ? ftb_nomem() : GrB_INVALID_VALUE;
    e->root = made;
    return GrB_SUCCESS;
}

/* ---- indices, and what is checked at the end */

static GrB_Info add_index(ftb_message *m, const char *name, ftb_side side, int64_t rows, const int64_t *at,
                          const int64_t *degree)
{
    ftb_feed feed = {.side = side,
                     .type = FTB_INT64,
                     .nrows = rows,
                     .ld = 1,
                     .heads = 1,
                     .width = 1,
                     .at = at,
                     .degree = degree};
    ftb_put_word(feed.name, sizeof feed.name, name);
    return add_feed(m, &feed);
}

static GrB_Info add_indices(ftb_message *m, ftb_pattern *p, bool transposed, const int64_t *at)
{
    static const char *const of_i[] = {"i", "di"}, *const of_j[] = {"j", "k", "dj", "dk"};
    GrB_Info info = GrB_SUCCESS;
    for (int t = 0; t < 7 && info == GrB_SUCCESS; t++) {
        const char *name = t < 2 ? of_i[t] : t < 6 ? of_j[t - 2] : "e";
        bool row = t < 6 && (t < 2) != transposed;
        ftb_pattern *from = p;
        offer(m, name);
        if (m->function || !message_uses(m, name))
            continue;
        if (name[0] == 'e') {
            info = add_index(m, name, FTB_SIDE_EDGE, p->nvals, at, NULL);
            continue;
        }
        if (name[0] == 'd' && !row)
            info = ftb_pattern_transpose(p, &from, NULL);
        if (info == GrB_SUCCESS)
            info = add_index(m, name, row ? FTB_SIDE_ROW : FTB_SIDE_COL, row ? p->nrows : p->ncols, NULL,
                             name[0] == 'd' ? from->rowptr : NULL);
    }
    return info;
}

/* Values of entries: one for all heads, one for each, or as wide as a row. */
static GrB_Info divide_among_heads(ftb_message *m)
{
    for (int f = 0; f < m->nfeeds; f++) {
        ftb_feed *feed = &m->feeds[f];
        if (feed->heads > 0)
            continue;
        if (feed->width % m->heads != 0)
            return ftb_fail(GrB_DIMENSION_MISMATCH,
                            "semiring: '%s' has %lld values per entry; expected 1, or a multiple of the %lld "
                            "heads",
                            feed->name, (long long)feed->width, (long long)m->heads);
        feed->heads = m->heads;
        feed->width /= m->heads;
    }
    return GrB_SUCCESS;
}

static GrB_Info check_names(const ftb_message *m)
{
    const ftb_expr *e = m->expr;
    for (int n = 0; e && n < e->nnodes; n++) {
        const ftb_node *node = &e->nodes[n];
        bool known = node->op != FTB_OP_NAME;
        for (int f = 0; f < m->nfeeds && !known; f++)
            known = ftb_tree_is_name(e, n, m->feeds[f].name);
        if (!known)
            return ftb_fail(GrB_INVALID_VALUE, "%s: unknown name '%.*s' at column %d; known here: %s",
                            e->what, node->name.length, e->text + node->name.start, e->column0 + node->column,
                            m->known);
    }
    return GrB_SUCCESS;
}

static GrB_Info check_rows(const ftb_message *m, const ftb_pattern *p)
{
    for (int f = 0; f < m->nfeeds; f++) {
        const ftb_feed *feed = &m->feeds[f];
        int64_t extent = feed->side == FTB_SIDE_ROW   ? p->nrows
                         : feed->side == FTB_SIDE_COL ? p->ncols
                                                      : p->nvals;
        if (feed->side == FTB_SIDE_NONE || (feed->at && feed->side != FTB_SIDE_EDGE) || feed->nrows >= extent)
            continue;
        return ftb_fail(GrB_DIMENSION_MISMATCH,
                        "semiring: '%s' has %lld rows; expected one for each of the %lld %s", feed->name,
                        (long long)feed->nrows, (long long)extent,
                        feed->side == FTB_SIDE_ROW   ? "rows"
                        : feed->side == FTB_SIDE_COL ? "columns"
                                                     : "entries");
    }
    return GrB_SUCCESS;
}

/* That the operands of a C function have one width, or 1: it is told one for all. */
static GrB_Info check_function(const ftb_message *m)
{
    static const char *const names[] = {"src", "dst", "edge"};
    const ftb_feed *wide = NULL;
    for (int o = 0; o < 3; o++) {
        const ftb_feed *feed = ftb_message_find(m, names[o]);
        if (!feed || feed->width == 1)
            continue;
        if (wide && feed->width != wide->width)
            return ftb_fail(GrB_DIMENSION_MISMATCH,
                            "semiring: '%s' has %lld values per head and '%s' %lld; a C function is told one "
                            "width: expected the same, or 1",
                            wide->name, (long long)wide->width, feed->name, (long long)feed->width);
        wide = feed;
    }
    return GrB_SUCCESS;
}

GrB_Info ftb_message_indices(ftb_message *m, ftb_pattern *p, bool transposed, const int64_t *at)
{
    ftb_expr *plain = NULL;
    for (int f = 0; f < m->nbound; f++) {
        ftb_feed *feed = &m->feeds[f];
        if (transposed && (feed->side == FTB_SIDE_ROW || feed->side == FTB_SIDE_COL))
            feed->side = feed->side == FTB_SIDE_ROW ? FTB_SIDE_COL : FTB_SIDE_ROW;
        if (feed->side == FTB_SIDE_EDGE)
            feed->at = at;
    }
    GrB_Info info = add_indices(m, p, transposed, at);
    if (info == GrB_SUCCESS)
        info = divide_among_heads(m);
    if (info == GrB_SUCCESS)
        info = check_names(m);
    if (info == GrB_SUCCESS)
        info = check_rows(m, p);
    if (info == GrB_SUCCESS)
        info = m->expr ? ftb_message_plain(&plain, m) : check_function(m);
    if (info == GrB_SUCCESS && plain) {
        ftb_expr_release(m->expr);
        m->expr = plain;
    }
    return info;
}

GrB_Info ftb_message_number(ftb_message *m, ftb_side side, const int64_t *numbers, int64_t all,
                            const char *what)
{
    for (int f = 0; f < m->nfeeds; f++) {
        ftb_feed *feed = &m->feeds[f];
        const bool operand = f >= m->nbound && (feed->data || feed->owner);
        if (feed->side != side || feed->degree || operand)
            continue;
        if (feed->data && feed->nrows < all)
            return ftb_fail(
                GrB_DIMENSION_MISMATCH,
                "semiring: '%s' has %lld rows; expected one for each of the %lld %s of the matrix",
                feed->name, (long long)feed->nrows, (long long)all, what);
        feed->at = numbers;
    }
    return GrB_SUCCESS;
}

/* ---- types */

GrB_Info ftb_message_compile(ftb_message_type *type, ftb_program **program, const ftb_message *m)
{
    *program = NULL;
    if (m->function) {
        *type = (ftb_message_type){.message = FTB_FP32, .width = m->function_width};
    } else {
        GrB_Info info = ftb_message_program(program, m, m->expr);
        if (info != GrB_SUCCESS)
            return info;
        *type =
            (ftb_message_type){.message = ftb_program_type(*program), .width = ftb_program_width(*program)};
    }
    type->reduced = ftb_monoid_type(m->reducer.monoid, type->message);
    if (m->reducer.mean && type->reduced != FTB_FP32)
        type->reduced = FTB_FP64;
    return GrB_SUCCESS;
}

GrB_Info ftb_message_program(ftb_program **program, const ftb_message *m, const ftb_expr *expr)
{
    ftb_name names[FTB_MAX_FEEDS];
    for (int f = 0; f < m->nfeeds; f++) {
        const ftb_feed *feed = &m->feeds[f];
        names[f] = (ftb_name){.name = feed->name,
                              .type = feed->type,
                              .width = feed->width,
                              .block = feed->whole != NULL,
                              .rows = feed->whole,
                              .later = true,
                              .constant = feed->constant};
    }
    return ftb_program_new(program, m->ctx, expr, m->nfeeds, names, m->wide);
}

GrB_Info ftb_message_adopt(ftb_message *m, const char *name, ftb_side side, FtB_Block X)
{
    if (m->nfeeds == FTB_MAX_FEEDS) {
        FtB_Block_free(&X);
        return ftb_fail(GrB_INVALID_VALUE, "semiring: more than %d names in one text", FTB_MAX_FEEDS);
    }
    ftb_feed *feed = &m->feeds[m->nfeeds++];
    *feed = ftb_block_feed(X, m->heads, side);
    ftb_buffer_retain(feed->owner);
    ftb_put_word(feed->name, sizeof feed->name, name);
    FtB_Block_free(&X);
    return GrB_SUCCESS;
}

GrB_Info ftb_message_types(ftb_message_type *type, const ftb_message *m)
{
    ftb_program *program = NULL;
    GrB_Info info = ftb_message_compile(type, &program, m);
    ftb_program_delete(program);
    return info;
}

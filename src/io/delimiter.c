/* What the first lines of a text tell: what separates its fields, which of them are names. */
#include "io/input.h"

#include <strings.h>

#define MOST_RECORDS 32 /* that are looked at */

enum { TAB, COMMA, SEMICOLON, KINDS };
static const char candidates[KINDS] = {'\t', ',', ';'};

/* What a record has outside quotes. */
typedef struct tally {
    int count[KINDS];
    int decimals; /* commas between two digits */
    int words;    /* runs of other characters than blanks */
} tally;

static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
static bool digit(char c) { return c >= '0' && c <= '9'; }

static int kind_of(char c)
{
    for (int k = 0; k < KINDS; k++)
        if (c == candidates[k])
            return k;
    return -1;
}

/* The quote that closes the field which `p`, its opening one, begins; NULL: p is a character like any other.
 */
static const char *closing(const char *p, const char *end)
{
    for (p++; p < end; p++) {
        if (*p != '"')
            continue;
        if (p + 1 < end && p[1] == '"') {
            p++;
            continue;
        }
        const char *next = p + 1;
        while (next < end && (*next == ' ' || *next == '\r'))
            next++;
        return next == end || *next == '\n' || kind_of(*next) >= 0 ? p : NULL;
    }
    return NULL;
}

/* Returns where the record's line ends. */
static const char *look_at(tally *t, const char *first, const char *end)
{
    bool start = true, word = false;
    *t = (tally){.words = 0};
    for (const char *p = first; p < end; p++) {
        const char *close = start && *p == '"' ? closing(p, end) : NULL;
        const int kind = kind_of(*p);
        if (*p == '\n')
            return p;
        if (kind >= 0)
            t->count[kind]++;
        if (*p == ',' && p > first && digit(p[-1]) && p + 1 < end && digit(p[1]))
            t->decimals++;
        t->words += !word && !blank(*p);
        word = !blank(*p);
        start = kind >= 0 || (start && *p == ' ');
        p = close ? close : p;
    }
    return end;
}

char ftb_guess_delimiter(const char *first, const char *end)
{
    tally one = {.words = 0}, t;
    bool steady[KINDS] = {true, true, true}, even = true; /* even: as many words in every record */
    int records = 0;
    for (const char *p = first; p < end && records < MOST_RECORDS; p++) {
        p = look_at(&t, p, end);
        if (t.words <= 1 && t.count[TAB] + t.count[COMMA] + t.count[SEMICOLON] == 0)
            continue; /* a single field tells nothing */
        if (records++ == 0)
            one = t;
        for (int k = 0; k < KINDS && p < end; k++) /* the last line may be cut */
            steady[k] = steady[k] && t.count[k] == one.count[k];
        even = even && (t.words == one.words || p == end);
    }
    const int commas = one.count[COMMA], semicolons = one.count[SEMICOLON];
    const bool decimal = one.decimals == commas;
    if (one.count[TAB] > 0)
        return '\t';
    if (commas == 0 && semicolons == 0)
        return ' ';
    if (semicolons == 0) /* 1 2 3,5 */
        return decimal && even && one.words > commas + 1 ? ' ' : ',';
    if (commas == 0)
        return ';';
    if (steady[COMMA] != steady[SEMICOLON])
        return steady[COMMA] ? ',' : ';';
    if (commas != semicolons)
        return commas > semicolons ? ',' : ';';
    return decimal ? ';' : ',';
}

const char *ftb_delimiter_name(char delimiter)
{
    static const struct {
        char delimiter;
        const char *name;
    } names[] = {{'\t', "tabs"}, {',', "commas"}, {';', "semicolons"}, {' ', "blanks"}, {'|', "'|'"},
                 {':', "':'"},   {'!', "'!'"},    {'/', "'/'"},        {'~', "'~'"},    {'^', "'^'"}};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        if (names[n].delimiter == delimiter)
            return names[n].name;
    return "a delimiter";
}

bool ftb_is_name(const char *text, const char *end)
{
    static const char *const missing[] = {"na", "n/a", "#n/a", "null", "none", "nil", "missing", "?", "-"};
    const size_t length = (size_t)(end - text);
    if (length == 0 || strchr("0123456789+-.,", *text))
        return false;
    for (size_t m = 0; m < sizeof missing / sizeof *missing; m++)
        if (strlen(missing[m]) == length && strncasecmp(text, missing[m], length) == 0)
            return false;
    return true;
}

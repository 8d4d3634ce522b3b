/* The lexer. Characters count as bytes; anything outside the language is a BAD token of one byte. A name may
 * have parts, as in dst.rank: that is one name. */
#include "expr/tree.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static int digits(const char *text, int at)
{
    while (is_digit(text[at]))
        at++;
    return at;
}

static ftb_token number(const char *text, int start)
{
    ftb_token token = {FTB_TOKEN_INTEGER, start, 0};
    int at = digits(text, start);
    if (text[at] == '.') {
        token.kind = FTB_TOKEN_REAL;
        at = digits(text, at + 1);
    }
    if (text[at] == 'e' || text[at] == 'E') {
        int power = at + 1 + (text[at + 1] == '+' || text[at + 1] == '-');
        if (is_digit(text[power])) {
            token.kind = FTB_TOKEN_REAL;
            at = digits(text, power);
        }
    }
    token.length = at - start;
    if (is_letter(text[at]) || text[at] == '.') { /* 3x, 1.2.3, 0x10 */
        token.kind = FTB_TOKEN_BAD;
        token.length++;
    }
    return token;
}

static bool is_pair(const char *s)
{
    static const char pairs[][3] = {"<=", ">=", "==", "!=", "&&", "||"};
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++)
        if (s[0] == pairs[p][0] && s[1] == pairs[p][1])
            return true;
    return false;
}

ftb_token ftb_token_next(const char *text, int at)
{
    while (text[at] == ' ' || (text[at] >= '\t' && text[at] <= '\r'))
        at++;
    const char *s = text + at;
    ftb_token token = {FTB_TOKEN_SYMBOL, at, 1};
    if (*s == '\0') {
        token.kind = FTB_TOKEN_END;
        token.length = 0;
    } else if (is_letter(*s)) {
        token.kind = FTB_TOKEN_NAME;
        while (is_letter(s[token.length]) || is_digit(s[token.length]) ||
               (s[token.length] == '.' && is_letter(s[token.length + 1])))
            token.length++;
    } else if (is_digit(*s) || (*s == '.' && is_digit(s[1]))) {
        token = number(text, at);
    } else if (is_pair(s)) {
        token.length = 2;
    } else if (!strchr("+-*/@<>!?:()[],", *s)) {
        token.kind = FTB_TOKEN_BAD;
    }
    return token;
}

/* The table and the JSON file. */
#include "products.h"

#include "core/core.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Who a bar compares with; NULL: nobody who was timed. */
static const products_who *other(const products_result *r)
{
    const char *against = r->of.against;
    for (int n = 1; against && n < r->nwho; n++)
        if (strncmp(r->who[n].name, against, strlen(against)) == 0 && r->who[n].count > 0)
            return &r->who[n];
    return NULL;
}

int products_met(const products_result *r, double *value)
{
    const double ours = products_median(&r->who[0]);
    const products_who *them = other(r);
    *value = 0;
    if (ours <= 0 || r->of.wanted <= 0 || (r->of.against && !them))
        return -1;
    *value = them ? products_median(them) / ours : ours;
    return r->toy ? -1 : them ? *value >= r->of.wanted : *value <= r->of.wanted;
}

static void case_text(char text[PRODUCTS_TEXT], const products_case *c)
{
    if (c->what == PRODUCTS_SAMPLE)
        snprintf(text, PRODUCTS_TEXT, "%s sample, %lld picks, 3 hops, %lld seeds", c->graph,
                 (long long)c->heads, (long long)c->d);
    else
        snprintf(text, PRODUCTS_TEXT, "%s %s, d = %lld%s", c->graph, products_name(c->what), (long long)c->d,
                 c->heads > 1 ? " in heads" : "");
}

void products_print_head(const products_settings *s)
{
    printf("%-42s %-40s %12s %8s %9s %9s %4s\n", "case", "who", s->toy ? "ms, toy" : "ms", "GB/s", "ratio",
           "wanted", "met");
}

static void print_who(const char *of, const products_result *r, int n)
{
    const products_who *who = &r->who[n];
    const double seconds = products_median(who), ours = products_median(&r->who[0]);
    char rate[32] = "", ratio[32] = "", wanted[32] = "";
    double value;
    if (who->count == 0) {
        printf("%-42s %-40s %s\n", of, who->name, who->status);
        return;
    }
    if (r->bytes > 0)
        snprintf(rate, sizeof rate, "%.0f", r->bytes / seconds / 1e9);
    if (n > 0 && ours > 0)
        snprintf(ratio, sizeof ratio, "%.2f x", seconds / ours);
    const bool barred = n > 0 ? who == other(r) : !r->of.against && r->of.wanted > 0;
    const int met = barred ? products_met(r, &value) : -1;
    if (barred && met >= 0)
        snprintf(wanted, sizeof wanted, r->of.against ? "%.2f x" : "%.0f ms",
                 r->of.against ? r->of.wanted : 1e3 * r->of.wanted);
    printf("%-42s %-40s %12.4f %8s %9s %9s %4s\n", of, who->name, 1e3 * seconds, rate, ratio, wanted,
           met < 0 ? ""
           : met   ? "yes"
                   : "NO");
}

void products_print(const products_result *r)
{
    char text[PRODUCTS_TEXT];
    case_text(text, &r->of);
    for (int n = 0; n < r->nwho; n++)
        print_who(n ? "" : text, r, n);
    if (r->moved > 0 && r->of.what < PRODUCTS_SAMPLE) /* of which results or counts come home */
        printf("%-42s %.0f bytes moved inside of what was timed: the host did a part of it\n", "", r->moved);
    fflush(stdout);
}

/* The mean of the sums' ratios; 0: none was compared. */
static double sums_mean(const products_result *results, int count)
{
    double logs = 0, value;
    int n = 0;
    for (int k = 0; k < count; k++)
        if (results[k].of.what == PRODUCTS_SUM && products_met(&results[k], &value) >= 0) {
            logs += log(value);
            n++;
        }
    return n > 0 ? exp(logs / n) : 0;
}

/* Of forms that were forced and say this; 0: there are none. Those with a precision are others' in the end.
 */
static double best_of(const products_result *r, const char *precision)
{
    double best = 0;
    for (int n = 1; n < r->nwho; n++) {
        const char *plan = strchr(r->who[n].name, '=') ? strchr(r->who[n].name, ' ') : NULL;
        const double seconds = products_median(&r->who[n]);
        const bool rounds = plan && strchr(plan, ':');
        if (plan && (precision ? strncmp(plan + 1, precision, strlen(precision)) == 0 : !rounds) &&
            seconds > 0 && (best <= 0 || seconds < best))
            best = seconds;
    }
    return best;
}

/* The planner beside forms that were forced: whether it is within 5 % of the best of them; -1: none was. */
static int well_planned(const products_result *r)
{
    const double best = r->of.what == PRODUCTS_SUM ? best_of(r, NULL) : 0;
    return best <= 0 || r->who[0].count == 0 ? -1 : products_median(&r->who[0]) <= 1.05 * best;
}

/* Sums whose operands may be rounded beside those in full: the planner is never to be slower with them. How
 * many are. */
static int print_rounded(const products_result *results, int count)
{
    double logs = 0;
    int n = 0, slower = 0;
    for (int k = 0; k < count; k++) {
        const double tf32 = best_of(&results[k], "tf32:kernel=auto"),
                     full = products_median(&results[k].who[0]);
        if (tf32 <= 0 || results[k].who[0].count == 0)
            continue;
        logs += log(full / tf32);
        slower += tf32 > 1.05 * full;
        n++;
    }
    if (n > 0)
        printf(
            "sums with TF32 allowed: geometric mean %.2f x those of FP32 in %d sums, slower by 5 %% in %d, "
            "wanted in none\n",
            exp(logs / n), n, slower);
    return slower;
}

/* Tiles by bulk copies beside those by lanes, and how many are slower by 5 %. */
static int print_bulk(const products_result *results, int count)
{
    double logs = 0;
    int n = 0, slower = 0;
    for (int k = 0; k < count; k++) {
        const double lanes = best_of(&results[k], "kernel=hybrid,bulk=0"),
                     bulk = best_of(&results[k], "kernel=hybrid,bulk=1");
        if (lanes <= 0 || bulk <= 0)
            continue;
        logs += log(lanes / bulk);
        slower += bulk > 1.05 * lanes;
        n++;
    }
    if (n > 0)
        printf("hybrid sums by bulk copies: geometric mean %.2f x those by lanes in %d sums, slower by 5 %% "
               "in %d, "
               "wanted in none\n",
               exp(logs / n), n, slower);
    return slower;
}

int products_print_end(const products_result *results, int count)
{
    const double wanted = 1.5, mean = sums_mean(results, count);
    int missed = 0, compared = 0;
    double value;
    for (int k = 0; k < count; k++) {
        const int met = products_met(&results[k], &value);
        compared += met >= 0;
        missed += met == 0;
    }
    if (mean > 0) {
        printf("sums: geometric mean of the ratios %.2f x, wanted %.2f x: %s\n", mean, wanted,
               mean >= wanted ? "met" : "NOT met");
        missed += mean < wanted;
    }
    int forced = 0, well = 0;
    for (int k = 0; k < count; k++) {
        forced += well_planned(&results[k]) >= 0;
        well += well_planned(&results[k]) == 1;
    }
    if (forced > 0 && !results[0].toy)
        printf("the planner is within 5 %% of the best forced plan in %d of %d sums\n", well, forced);
    const int slower = print_rounded(results, count) + print_bulk(results, count);
    missed += results[0].toy ? 0 : slower;
    printf("%d cases, %d compared with a bar, %d bars missed\n", count, compared, missed);
    return missed;
}

/* ---- JSON */

static json_t *who_json(const products_who *who)
{
    json_t *seconds = json_array();
    for (int n = 0; n < who->count; n++)
        json_array_append_new(seconds, json_real(who->seconds[n]));
    return json_pack("{s:s, s:s, s:f, s:o}", "name", who->name, "status", who->status, "median",
                     products_median(who), "seconds", seconds);
}

static json_t *case_json(const products_result *r)
{
    json_t *whos = json_array();
    double value;
    const int met = products_met(r, &value);
    for (int n = 0; n < r->nwho; n++)
        json_array_append_new(whos, who_json(&r->who[n]));
    json_t *made = json_pack("{s:s, s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "graph", r->of.graph,
                             "operation", products_name(r->of.what), "d", (json_int_t)r->of.d, "heads",
                             (json_int_t)r->of.heads, "bytes", r->bytes, "first_seconds", r->first,
                             "to_device_seconds", r->to_device, "to_host_seconds", r->to_host, "moved_bytes",
                             r->moved, "error", r->error, "who", whos);
    json_object_set_new(made, "against", r->of.against ? json_string(r->of.against) : json_null());
    json_object_set_new(made, "wanted", r->of.wanted > 0 ? json_real(r->of.wanted) : json_null());
    json_object_set_new(made, "reached", met >= 0 ? json_real(value) : json_null());
    json_object_set_new(made, "met", met >= 0 ? json_boolean(met) : json_null());
    return made;
}

bool products_write(const products_settings *s, const products_result *results, int count, double elapsed)
{
    const char *about = "";
    char part[1000];
    if (!s->json)
        return true;
    for (int n = 0; FtB_Device_describe(n, NULL, &about, NULL) == GrB_SUCCESS && n < 1; n++)
        FtB_Device_describe(1, NULL, &about, NULL);
    json_t *cases = json_array();
    for (int k = 0; k < count; k++)
        json_array_append_new(cases, case_json(&results[k]));
    json_t *all = json_pack("{s:i, s:s, s:b, s:f, s:f, s:o}", "format", 1, "device", about, "toy", s->toy,
                            "elapsed", elapsed, "sums_mean", sums_mean(results, count), "cases", cases);
    snprintf(part, sizeof part, "%s.part", s->json);
    const bool ok = all && json_dump_file(all, part, JSON_INDENT(1)) == 0 && rename(part, s->json) == 0;
    json_decref(all);
    return ok;
}

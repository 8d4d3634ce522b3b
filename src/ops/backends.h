/* The table of backends, and how an operation has one run a verb: who does it, where its operands are, and
 * what was written. */
#ifndef FTB_BACKENDS_H
#define FTB_BACKENDS_H

#include "core/backend.h"
#include "expr/message.h"
#include "verbs/verbs.h"

/* Row n, the host's first; NULL behind the last. */
const ftb_backend *ftb_backend_at(int n);
/* A row of tests, which stays until it is taken out again. */
void ftb_backend_add(const ftb_backend *b);
void ftb_backend_remove(const ftb_backend *b);

/* The device that runs a verb for a context; NULL: the host does, whose function is ftb_<verb>_run. */
#define FTB_WHO(ctx, verb) (ftb_device(ctx) && ftb_device(ctx)->verbs->verb ? ftb_device(ctx) : NULL)

/* Whether a device has a verb for a product, where it has it for some only. */
#define FTB_FITS(who, verb, product)                                                                         \
    (!(who)->verbs->limits || !(who)->verbs->limits->verb || (who)->verbs->limits->verb(product))
/* FTB_WHO, if that does. */
#define FTB_WHO_FITS(ctx, verb, product)                                                                     \
    (FTB_WHO(ctx, verb) && FTB_FITS(ftb_device(ctx), verb, product) ? ftb_device(ctx) : NULL)

/* An operand of a verb: a block or a matrix's values, of which there may be neither, and where its product
 * has the address: `read` of what is only read, `write` of what is written. Or a feed of the product's own,
 * whose data are only read (and its address in `read`, if there is one); one without an owner stays as it is.
 * One with none of these is only asked for. */
typedef struct ftb_place {
    FtB_Block X;
    ftb_buffer *values;
    ftb_feed *feed;
    const void **read;
    void **write;
    bool whole; /* written without being read, every value of it */
    bool stays; /* written where it is lent, too: who runs the verb brings it home (ftb_buffer_written_there)
                 */
    const char *name; /* the call's argument, for messages; NULL: a feed's own, or none */
} ftb_place;
/* Places of what a product's own message reads, one for each of its feeds, with blocks right of @: of what
 * the program uses; NULL: of what m's text does. Scalars stay the host's, and feeds that are not used have no
 * address. The message is the product's, and is not cleared after that. */
void ftb_places_feeds(ftb_place places[FTB_MAX_FEEDS], ftb_message *m, const ftb_program *program);
/* Whether a device can be given all that these are. */
bool ftb_feeds_fit(const ftb_message *m, const ftb_program *program);
/* Asks for operands where `who` can reach them, and fills in their addresses; NULL for those that are not
 * there. */
GrB_Info ftb_places_ask(const ftb_backend *who, const ftb_place *places, int count);
/* After the verb: what it wrote is the valid copy, and has another version. */
GrB_Info ftb_places_written(const ftb_backend *who, const ftb_place *places, int count);
/* Whether a device failed, which the host can make good: it has no room, or was lost. What is recorded is
 * given up. */
bool ftb_device_failed(GrB_Info info);
/* All three: asks, runs, tells; where a device has no room, or was lost, the host does it. `places` is an
 * array; what follows it are the verb's arguments. The host's function is called by its name, so that a
 * program that is linked statically has no more of them than it calls. */
#define FTB_RUN(info, who, verb, places, ...)                                                                \
    do {                                                                                                     \
        const int count_ = (int)(sizeof(places) / sizeof *(places));                                         \
        const ftb_backend *who_ = (who);                                                                     \
        ftb_use use_;                                                                                        \
        const bool there_ = who_ != NULL;                                                                    \
        if (there_)                                                                                          \
            ftb_use_begin(&use_);                                                                            \
        for (bool again_ = true; again_;) {                                                                  \
            (info) = ftb_places_ask(who_, places, count_);                                                   \
            if ((info) == GrB_SUCCESS)                                                                       \
                (info) = who_ ? who_->verbs->verb(__VA_ARGS__) : ftb_##verb##_run(__VA_ARGS__);              \
            again_ = who_ && ftb_device_failed(info);                                                        \
            if (again_)                                                                                      \
                who_ = NULL;                                                                                 \
        }                                                                                                    \
        if ((info) == GrB_SUCCESS)                                                                           \
            (info) = ftb_places_written(who_, places, count_);                                               \
        if (there_)                                                                                          \
            ftb_use_end(&use_);                                                                              \
    } while (0)

#endif

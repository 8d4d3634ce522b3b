/* A vertex program on its way: what its names stand for, and where it is. */
#ifndef FTB_VERTEX_RUN_H
#define FTB_VERTEX_RUN_H

#include "cpu/vertex/vertex_bits.h"
#include "cpu/vertex/vertex_waiting.h"
#include "vertex/vertex_program.h"

#define FTB_MAGIC_RUN 0x46544256

typedef struct ftb_vertex_state { /* a name of the caller's */
    char name[FTB_NAME_LENGTH];
    FtB_Block block; /* a view of ours; NULL: a number */
    bool vertex;     /* a row per vertex, else one for all */
    bool changes;    /* apply has a text for it */
    FtB_Type type;   /* of a number: FP64, INT64, or INT16, which leaves FP32 as it is */
    double real;
    int64_t integer;
    int16_t few;
} ftb_vertex_state;

struct FtB_Run_opaque {
    uint32_t magic;
    FtB_Context ctx;
    FtB_Program program;
    FtB_Matrix A; /* a handle of ours */
    FtB_Run_options options;
    int64_t n, rounds; /* rounds: at most; INT64_MAX: any */
    int nstates;
    ftb_vertex_state *states;
    ftb_vertex_work work;
    bool sends_field; /* what is sent is a field as it is: which state */
    int sent_field;
    bool reads_edges;                        /* and there are values */
    bool any_way;                            /* a superstep of all vertices has the same bits in every way */
    ftb_vertex_edges by_sender, by_receiver; /* made when wanted */
    bool by_sender_there, by_receiver_there;
    /* until: over sums, numbers and the round */
    ftb_program *until;
    struct ftb_interpreter *machine;
    ftb_name until_names[FTB_VERTEX_SUMS + FTB_MAX_FEEDS];
    ftb_operand until_operands[FTB_VERTEX_SUMS + FTB_MAX_FEEDS];
    char sum_names[FTB_VERTEX_SUMS][8];
    double sums[FTB_VERTEX_SUMS];
    /* where it is */
    int64_t vertices, round;  /* how many, as texts read them, and the superstep at hand, from 1 */
    int64_t *active, nactive; /* of room `active_room`; meaningless where all are active */
    ftb_vertex_room active_room, next_room;
    bool all, over;
    ftb_vertex_waiting *waiting; /* by priority, once the run has begun; `active` are of the lowest bucket */
    bool taken;                  /* then: these are who sends in the superstep at hand */
    struct ftb_vertex_there *there; /* what a device has of the run; NULL: nothing yet (run_there.h) */
    bool is_there;                  /* it did the last superstep */
    const char *why_here;           /* why it did not */
    double lost;                    /* nanoseconds in the wrong place (rule_vertex.c) */
    bool closed, asked; /* nobody but the run sees the state between supersteps, of which it asked for all */
    int64_t sent, sent_edges; /* vertices that were active so far, and their edges */
    ftb_vertex_mail mail;
    ftb_vertex_bits bits;
    ftb_vertex_room sent_room, received_room, second_room, receivers_room, open_room;
    ftb_vertex_applying applying;
    FtB_Superstep about;
};

/* FtB_Run_new, of which messages speak as of `call`. (run_object.c) */
GrB_Info ftb_vertex_run_new(FtB_Run *run, FtB_Program program, FtB_Matrix A, FtB_States states,
                            const FtB_Run_options *options, const char *call);
/* Refuses what is no run. (run_object.c) */
GrB_Info ftb_vertex_check_run(FtB_Run run, const char *call);
/* Texts of the program, compiled for the state; all names are known then. On failure, too,
 * ftb_vertex_texts_clear must follow. (texts.c) */
GrB_Info ftb_vertex_texts_make(FtB_Run run);
void ftb_vertex_texts_clear(FtB_Run run);
/* What loops over edges may make use of, of texts that are compiled. (forms.c) */
GrB_Info ftb_vertex_forms(FtB_Run run);
/* Whether the run is over by `until`, of whose sums the values are known. */
bool ftb_vertex_until(FtB_Run run);

/* Does a run that has not begun at once, if its texts are those of an algorithm that a backend has; it is
 * over then. On failure the state is as it was. (known.c) */
GrB_Info ftb_vertex_whole(FtB_Run run);
/* Patterns whose rows are senders, or receivers, are there then. */
GrB_Info ftb_vertex_want_edges(FtB_Run run, bool senders);
int64_t ftb_vertex_entries(const struct FtB_Run_opaque *run); /* along which messages can go */
void ftb_vertex_tell(const struct FtB_Run_opaque *run);       /* of the last superstep, who wants to know */

/* ---- what supersteps share (run.c) */

typedef enum ftb_vertex_loop { /* over the edges */
                               FTB_LOOP_TEXT,
                               FTB_LOOP_PLAIN,
                               FTB_LOOP_FIRST,
                               FTB_LOOP_BITS
} ftb_vertex_loop;

ftb_vertex_list ftb_vertex_senders(const struct FtB_Run_opaque *run);
GrB_Info ftb_vertex_ask(FtB_Run run); /* the state, and A's values, on the host */
/* A run that has not begun, of which nobody sees the state between supersteps, to its end; frees it. */
GrB_Info ftb_vertex_run_to_end(FtB_Run run);

/* ---- searches by bits (run_bits.c) */

/* Bits that are not of the state as it is are none: to be asked before the run itself says that it writes. */
void ftb_vertex_look_at_bits(FtB_Run run);
/* *how: by bits where they say what there is to say; where they once do not, the run's texts do. */
GrB_Info ftb_vertex_choose_loop(ftb_vertex_loop *how, FtB_Run run, FtB_Way way);
GrB_Info ftb_vertex_search(FtB_Run run, FtB_Way way, int64_t edges); /* a superstep */
void ftb_vertex_settle_bits(FtB_Run run);                            /* the state is written */
/* Whether a run of which nobody has seen the state needs none to begin with: column c begins at sources[c],
 * and all others are not reached. */
bool ftb_vertex_begin_blank(FtB_Run run, const int64_t *sources);

#endif

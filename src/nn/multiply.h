/* Products over semirings as nodes of a tape: what multiply.c gives to attend.c. */
#ifndef FTB_NN_MULTIPLY_H
#define FTB_NN_MULTIPLY_H

#include "expr/message.h"
#include "nn/nn.h"

/* A product's operands by name: inputs of a node, in this order. */
typedef struct ftb_nn_operands {
    int count;
    int src, dst, edge; /* positions; -1: none */
    char name[FTB_NN_INPUTS][FTB_NAME_LENGTH];
    int64_t in[FTB_NN_INPUTS];
    FtB_Tape tape;
} ftb_nn_operands;

/* Reads a caller's list. `call` begins the messages. False: the tape knows why, where some operand is on
 * one. */
bool ftb_nn_operands_read(ftb_nn_operands *o, const char *call, const FtB_Operand *operands, size_t count);
/* What a message over these operands gives on the entries of an m x n matrix; on_edges: it stays there. */
typedef struct ftb_nn_shape {
    FtB_Type type;
    int64_t ncols, heads; /* ncols: of all heads */
    bool winners;         /* reduced by min or max */
    bool known_score; /* on edges: of src and dst alone, in a form of which FtB_attention_grad knows more */
    unsigned reads;   /* bit k: gradients that are wanted read operand k */
} ftb_nn_shape;
GrB_Info ftb_nn_message_shape(ftb_nn_shape *shape, FtB_Semiring s, const ftb_nn_operands *o, FtB_Matrix A,
                              bool transposed, bool on_edges);

/* A block of n's shape, for what looks at shapes alone; bound: a program may copy its values, so they are
 * there. */
GrB_Info ftb_nn_stand_in(FtB_Block *X, const ftb_nn_node *n, bool bound);

#endif

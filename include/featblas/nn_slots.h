/* Macros of featblas_nn.h's functions: slots, and operands as a list. */
#ifndef FEATBLAS_NN_SLOTS_H
#define FEATBLAS_NN_SLOTS_H

#define FTB_OPERAND(name, x)                                                                                 \
    {                                                                                                        \
        name, x                                                                                              \
    }

#ifdef __cplusplus
/* Options leave fields out, which are zero then; g++ -Wextra would warn of each of them at the caller's. */
#pragma GCC system_header
/* Lists are arguments of functions, so that what they name is recorded once. */
typedef std::initializer_list<FtB_Operand> FtB_Operands;
static inline FtB_Var FtB_multiply(FtB_Arg semiring, FtB_Matrix A, FtB_Operands operands)
{
    return FtB_multiply(semiring, A, operands.begin(), operands.size());
}
static inline FtB_Var FtB_multiply_transposed(FtB_Arg semiring, FtB_Matrix A, FtB_Operands operands)
{
    return FtB_multiply_transposed(semiring, A, operands.begin(), operands.size());
}
static inline FtB_Var FtB_on_edges(FtB_Arg semiring, FtB_Matrix A, FtB_Operands operands)
{
    return FtB_on_edges(semiring, A, operands.begin(), operands.size());
}
static inline FtB_Var FtB_map(const char *text, FtB_Operands operands)
{
    return FtB_map(text, operands.begin(), operands.size());
}
static inline FtB_Var FtB_attend(FtB_Arg score, FtB_Matrix A, double dropout, FtB_Operands operands)
{
    return FtB_attend(score, A, dropout, operands.begin(), operands.size());
}
#endif

#define FTB_OPERANDS(...) FTB_LIST(FtB_Operand, __VA_ARGS__)
#define FTB_LAYER_OPTIONS(...) FTB_OPTIONS_OF(FtB_Layer_options, __VA_ARGS__)
#define FtB_multiply(semiring, A, ...) (FtB_multiply)(FTB_SLOT(semiring), A, FTB_OPERANDS(__VA_ARGS__))
#define FtB_multiply_transposed(semiring, A, ...)                                                            \
    (FtB_multiply_transposed)(FTB_SLOT(semiring), A, FTB_OPERANDS(__VA_ARGS__))
#define FtB_on_edges(semiring, A, ...) (FtB_on_edges)(FTB_SLOT(semiring), A, FTB_OPERANDS(__VA_ARGS__))
#define FtB_attend(score, A, dropout, ...)                                                                   \
    (FtB_attend)(FTB_SLOT(score), A, dropout, FTB_OPERANDS(__VA_ARGS__))
#define FtB_map(text, ...) (FtB_map)(text, FTB_OPERANDS(__VA_ARGS__))

#define FtB_input(tape, X) (FtB_input)(tape, FTB_SLOT(X))

#endif

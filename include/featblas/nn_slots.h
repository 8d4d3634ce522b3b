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
#define FTB_OPERANDS(...)                                                                                    \
    std::initializer_list<FtB_Operand>{__VA_ARGS__}.begin(),                                                 \
        std::initializer_list<FtB_Operand>{__VA_ARGS__}.size()
#define FTB_LAYER_OPTIONS(...) FtB_options(FtB_Layer_options{.size = sizeof(FtB_Layer_options), __VA_ARGS__})
#else
#define FTB_OPERANDS(...)                                                                                    \
    (const FtB_Operand[]){__VA_ARGS__}, sizeof((const FtB_Operand[]){__VA_ARGS__}) / sizeof(FtB_Operand)
#define FTB_LAYER_OPTIONS(...) (&(FtB_Layer_options){.size = sizeof(FtB_Layer_options), __VA_ARGS__})
#endif

#define FtB_input(tape, X) (FtB_input)(tape, FTB_SLOT(X))
#define FtB_multiply(semiring, A, ...) (FtB_multiply)(FTB_SLOT(semiring), A, FTB_OPERANDS(__VA_ARGS__))
#define FtB_multiply_transposed(semiring, A, ...)                                                            \
    (FtB_multiply_transposed)(FTB_SLOT(semiring), A, FTB_OPERANDS(__VA_ARGS__))
#define FtB_on_edges(semiring, A, ...) (FtB_on_edges)(FTB_SLOT(semiring), A, FTB_OPERANDS(__VA_ARGS__))
#define FtB_map(text, ...) (FtB_map)(text, FTB_OPERANDS(__VA_ARGS__))

#endif

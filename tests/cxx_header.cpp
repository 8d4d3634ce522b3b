// The public headers from C++17, without a word of -pedantic: slots, bindings, operands and options, spelled as in C.
#include <featblas_nn.h>
#include <featblas_vertex.h>

#include <cstdio>
#include <cstdlib>

static void check(int info, int expected, int line)
{
    if (info != expected) {
        std::fprintf(stderr, "line %d: %d, expected %d: %s\n", line, info, expected, FtB_error());
        std::exit(1);
    }
}

#define OK(call) check((call), GrB_SUCCESS, __LINE__)

static FtB_Block one()
{
    FtB_Block X;
    OK(FtB_Block_new(&X, 1, 1, FTB_FP32));
    OK(FtB_init(X, FTB_INIT_ONES, 0, nullptr));
    return X;
}

static void train(FtB_Matrix A)
{
    FtB_Layer layer;
    FtB_Tape tape;
    FtB_Block X, Y;
    FtB_Optimizer adam;
    FtB_Stopper best;
    bool stop;
    OK(FtB_Block_new(&X, 3, 2, FTB_FP32));
    OK(FtB_init(X, FTB_INIT_UNIFORM, 1, FTB_INIT_OPTIONS(.gain = 2)));
    OK(FtB_Layer_new(&layer, "gcn", 2, 2, FTB_LAYER_OPTIONS(.name = "conv", .seed = 3)));
    OK(FtB_Tape_new(&tape, 1));
    FtB_Var x = FtB_gcn(layer, A, FtB_input(tape, X));
    x = FtB_multiply("plus : src * scale", A, FTB_OPERAND("src", x), FTB_OPERAND("scale", FtB_input(tape, Y = one())));
    x = FtB_map("x + y", FTB_OPERAND("x", x), FTB_OPERAND("y", FtB_attend("plus : dot(src, dst)", A, 0.5,
        FTB_OPERAND("src", x), FTB_OPERAND("dst", x), FTB_OPERAND("values", x))));
    FtB_Var loss = FtB_squared_error(x, FtB_input(tape, X), nullptr);
    OK(FtB_Optimizer_new(&adam, FTB_ADAM, FTB_OPTIMIZER_OPTIONS(.lr = 0.1)));
    OK(FtB_Optimizer_add_layer(adam, layer, FTB_GROUP_OPTIONS(.weight_decay = 1e-3)));
    OK(FtB_Optimizer_schedule(adam, FTB_SCHEDULE_OPTIONS(.rate = FTB_RATE_STEP, .every = 2)));
    FtB_Parameter first = FtB_Layer_parameter(layer, 0);
    OK(FtB_Stopper_new(&best, &first, 1, FTB_STOPPER_OPTIONS(.patience = 3)));
    OK(FtB_backward(loss));
    OK(FtB_Optimizer_step(adam));
    OK(FtB_Optimizer_advance(adam, 1));
    OK(FtB_Stopper_see(best, 1, &stop));
    FtB_Stopper_free(&best);
    FtB_Optimizer_free(&adam);
    FtB_Tape_free(&tape);
    FtB_Layer_free(&layer);
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
}

static void spread(FtB_Matrix A)
{
    FtB_Program program;
    FtB_Block X, one;
    OK(FtB_Block_new(&X, 3, 1, FTB_FP32));
    OK(FtB_Block_new(&one, 1, 1, FTB_FP32));
    OK(FtB_Program_new(&program, FTB_PROGRAM(.send = "x", .combine = "min : message + edge",
        .apply = "x = min(x, received) + c * by", .rounds = 2)));
    OK(FtB_run(program, A, FTB_STATE("x", X, "c", one, "by", 2), nullptr));
    OK(FtB_run(program, A, FTB_STATE("x", X, "c", 0, "by", 0.5), FTB_RUN_OPTIONS(.rounds = 1)));
    FtB_Program_free(&program);
    FtB_Block_free(&X);
    FtB_Block_free(&one);
}

int main()
{
    const int64_t I[] = {0, 0, 1, 2}, J[] = {0, 1, 1, 0};
    const double X[] = {1, 2, 3, 4};
    FtB_Matrix A, C;
    OK(FtB_Matrix_build(&A, FTB_FP64, 3, 2, 1, 4, I, J, X, FTB_DUP_SUM, nullptr));
    OK(FtB_Matrix_new(&C, FTB_FP64, 3, 3, 1));

    FtB_Semiring scaled, bound;
    OK(FtB_Semiring_new(&scaled, "plus : a * b * scale"));
    OK(FtB_Semiring_bind(&bound, scaled, FTB_BIND("scale", 0.5)));
    OK(FtB_mxm(C, NULL, nullptr, bound, A, A, FTB_DESC_T1));
#ifdef GRB_VERSION // GraphBLAS's header is there
    OK(FtB_mxm(C, 0, NULL, "plus : a * b", A, A, GrB_DESC_T1));
    OK(FtB_mxm(C, C, GrB_PLUS_FP64, FTB_PLUS_TIMES, A, A, FTB_DESC_ST1));
#endif
    FtB_Semiring_free(&bound);
    FtB_Semiring_free(&scaled);

    FtB_Op shift, by_one;
    OK(FtB_Op_new(&shift, "x + by"));
    OK(FtB_Op_bind(&by_one, shift, FTB_BIND("by", 1)));
    OK(FtB_apply(A, NULL, NULL, by_one, A, NULL));
    FtB_Op_free(&by_one);
    FtB_Op_free(&shift);

    FtB_Descriptor d;
    OK(FtB_Descriptor_new(&d));
    OK(FtB_Descriptor_set(d, FTB_TRANSPOSE0, true));
    OK(FtB_Descriptor_set(d, FTB_FILL, 1.5f));
    OK(FtB_Descriptor_set(d, FTB_FILL, sizeof I));
    FtB_Descriptor_free(&d);

    FtB_Matrix P, none;
    OK(FtB_Matrix_new(&P, FTB_FP64, 2, 2, 1));
    OK(FtB_project(P, A, "jaccard", FTB_PROJECT_OPTIONS(.onto = FTB_COLS, .top_k = 1)));
    OK(FtB_project(P, A, "jaccard", NULL));
    check(FtB_Matrix_read(&none, NULL, NULL, "/no/such/file", FTB_READ_OPTIONS(.format = FTB_MTX)), FTB_IO,
          __LINE__);
    check(FtB_mxm(P, NULL, NULL, 1.5, A, A, NULL), GrB_INVALID_VALUE, __LINE__);
    FtB_Matrix S;
    OK(FtB_Matrix_new(&S, FTB_FP32, 3, 3, 0));
    train(S);
    spread(S);
    FtB_Matrix_free(&S);
    FtB_Matrix_free(&P);
    FtB_Matrix_free(&C);
    FtB_Matrix_free(&A);
}

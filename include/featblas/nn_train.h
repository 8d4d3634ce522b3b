/* Training: initial values, optimisers, learning rates, early stopping. Part of featblas_nn.h. */
#ifndef FEATBLAS_NN_TRAIN_H
#define FEATBLAS_NN_TRAIN_H

#ifndef FEATBLAS_NN_H
#error "include <featblas_nn.h>, which brings this file in its order"
#endif

#include "featblas/nn_tensors.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------ initial values */

/** How FtB_init fills a block. `in` and `out` are options.fan_in and fan_out. */
typedef enum FtB_Init {
    FTB_INIT_ZEROS = 0,
    FTB_INIT_ONES,
    FTB_INIT_UNIFORM,         /**< [-gain, gain] */
    FTB_INIT_NORMAL,          /**< mean 0, deviation gain */
    FTB_INIT_GLOROT_UNIFORM,  /**< [-a, a], a = gain sqrt(6 / (in + out)) */
    FTB_INIT_GLOROT_NORMAL,   /**< deviation gain sqrt(2 / (in + out)) */
    FTB_INIT_KAIMING_UNIFORM, /**< [-a, a], a = gain sqrt(3 / in); gain: sqrt(2), for ReLU, unless given */
    FTB_INIT_KAIMING_NORMAL   /**< deviation gain / sqrt(in); gain as above */
} FtB_Init;

/** Options of FtB_init; made by FTB_INIT_OPTIONS(...). Zero means the default. */
typedef struct FtB_Init_options {
    size_t size;     /**< set by the macro */
    int64_t fan_in;  /**< 0: rows, as of x W */
    int64_t fan_out; /**< 0: columns */
    double gain;     /**< 0: 1, of Kaiming's sqrt(2) */
} FtB_Init_options;

/** Fills a block. Value k, counted by rows, is drawn by Philox4x32-10 (seed; k / 2): the same for any
 * threads, leading dimension, and, but for rounding, dtype. @param X FP32 or FP64, written. @param how rule.
 *  @param seed any. @param options NULL for the defaults.
 *  @return GrB_NULL_POINTER, GrB_DOMAIN_MISMATCH, GrB_INVALID_VALUE.
 *  Sources: Glorot and Bengio, AISTATS 2010; He et al., "Delving deep into rectifiers", ICCV 2015. */
GrB_Info FtB_init(FtB_Block X, FtB_Init how, uint64_t seed, const FtB_Init_options *options);

/* ---------------------------------------------------------------------------------- optimisers */

typedef struct FtB_Optimizer_opaque
    *FtB_Optimizer; /**< a rule of updates, the parameters, and their moments */

/** The rules, with w a value, g its gradient, lr the learning rate, t the number of the step from 1. */
typedef enum FtB_Update {
    /** g += weight_decay w; b = momentum b + g; w -= lr b, or lr (g + momentum b) if nesterov. */
    FTB_SGD = 1,
    /** g += weight_decay w; m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
     *  w -= lr m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + eps). Kingma and Ba, ICLR 2015. */
    FTB_ADAM,
    /** As Adam, but weight decay does not go through the moments: w -= lr weight_decay w.
     *  Loshchilov and Hutter, "Decoupled weight decay regularization", ICLR 2019. */
    FTB_ADAMW
} FtB_Update;

/** Options of FtB_Optimizer_new; made by FTB_OPTIMIZER_OPTIONS(...). Zero means the default; what the rule
 * does not read is refused. */
typedef struct FtB_Optimizer_options {
    size_t size;         /**< set by the macro */
    double lr;           /**< learning rate; 0: 0.01 */
    double weight_decay; /**< 0: none, of FTB_ADAMW 0.01; < 0: none */
    double momentum;     /**< of FTB_SGD, [0, 1) */
    bool nesterov;       /**< of FTB_SGD with momentum */
    double beta1;        /**< of FTB_ADAM and FTB_ADAMW, (0, 1); 0: 0.9 */
    double beta2;        /**< of the same, (0, 1); 0: 0.999 */
    double eps;          /**< of the same; 0: 1e-8 */
    double clip_value;   /**< gradients are cut to [-clip_value, clip_value]; 0: not */
    double clip_norm;    /**< then all are scaled so that their joint 2-norm is at most this; 0: not */
} FtB_Optimizer_options;

/** Makes an optimiser without parameters. @param[out] o the new one, NULL on failure. @param rule which.
 *  @param options NULL for the defaults. @return GrB_NULL_POINTER, GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY,
 *  FTB_LIMIT. */
GrB_Info FtB_Optimizer_new(FtB_Optimizer *o, FtB_Update rule, const FtB_Optimizer_options *options);

/** Options of FtB_Optimizer_add; made by FTB_GROUP_OPTIONS(...). Zero means as the optimiser's. */
typedef struct FtB_Group_options {
    size_t size;         /**< set by the macro */
    double lr;           /**< learning rate of these parameters */
    double weight_decay; /**< of these parameters; < 0: none */
} FtB_Group_options;

/** Adds a group of parameters, with moments of 0. @param o any. @param parameters referenced; none may be in
 *  the optimiser already. @param count how many. @param options NULL: as the optimiser's.
 *  @return GrB_NULL_POINTER, GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Optimizer_add(FtB_Optimizer o, const FtB_Parameter *parameters, int64_t count,
                           const FtB_Group_options *options);

/** Adds all parameters of a layer. @param o any. @param layer its parameters are referenced.
 *  @param options as FtB_Optimizer_add. @return as FtB_Optimizer_add. */
GrB_Info FtB_Optimizer_add_layer(FtB_Optimizer o, FtB_Layer layer, const FtB_Group_options *options);

/** One step: every parameter that is trained and has a gradient is updated, by one pass over its memory.
 *  Gradients stay as they are, also where they are clipped. The bits do not depend on threads. @param o any.
 *  @return GrB_INVALID_VALUE where clip_norm is set and the norm is not finite (nothing is changed then). */
GrB_Info FtB_Optimizer_step(FtB_Optimizer o);

/** The learning rate of a group at the next step, after the schedule. @param o any. @param group in the order
 * of adding, from 0. @return NaN if there is no such group. */
double FtB_Optimizer_lr(FtB_Optimizer o, int64_t group);

/** Sets the learning rate of a group, before the schedule. @param o any. @param group from 0; -1: all.
 *  @param lr >= 0. @return GrB_INVALID_VALUE, GrB_INDEX_OUT_OF_BOUNDS. */
GrB_Info FtB_Optimizer_set_lr(FtB_Optimizer o, int64_t group, double lr);

/** Puts an optimiser's state into tensors and texts whose names begin with "optimizer.": moments, steps, and
 * where the schedule is. With the parameters' values, training goes on from there with the same bits. @param
 * o any.
 *  @param t changed. @return GrB_NULL_POINTER, GrB_OUT_OF_MEMORY, FTB_LIMIT. */
GrB_Info FtB_Optimizer_save(FtB_Optimizer o, FtB_Tensors t);

/** Takes the state from tensors that FtB_Optimizer_save made, for the same rule and parameters of the same
 * names and shapes. @param o changed on success. @param t any. @return GrB_NULL_POINTER, GrB_INVALID_VALUE
 * (the message names the file and the tensor). */
GrB_Info FtB_Optimizer_load(FtB_Optimizer o, FtB_Tensors t);

/** Releases an optimiser. @param[in,out] o set to NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Optimizer_free(FtB_Optimizer *o);

/* ------------------------------------------------------------------------------- learning rates */

/** What the learning rates are multiplied by in epoch t, from 0, after the warm-up. */
typedef enum FtB_Rate {
    FTB_RATE_CONSTANT = 0, /**< 1 */
    FTB_RATE_STEP,         /**< factor^floor(t / every) */
    FTB_RATE_COSINE,       /**< least + (1 - least) (1 + cos(pi t / every)) / 2 up to t = every, then least */
    FTB_RATE_PLATEAU /**< `factor` once more when the metric has not improved for more than `every` epochs */
} FtB_Rate;

/** Options of FtB_Optimizer_schedule; made by FTB_SCHEDULE_OPTIONS(...). Zero means the default. */
typedef struct FtB_Schedule_options {
    size_t size;    /**< set by the macro */
    FtB_Rate rate;  /**< what is done after the warm-up */
    int64_t warmup; /**< epochs of linear warm-up: epoch t has (t + 1) / warmup; 0: none */
    int64_t every;  /**< epochs: between steps, of half a cosine, of patience; 0: 10; required of a cosine */
    double factor;  /**< of steps and plateaus, (0, 1); 0: 0.1 */
    double least;   /**< what the learning rates are multiplied by at the least, [0, 1) */
    double threshold; /**< a metric improves by more than this part of the best; 0: 1e-4; < 0: 0 */
    bool maximise;    /**< larger metrics are better */
} FtB_Schedule_options;

/** Sets the schedule, at its epoch 0. @param o any. @param options NULL: constant.
 *  @return GrB_NULL_POINTER, GrB_INVALID_VALUE. */
GrB_Info FtB_Optimizer_schedule(FtB_Optimizer o, const FtB_Schedule_options *options);

/** Ends an epoch: moves the schedule by one. @param o any. @param metric for plateaus, such as the validation
 * loss; NaN improves nothing. @return GrB_NULL_POINTER. */
GrB_Info FtB_Optimizer_advance(FtB_Optimizer o, double metric);

/* ------------------------------------------------------------------------------- early stopping */

typedef struct FtB_Stopper_opaque *FtB_Stopper; /**< the best metric so far, and the weights that gave it */

/** Options of FtB_Stopper_new; made by FTB_STOPPER_OPTIONS(...). Zero means the default. */
typedef struct FtB_Stopper_options {
    size_t size;      /**< set by the macro */
    int64_t patience; /**< epochs without improvement until it says stop; 0: never */
    double threshold; /**< improvements are larger than this; 0: any is one */
    bool maximise;    /**< larger metrics are better */
} FtB_Stopper_options;

/** Makes a stopper, which has room for a copy of the parameters. @param[out] s the new one, NULL on failure.
 *  @param parameters referenced; also those that are not trained, such as running means. @param count how
 * many.
 *  @param options NULL for the defaults. @return GrB_NULL_POINTER, GrB_INVALID_VALUE, GrB_OUT_OF_MEMORY,
 *  FTB_LIMIT. */
GrB_Info FtB_Stopper_new(FtB_Stopper *s, const FtB_Parameter *parameters, int64_t count,
                         const FtB_Stopper_options *options);

/** Looks at an epoch's metric; if it is the best so far, the parameters' values are copied. @param s any.
 *  @param metric such as the validation accuracy; NaN improves nothing.
 *  @param[out] stop whether patience has run out; may be NULL. @return GrB_NULL_POINTER. */
GrB_Info FtB_Stopper_see(FtB_Stopper s, double metric, bool *stop);

/** The best metric and its epoch, counted from 0. @param s any. @param[out] metric NaN if there was none; may
 * be NULL. @param[out] epoch -1 if there was none; may be NULL. @return GrB_NULL_POINTER. */
GrB_Info FtB_Stopper_best(FtB_Stopper s, double *metric, int64_t *epoch);

/** Gives the parameters the values that they had in the best epoch. @param s any.
 *  @return GrB_NULL_POINTER, GrB_INVALID_VALUE if there was none. */
GrB_Info FtB_Stopper_restore(FtB_Stopper s);

/** Releases a stopper. @param[in,out] s set to NULL. @return GrB_SUCCESS. */
GrB_Info FtB_Stopper_free(FtB_Stopper *s);

#ifdef __cplusplus
}
/* Options leave fields out, which are zero then; g++ -Wextra would warn of each of them at the caller's. */
#pragma GCC system_header
#endif

#define FTB_INIT_OPTIONS(...) FTB_OPTIONS_OF(FtB_Init_options, __VA_ARGS__)
#define FTB_OPTIMIZER_OPTIONS(...) FTB_OPTIONS_OF(FtB_Optimizer_options, __VA_ARGS__)
#define FTB_GROUP_OPTIONS(...) FTB_OPTIONS_OF(FtB_Group_options, __VA_ARGS__)
#define FTB_SCHEDULE_OPTIONS(...) FTB_OPTIONS_OF(FtB_Schedule_options, __VA_ARGS__)
#define FTB_STOPPER_OPTIONS(...) FTB_OPTIONS_OF(FtB_Stopper_options, __VA_ARGS__)

#endif

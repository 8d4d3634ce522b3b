/* Public calls, without their prefix, that make, free, look up or note down: what test_threads.c has no row
 * for, since no threads of the library's own run in them. */
#ifndef SERIAL_CALLS_H
#define SERIAL_CALLS_H

static const char serial_calls[] =
    " error version Type_size Type_name Context_new Context_free Context_engage Context_set_threads"
    " Context_set_memory_limit Context_set_reuse Context_set_seed Context_set_deterministic "
    "Context_set_relaxed "
    "Context_set_tmpdir Context_set_sync"
    " Context_set_device Context_moved Device_describe Block_to_device Block_to_host Block_wrap_device"
    " Context_progress Context_cancel Context_memory set_allocator Matrix_new Matrix_like Matrix_dup"
    " Matrix_values Matrix_changed Matrix_shape Matrix_tuples Matrix_csr Matrix_free Block_new Block_wrap"
    " Block_wrap_const Block_shape Block_changed Block_heads Block_columns Block_free Semiring_new"
    " Semiring_new_function Semiring_set_gradient Semiring_bind Semiring_explain Semiring_free Op_new"
    " Op_bind Op_free Descriptor_new Descriptor_set Descriptor_free Plan_explain Plan_set Plan_get"
    " Plan_free Wisdom_calibrate Wisdom_save Wisdom_load Wisdom_forget Sink_file Sink_stats"
    " Context_set_measure_seconds Sink_callback Sink_set_precision Sink_set_base Sink_get_stats"
    " Sink_free Labels_new Labels_get Labels_count Labels_free Tensors_new Tensors_read Tensors_write"
    " Tensors_count Tensors_name Tensors_source Tensors_get Tensors_set Tensors_text_count"
    " Tensors_text_key Tensors_get_text Tensors_set_text Tensors_free Tape_new Tape_inference"
    " Tape_status Tape_reset Tape_explain Tape_free keep value scalar Var_shape Parameter_new"
    " Parameter_value Parameter_gradient Parameter_name Parameter_set_trained Parameter_free"
    " input_take Layer_new Layer_count Layer_parameter Layer_free Optimizer_new Optimizer_add"
    " Optimizer_add_layer Optimizer_lr Optimizer_set_lr Optimizer_save Optimizer_load Optimizer_free"
    " Optimizer_schedule Optimizer_advance Stopper_new Stopper_see Stopper_best Stopper_restore"
    " Stopper_free Context_set_stream Sample_free Sample_layer Sample_vertices Sample_edges"
    " Sample_vertex_counts Sample_edge_counts Sample_trees Sample_plan Loader_new Loader_status "
    "Loader_position"
    " Loader_seek Loader_cache Loader_plan Loader_batches Loader_free Batch_hop Batch_features "
    "Batch_sparse_features"
    " Batch_labels Batch_targets Batch_seeds Batch_vertices Batch_sample Context_set_matmul_precision"
    " Sample_induced Sample_induced_edges Sample_split Saint_free Saint_loss"
    " Clusters_new Clusters_free Clusters_batches"
    " Relations_new Relations_free Relations_add Relations_set_features Relations_count Relations_types"
    " Relations_get Relations_type Relations_type_of Relation_sample_free"
    " Relation_sample_layer Relation_sample_edges Relation_sample_vertices Relation_sample_vertex_counts"
    " Relation_sample_edge_counts Relation_sample_trees"
    " Program_new Program_free Run_about Run_free"
    " Vector_new Vector_shape Vector_tuples Vector_get Vector_set Vector_remove Vector_free ";

#endif

/* SPDX-License-Identifier: MIT */
/*
 * schema.h - the words of the trace format, each in one place.
 *
 * The format is torch.profiler's (Kineto); a reader of ours and a reader of
 * theirs look for exactly these.  They are macros so that the writer can join
 * them to literals: json_raw(json, SCHEMA_KEY(SCHEMA_CATEGORY) ...).  Which
 * event has which fields is event_json.c's.
 */
#ifndef WRITER_SCHEMA_H
#define WRITER_SCHEMA_H

#define TRACEPROF_VERSION	    "0.1"

/* "key": as text of a literal. */
#define TRACEPROF_VERSION	    "0.1"

#define SCHEMA_KEY(key)		    "\"" key "\":"
/* "key":"value" */
#define SCHEMA_PAIR(key, value)	    "\"" key "\":\"" value "\""

#define SCHEMA_VERSION_NUMBER	    "1"
#define SCHEMA_FILE_ENDING	    ".pt.trace.json"
#define SCHEMA_GZIP_ENDING	    ".gz"

/* Top level. */
#define SCHEMA_VERSION		    "schemaVersion"
#define SCHEMA_TIME_UNIT	    "displayTimeUnit"
#define SCHEMA_TIME_UNIT_VALUE	    "ms"
#define SCHEMA_BASE_TIME	    "baseTimeNanoseconds"
#define SCHEMA_DISTRIBUTED	    "distributedInfo"
#define SCHEMA_BACKEND		    "backend"
/* With one blank after the colon: HTA wants it. */
#define SCHEMA_RANK		    "rank"
#define SCHEMA_WORLD_SIZE	    "world_size"
#define SCHEMA_HOST		    "host_name"
#define SCHEMA_EVENTS		    "traceEvents"
#define SCHEMA_DEVICES		    "deviceProperties"
#define SCHEMA_TRACE_NAME	    "traceName"
#define SCHEMA_CUPTI_VERSION	    "cupti_version"
#define SCHEMA_CUDA_RUNTIME_VERSION "cuda_runtime_version"
#define SCHEMA_CUDA_DRIVER_VERSION  "cuda_driver_version"
/* Ours alone: one object with options, losses, totals and notes. */
#define SCHEMA_OURS		    "traceprof"
#define SCHEMA_OPTIONS		    "options"
#define SCHEMA_TOTALS		    "totals"
#define SCHEMA_SAMPLED		    "sampled"
#define SCHEMA_NOTES		    "notes"

/* Fields of an event. */
#define SCHEMA_PHASE		    "ph"
#define SCHEMA_CATEGORY		    "cat"
#define SCHEMA_NAME		    "name"
#define SCHEMA_PID		    "pid"
#define SCHEMA_TID		    "tid"
#define SCHEMA_TIME		    "ts"
#define SCHEMA_DURATION		    "dur"
#define SCHEMA_ARGS		    "args"
#define SCHEMA_ID		    "id"
#define SCHEMA_SCOPE		    "s"
#define SCHEMA_BIND		    "bp"

/* Phases, scopes of instants, and where a flow's end binds. */
#define SCHEMA_PHASE_SLICE	    "X"
#define SCHEMA_PHASE_INSTANT	    "i"
#define SCHEMA_PHASE_COUNTER	    "C"
#define SCHEMA_PHASE_META	    "M"
#define SCHEMA_PHASE_FLOW_START	    "s"
#define SCHEMA_PHASE_FLOW_END	    "f"
#define SCHEMA_SCOPE_THREAD	    "t"
#define SCHEMA_BIND_ENCLOSING	    "e"

/* At the end of a window of whose kernels some are missing. */
#define SCHEMA_MISSING_KERNELS	    "kernels are missing"
#define SCHEMA_LAUNCHES		    "launches"
#define SCHEMA_MISSING		    "missing"

/* Categories. */
#define SCHEMA_CPU_OP		    "cpu_op"
#define SCHEMA_PYTHON		    "python_function"
/* What a team does inside of its region: no operators, which readers count. */
#define SCHEMA_OPENMP		    "openmp"
#define SCHEMA_USER_ANNOTATION	    "user_annotation"
#define SCHEMA_GPU_USER_ANNOTATION  "gpu_user_annotation"
#define SCHEMA_CPU_INSTANT	    "cpu_instant_event"
#define SCHEMA_KERNEL		    "kernel"
#define SCHEMA_GPU_MEMCPY	    "gpu_memcpy"
#define SCHEMA_GPU_MEMSET	    "gpu_memset"
#define SCHEMA_CUDA_RUNTIME	    "cuda_runtime"
#define SCHEMA_CUDA_DRIVER	    "cuda_driver"
#define SCHEMA_CUDA_SYNC	    "cuda_sync"
#define SCHEMA_CUDA_EVENT	    "cuda_event"
#define SCHEMA_OVERHEAD		    "overhead"
/* Colours: what waits, and what is ours; work has a colour for each name. */
#define SCHEMA_WAITING		    "bad"
#define SCHEMA_OURS_COLOR	    "grey"
#define SCHEMA_UNIFIED_MEMORY	    "unified_memory"
#define SCHEMA_MEMORY_POOL	    "memory_pool"
#define SCHEMA_GPU_THROTTLE	    "gpu_throttle"
#define SCHEMA_WAIT		    "wait"
#define SCHEMA_FILE_IO		    "file_io"
#define SCHEMA_CPU_SAMPLE	    "cpu_sample"
#define SCHEMA_PYTHON_FUNCTION	    "python_function"
#define SCHEMA_TRACE		    "Trace"
#define SCHEMA_FLOW_GPU		    "ac2g"
#define SCHEMA_FLOW_BACKWARD	    "fwdbwd"

/* Names with a meaning. */
#define SCHEMA_PROCESS_NAME	    "process_name"
#define SCHEMA_PROCESS_LABELS	    "process_labels"
#define SCHEMA_PROCESS_SORT	    "process_sort_index"
#define SCHEMA_THREAD_NAME	    "thread_name"
#define SCHEMA_THREAD_SORT	    "thread_sort_index"
#define SCHEMA_LABELS		    "labels"
#define SCHEMA_SORT_INDEX	    "sort_index"
#define SCHEMA_STEP_PREFIX	    "ProfilerStep#"
#define SCHEMA_MEMORY		    "[memory]"
#define SCHEMA_PINNED		    "[memory] pinned"
#define SCHEMA_MAPPED		    "[memory] mapped"
/* The heap's sums, by call stack and of all together. */
#define SCHEMA_SITE		    "[memory] site"
#define SCHEMA_SITES_ALL	    "[memory] sites"
#define SCHEMA_DRIVER_MEMORY	    "[memory] driver"
#define SCHEMA_ITERATION_START	    "Iteration Start: PyTorch Profiler"
#define SCHEMA_WINDOW_END	    "Record Window End"
#define SCHEMA_SPAN_NAME	    "PyTorch Profiler (0)"
#define SCHEMA_SPAN_PID		    "Spans"
#define SCHEMA_SPAN_TID		    "PyTorch Profiler"

/* Keys in args. */
#define SCHEMA_EXTERNAL_ID	    "External id"
#define SCHEMA_RECORD_FUNCTION	    "Record function id"
#define SCHEMA_EVENT_INDEX	    "Ev Idx"
#define SCHEMA_FINISHED		    "finished"
#define SCHEMA_SEQUENCE		    "Sequence number"
#define SCHEMA_PYTHON_ID	    "Python id"
#define SCHEMA_PYTHON_PARENT	    "Python parent id"
#define SCHEMA_FORWARD_THREAD	    "Fwd thread id"
#define SCHEMA_CALLED_FROM	    "called from"
#define SCHEMA_CALLED_BELOW	    "called below"
#define SCHEMA_MESSAGE		    "Seq"
#define SCHEMA_MESSAGE_ID	    "Comms Id"
#define SCHEMA_OPERATORS	    "Original ATen"
#define SCHEMA_CORRELATION	    "correlation"
#define SCHEMA_STREAM		    "stream"
#define SCHEMA_DEVICE		    "device"
#define SCHEMA_BYTES		    "Bytes"
#define SCHEMA_ADDRESS		    "Addr"
#define SCHEMA_SPARE		    "Spare"
#define SCHEMA_TOTAL_ALLOCATED	    "Total Allocated"
#define SCHEMA_TOTAL_RESERVED	    "Total Reserved"
#define SCHEMA_DEVICE_TYPE	    "Device Type"
#define SCHEMA_DEVICE_ID	    "Device Id"
#define SCHEMA_OP_COUNT		    "Op count"
#define SCHEMA_STACK		    "stack"
#define SCHEMA_WEIGHED		    "Weighed"
/* "calls bytes frees live blocks temporary foreign peak peak_blocks", zeros at
 * the end left out. */
#define SCHEMA_SUMS		    "sums"
/* What of these was not asked for: "bytes live", and by how much the peak of
 * what was asked for lies below: "peak peak_blocks".  Likewise. */
#define SCHEMA_SITE_SPARE	    "spare"
#define SCHEMA_SITE_PEAK_NUMBER	    "peak_number"
#define SCHEMA_SITE_PEAK_TIME	    "peak_ts"
#define SCHEMA_SITE_ASKED_NUMBER    "asked_peak_number"
#define SCHEMA_SITE_ASKED_TIME	    "asked_peak_ts"
#define SCHEMA_SITE_STRANGE	    "unknown_frees"
#define SCHEMA_SITE_LOST	    "lost"
#define SCHEMA_SITE_SIZES	    "sizes"
#define SCHEMA_SAMPLES		    "samples"
#define SCHEMA_SELF		    "self_us"
#define SCHEMA_AT		    "at"
#define SCHEMA_CALL_STACK	    "Call stack"
#define SCHEMA_CALL_SITE	    "Call site"
#define SCHEMA_INPUT_DIMS	    "Input Dims"
#define SCHEMA_INPUT_TYPE	    "Input type"
#define SCHEMA_FLOPS		    "flops"
#define SCHEMA_BYTES_MOVED	    "bytes"
#define SCHEMA_MODULES		    "modules"

#endif

/* SPDX-License-Identifier: MIT */
/*
 * torch_shapes.h - what an operator is given: TRACEPROF_SHAPES.
 *
 * torch.profiler's own helpers make the text, so that it reads the same.  They
 * take memory, which is why shapes are not on by themselves.
 */
#ifndef PRELOAD_TORCH_SHAPES_H
#define PRELOAD_TORCH_SHAPES_H

#include "preload/torch/torch_library.h"

bool torch_shapes_are_known(const struct torch_library *library);

/* The id of `"Input Dims":[...],"Input type":[...]`; 0 there are no inputs. */
uint32_t torch_shapes(const struct torch_library *library, const void *record);

#endif

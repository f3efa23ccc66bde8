# SPDX-License-Identifier: MIT
# `make fake-gpu`: a GPU without one, in $(O)/fake-gpu; see README.md here.
#
# It needs CUDA's headers, the ones of CUPTI among them, and the GPU programs
# need nvcc.  What cannot be built for want of them is left out with a word,
# and its tests skip.

FAKE      := $(O)/fake-gpu
FAKE_SO   := $(addprefix $(FAKE)/,libsimgpu.so libcuda.so.1 libcudart.so.13 \
             libcupti.so.13 libspy.so libnvidia-ml.so.1)
FAKE_12   := $(addprefix $(O)/fake-gpu-12/,libsimgpu.so libcuda.so.1 \
             libcupti.so.12)
NVCC      ?= $(firstword $(wildcard $(CUDA)/bin/nvcc) $(shell command -v nvcc))
NVCC_FLAGS := -O1 -gencode arch=compute_80,code=compute_80 \
             -gencode arch=compute_90,code=sm_90
# The same source with the shared runtime, with the static one, which needs a
# real GPU, with a default stream for each thread, and with OpenMP.
GPU_PROGRAMS := $(addprefix $(O)/tests/programs/cuda_train,_static _per_thread \
             _openmp) $(O)/tests/programs/cuda_train
CUDA_KINDS := $(addprefix $(O)/tests/programs/cuda_,kinds graphs)
# Those that mark steps.
CUDA_STEPS := $(addprefix $(O)/tests/programs/cuda_,planted contexts)

fake_objects = $(patsubst %.c,$(O)/%.o,$(wildcard tests/fake_gpu/$(1)*.c))

.PHONY: fake-gpu gpu-programs
ifneq ($(CUPTI),)
fake-gpu: $(FAKE_SO) $(FAKE_12) gpu-programs
programs: fake-gpu
else
fake-gpu:
	@echo '  fake-gpu left out for want of cupti.h'
endif
ifneq ($(and $(NVCC),$(CUPTI)),)
gpu-programs: $(GPU_PROGRAMS) $(CUDA_KINDS) $(CUDA_STEPS)
else
gpu-programs:
	@echo '  GPU programs left out for want of nvcc'
endif

# The faces see each other only through the simulated device, which stands
# beside them.  Nothing is hidden: these are not the library that we ship, and
# never built with a sanitizer, which a program of nvcc's would not have.
fake_link = $(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-z,defs \
            -Wl,-rpath,'$$ORIGIN' -Wl,-soname,$(@F) -o $@ $(filter %.o,$^)

# CUPTI's calls of itself are nobody else's.
OWN := -Wl,-Bsymbolic-functions

$(FAKE)/libsimgpu.so: $(call fake_objects,sim_)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(fake_link) -lpthread -ldl

$(FAKE)/libcuda.so.1: $(call fake_objects,cuda_) $(FAKE)/libsimgpu.so
	$(call say,LD,$@)
	$(fake_link) -L$(FAKE) -lsimgpu -ldl

$(FAKE)/libnvidia-ml.so.1: $(call fake_objects,nvml_) $(FAKE)/libsimgpu.so
	$(call say,LD,$@)
	$(fake_link) -L$(FAKE) -lsimgpu

# Programs ask for these two by version node, as of the real libraries.
$(FAKE)/libcudart.so.13: $(call fake_objects,cudart)
$(FAKE)/libcupti.so.13: $(call fake_objects,cupti_)
$(FAKE)/libcudart.so.13 $(FAKE)/libcupti.so.13: $(FAKE)/libsimgpu.so
	$(call say,LD,$@)
	@echo '$(@F) { global: *; };' > $@.map
	$(fake_link) $(if $(filter libcupti%,$(@F)),$(OWN)) \
		-Wl,--version-script=$@.map -L$(FAKE) -lsimgpu -ldl

# The driver, and beside it CUPTI as CUDA 12 calls it.
$(O)/fake-gpu-12/libcupti.so.12: $(call fake_objects,cupti_) $(FAKE)/libsimgpu.so
	$(call say,LD,$@)
	@mkdir -p $(@D)
	@echo '$(@F) { global: *; };' > $@.map
	$(fake_link) -Wl,--version-script=$@.map -L$(FAKE) -lsimgpu -ldl

$(O)/fake-gpu-12/lib%: $(FAKE)/lib%
	@mkdir -p $(@D)
	@ln -sf ../fake-gpu/$(@F) $@

$(FAKE)/libspy.so: $(call fake_objects,spy)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(fake_link) -lpthread -ldl

$(O)/tests/fake_gpu/%.o: tests/fake_gpu/%.c $(O)/config.mk
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter-out $(SANFLAGS),$(BASE)) $(CUPTI) -I$(FAKE) -fPIC \
		$(CFLAGS) -c -o $@ $<

# Names of API functions and results, out of CUPTI's own headers.
names_of = $(Q)mkdir -p $(@D) && echo '\#include <cupti.h>' | \
           $(CC) $(CUPTI) -E -x c - | sed -n '/_SIZE *=/d; \
           s/^ *$(1)\($(2)\) *= *\([0-9][0-9]\{0,2\}\),.*/[\2] = "\1",/p' > $@

$(FAKE)/runtime_names.inc: tests/fake_gpu/fake_gpu.mk $(O)/config.mk
	$(call names_of,CUPTI_RUNTIME_TRACE_CBID_,[A-Za-z_0-9]*)
$(FAKE)/driver_names.inc: tests/fake_gpu/fake_gpu.mk $(O)/config.mk
	$(call names_of,CUPTI_DRIVER_TRACE_CBID_,[A-Za-z_0-9]*)
$(FAKE)/result_names.inc: tests/fake_gpu/fake_gpu.mk $(O)/config.mk
	$(call names_of,,CUPTI_SUCCESS\|CUPTI_ERROR_[A-Z_0-9]*)
$(O)/tests/fake_gpu/cupti_callback_face.o: \
	$(addprefix $(FAKE)/,runtime_names.inc driver_names.inc result_names.inc)

$(O)/tests/programs/cuda_train_per_thread: NVCC_FLAGS += --default-stream per-thread
$(O)/tests/programs/cuda_train_openmp: NVCC_FLAGS += -Xcompiler -fopenmp
$(GPU_PROGRAMS): tests/programs/cuda_train.cu
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) $(NVCC_FLAGS) \
		-cudart $(if $(filter %_static,$@),static,shared) -o $@ $< -ldl

$(CUDA_STEPS): $(O)/tests/programs/%: tests/programs/%.cu
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) $(NVCC_FLAGS) -Iinclude -Xcompiler -fopenmp \
		-cudart shared -o $@ $< -ldl

$(CUDA_KINDS): $(O)/tests/programs/%: tests/programs/%.cu
	$(call say,NVCC,$@)
	@mkdir -p $(@D)
	$(Q)$(NVCC) $(NVCC_FLAGS) -cudart shared -o $@ $< -ldl

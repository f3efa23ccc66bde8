/* SPDX-License-Identifier: MIT */
/*
 * compile_folder.h - where torch.compile of this process keeps its cache.
 */
#ifndef WRITER_COMPILE_FOLDER_H
#define WRITER_COMPILE_FOLDER_H

#include "collector/system/base.h"

/* TORCHINDUCTOR_CACHE_DIR, which newer versions set themselves, else what they
 * make in the folder for temporary files.  False: there is none, or it belongs
 * to another user, who could have written anything there. */
bool compile_folder_find(char *path, size_t bytes);

#endif

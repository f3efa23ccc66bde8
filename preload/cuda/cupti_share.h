/* SPDX-License-Identifier: MIT */
/*
 * cupti_share.h - several subscribers of CUPTI at once, where it can (13.3 and
 * a driver of its time) and all of them ask for that.
 *
 * CUPTI takes no clock of ours then, and one flush is everybody's.  Who doesn't
 * ask is refused as long as one who does is there: so we share where the
 * program has a client that shares too, or where the user says so.
 */
#ifndef PRELOAD_CUPTI_SHARE_H
#define PRELOAD_CUPTI_SHARE_H

#include "collector/control/options.h"
#include <cupti.h>

/* False: CUPTI can't, or it isn't wanted; nothing is changed. */
bool cupti_share_subscribe(enum cupti_share wish, uint32_t version,
			   CUpti_SubscriberHandle *handle,
			   CUpti_CallbackFunc callback);
bool cupti_share_is_on(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * session_group.h - for a file of which each test has a session of its own.
 */
#ifndef UNIT_SESSION_GROUP_H
#define UNIT_SESSION_GROUP_H

#include "tests/unit/session_fixture.h"

static struct session *session;

static int set_up(void **state)
{
	(void)state;
	session = fixture_begin(8);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fixture_end(session);
	return 0;
}

#endif

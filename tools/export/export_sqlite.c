/* SPDX-License-Identifier: MIT */
/*
 * export_sqlite.c - a database of the events, and views over it that are named
 * as those of Nsight Systems' export; docs/export.md describes both.
 */
#include "tools/export/export.h"

#include <errno.h>
#include <stdio.h>

#ifdef HAVE_SQLITE

#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/util/numbers.h"

#define WITH_TEXTS                                                             \
	"FROM slice s JOIN StringIds n ON n.id = s.name "                      \
	"JOIN StringIds c ON c.id = s.category "
#define OF_THREAD "s.pid << 24 | s.tid AS globalTid"
#define OF_GPU                                                                 \
	"s.start, s.\"end\", s.device AS deviceId, "                           \
	"s.args ->> 'context' AS contextId, s.stream AS streamId, "            \
	"s.correlation AS correlationId"

static const char schema[] =
	"CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT NOT NULL);"
	"CREATE TABLE slice(id INTEGER PRIMARY KEY, start INTEGER, "
	"\"end\" INTEGER, category INTEGER, name INTEGER, pid INTEGER, "
	"tid INTEGER, correlation INTEGER, device INTEGER, stream INTEGER, "
	"bytes INTEGER, region INTEGER, args TEXT);"
	"CREATE TABLE instant(id INTEGER PRIMARY KEY, at INTEGER, "
	"category INTEGER, name INTEGER, pid INTEGER, tid INTEGER, args TEXT);"
	"CREATE TABLE counter(at INTEGER, name INTEGER, key INTEGER, "
	"pid INTEGER, value REAL);"
	"CREATE TABLE flow(id INTEGER, kind TEXT, at INTEGER, pid INTEGER, "
	"tid INTEGER);"
	"CREATE TABLE lane(pid INTEGER, tid INTEGER, kind TEXT, name TEXT);"
	"CREATE TABLE metadata(path TEXT, value TEXT);"
	"CREATE VIEW event AS SELECT s.id, s.start, s.\"end\", "
	"s.\"end\" - s.start AS dur, c.value AS category, n.value AS name, "
	"s.pid, s.tid, s.correlation, s.device, s.stream, s.bytes, s.region, "
	"s.args " WITH_TEXTS ";"
	"CREATE VIEW step AS SELECT CAST(substr(name, 14) AS INTEGER) AS "
	"number, start, \"end\", dur FROM event WHERE name LIKE "
	"'ProfilerStep#%' AND category = 'user_annotation';"
	"CREATE VIEW memory AS SELECT i.at, n.value AS name, i.pid, i.tid, "
	"i.args ->> 'Bytes' AS bytes, i.args ->> 'Addr' AS address, "
	"i.args ->> 'Total Allocated' AS total, i.args ->> 'Device Type' AS "
	"device_type, i.args ->> 'Device Id' AS device FROM instant i "
	"JOIN StringIds n ON n.id = i.name WHERE n.value LIKE '[memory]%';"
	"CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT " OF_GPU
	", s.name AS demangledName, s.name AS shortName, "
	"s.args ->> 'registers per thread' AS registersPerThread, "
	"s.args ->> 'shared memory' AS sharedMemory " WITH_TEXTS
	"WHERE c.value = 'kernel';"
	"CREATE VIEW CUPTI_ACTIVITY_KIND_MEMCPY AS SELECT " OF_GPU
	", s.bytes, CASE WHEN n.value LIKE '%HtoD%' THEN 1 WHEN n.value LIKE "
	"'%DtoH%' THEN 2 WHEN n.value LIKE '%DtoD%' THEN 8 WHEN n.value LIKE "
	"'%HtoH%' THEN 9 WHEN n.value LIKE '%PtoP%' THEN 10 ELSE 0 END AS "
	"copyKind " WITH_TEXTS "WHERE c.value = 'gpu_memcpy';"
	"CREATE VIEW CUPTI_ACTIVITY_KIND_MEMSET AS SELECT " OF_GPU
	", s.bytes " WITH_TEXTS "WHERE c.value = 'gpu_memset';"
	"CREATE VIEW CUPTI_ACTIVITY_KIND_SYNCHRONIZATION AS SELECT " OF_GPU
	" " WITH_TEXTS "WHERE c.value = 'cuda_sync';"
	"CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME AS SELECT s.start, "
	"s.\"end\", " OF_THREAD ", s.correlation AS correlationId, s.name AS "
	"nameId " WITH_TEXTS "WHERE c.value IN ('cuda_runtime', 'cuda_driver');"
	"CREATE VIEW NVTX_EVENTS AS SELECT s.start, s.\"end\", 59 AS "
	"eventType, n.value AS text, s.name AS textId, " OF_THREAD
	" " WITH_TEXTS "WHERE c.value = 'user_annotation';"
	"CREATE VIEW OPENMP_EVENT_KIND_PARALLEL AS SELECT s.start, "
	"s.\"end\", s.name AS nameId, s.region AS parallelId, " OF_THREAD
	" FROM slice s WHERE s.args ->> 'omp' = 'parallel';"
	"CREATE VIEW ThreadNames AS SELECT name, pid << 24 | tid AS globalTid "
	"FROM lane WHERE kind = 'thread';"
	"CREATE VIEW ProcessNames AS SELECT name, pid FROM lane "
	"WHERE kind = 'process';";

enum statement {
	PUT_STRING,
	PUT_SLICE,
	PUT_INSTANT,
	PUT_COUNTER,
	PUT_FLOW,
	PUT_LANE,
	PUT_METADATA,
	STATEMENT_COUNT
};

static const char *const statements[STATEMENT_COUNT] = {
	[PUT_STRING] = "INSERT INTO StringIds VALUES(?,?)",
	[PUT_SLICE] = "INSERT INTO slice VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[PUT_INSTANT] = "INSERT INTO instant VALUES(?,?,?,?,?,?,?)",
	[PUT_COUNTER] = "INSERT INTO counter VALUES(?,?,?,?,?)",
	[PUT_FLOW] = "INSERT INTO flow VALUES(?,?,?,?,?)",
	[PUT_LANE] = "INSERT INTO lane VALUES(?,?,?,?)",
	[PUT_METADATA] = "INSERT INTO metadata VALUES(?,?)",
};

struct database {
	sqlite3 *sqlite;
	sqlite3_stmt *put[STATEMENT_COUNT];
	struct key_table strings;
	struct text_buffer args;
	int error; /* SQLite's, the first */
};

static void run(struct database *database, enum statement statement)
{
	sqlite3_stmt *put = database->put[statement];
	const int status = sqlite3_step(put);

	if (status != SQLITE_DONE && !database->error)
		database->error = status;
	sqlite3_reset(put);
	sqlite3_clear_bindings(put);
}

static void bind_text(sqlite3_stmt *put, int at, const char *text, size_t len)
{
	sqlite3_bind_text64(put, at, text, len, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static int64_t string_of(struct database *database, const char *text,
			 size_t len)
{
	const size_t known = database->strings.count;
	const uint32_t number = key_table_number(&database->strings, text, len);

	if (number == known) {
		sqlite3_bind_int64(database->put[PUT_STRING], 1, number + 1);
		bind_text(database->put[PUT_STRING], 2, text, len);
		run(database, PUT_STRING);
	}
	return number + 1;
}

/* Texts that are no numbers, as the pids of torch's marks, become NULL. */
static void bind_lane(sqlite3_stmt *put, int at,
		      const struct trace_event *event)
{
	static const enum trace_field fields[] = {FIELD_PID, FIELD_TID};
	int64_t value;

	for (int i = 0; i < 2; i++)
		if (!decimal_to_integer(event->field[fields[i]].text,
					event->field[fields[i]].len, &value))
			sqlite3_bind_int64(put, at + i, value);
}

static void bind_head(struct database *database, sqlite3_stmt *put, int at,
		      const struct trace_event *event)
{
	const struct trace_value *field = event->field;

	sqlite3_bind_int64(put, at,
			   string_of(database, field[FIELD_CAT].text,
				     field[FIELD_CAT].len));
	sqlite3_bind_int64(put, at + 1,
			   string_of(database, field[FIELD_NAME].text,
				     field[FIELD_NAME].len));
	bind_lane(put, at + 2, event);
}

static void bind_args(struct database *database, sqlite3_stmt *put, int at,
		      const struct trace_event *event)
{
	const char *args = export_args(event, &database->args);

	bind_text(put, at, args, database->args.len);
}

static void on_slice(struct database *database, const struct trace_event *event)
{
	static const char *const keys[] = {"correlation", "device", "stream",
					   "bytes", "region"};
	sqlite3_stmt *put = database->put[PUT_SLICE];
	int64_t value;

	bind_head(database, put, 4, event);
	sqlite3_bind_int64(put, 1, (int64_t)event->index);
	sqlite3_bind_int64(put, 2, event->ts_ns);
	sqlite3_bind_int64(put, 3, saturate_add(event->ts_ns, event->dur_ns));
	for (int at = 0; at < 5; at++)
		if (trace_event_integer(event, keys[at], &value))
			sqlite3_bind_int64(put, 8 + at, value);
	bind_args(database, put, 13, event);
	run(database, PUT_SLICE);
}

static void on_instant(struct database *database,
		       const struct trace_event *event)
{
	sqlite3_stmt *put = database->put[PUT_INSTANT];

	bind_head(database, put, 3, event);
	sqlite3_bind_int64(put, 1, (int64_t)event->index);
	sqlite3_bind_int64(put, 2, event->ts_ns);
	bind_args(database, put, 7, event);
	run(database, PUT_INSTANT);
}

static void on_counter(struct database *database,
		       const struct trace_event *event)
{
	sqlite3_stmt *put = database->put[PUT_COUNTER];
	const struct trace_value *name = &event->field[FIELD_NAME];

	for (size_t at = 0; at < event->pair_count; at++) {
		const struct trace_pair *pair = &event->pairs[at];

		if (pair->value.type != TRACE_NUMBER)
			continue;
		sqlite3_bind_int64(put, 1, event->ts_ns);
		sqlite3_bind_int64(put, 2,
				   string_of(database, name->text, name->len));
		sqlite3_bind_int64(
			put, 3,
			string_of(database, pair->key, strlen(pair->key)));
		bind_lane(put, 4, event); /* the value goes over its tid */
		sqlite3_bind_double(put, 5, strtod(pair->value.text, NULL));
		run(database, PUT_COUNTER);
	}
}

static void on_flow(struct database *database, const struct trace_event *event)
{
	sqlite3_stmt *put = database->put[PUT_FLOW];
	int64_t id;

	if (!decimal_to_integer(event->field[FIELD_ID].text,
				event->field[FIELD_ID].len, &id))
		sqlite3_bind_int64(put, 1, id);
	bind_text(put, 2, event->field[FIELD_PH].text, 1);
	sqlite3_bind_int64(put, 3, event->ts_ns);
	bind_lane(put, 4, event);
	run(database, PUT_FLOW);
}

static void on_metadata(struct database *database,
			const struct trace_event *event)
{
	const struct trace_value *what = &event->field[FIELD_NAME];
	const struct trace_value name = trace_event_arg(event, "name");
	const bool is_thread = trace_value_is(what, "thread_name");
	sqlite3_stmt *put = database->put[PUT_LANE];

	if (!is_thread && !trace_value_is(what, "process_name"))
		return;
	bind_lane(put, 1, event);
	if (!is_thread)
		sqlite3_bind_null(put, 2);
	bind_text(put, 3, is_thread ? "thread" : "process", is_thread ? 6 : 7);
	bind_text(put, 4, name.text ? name.text : "", name.len);
	run(database, PUT_LANE);
}

static void on_event(void *arg, const struct trace_event *event)
{
	const struct trace_value *ph = &event->field[FIELD_PH];
	struct database *database = arg;

	if (event->is_share)
		return;
	if (trace_event_is_slice(event))
		on_slice(database, event);
	else if (trace_value_is(ph, "M"))
		on_metadata(database, event);
	else if (event->ts_state == TIME_ABSENT || event->ts_state == TIME_BAD)
		return;
	else if (trace_value_is(ph, "C"))
		on_counter(database, event);
	else if (trace_value_is(ph, "s") || trace_value_is(ph, "f"))
		on_flow(database, event);
	else
		on_instant(database, event);
}

static void on_entry(void *arg, const struct trace_entry *entry)
{
	struct database *database = arg;
	sqlite3_stmt *put = database->put[PUT_METADATA];

	if (entry->value.type == TRACE_OBJECT ||
	    entry->value.type == TRACE_ARRAY)
		return;
	bind_text(put, 1, entry->path, strlen(entry->path));
	bind_text(put, 2, entry->value.text, entry->value.len);
	run(database, PUT_METADATA);
}

static int begin(struct database *database, const char *output)
{
	int status = sqlite3_open_v2(output, &database->sqlite,
				     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
				     NULL);

	if (status == SQLITE_OK)
		status = sqlite3_exec(database->sqlite,
				      "PRAGMA journal_mode=OFF;"
				      "PRAGMA synchronous=OFF;BEGIN;",
				      NULL, NULL, NULL);
	if (status == SQLITE_OK)
		status = sqlite3_exec(database->sqlite, schema, NULL, NULL,
				      NULL);
	for (int at = 0; status == SQLITE_OK && at < STATEMENT_COUNT; at++)
		status = sqlite3_prepare_v2(database->sqlite, statements[at],
					    -1, &database->put[at], NULL);
	return status;
}

static void end(struct database *database)
{
	for (int at = 0; at < STATEMENT_COUNT; at++)
		sqlite3_finalize(database->put[at]);
	sqlite3_close(database->sqlite);
	key_table_free(&database->strings);
	text_buffer_free(&database->args);
}

/* An older export is replaced; what is no database stays. */
static int make_room(const char *output, char *why)
{
	char head[16] = "";
	FILE *old = fopen(output, "re");
	size_t len;

	if (!old)
		return 0;
	len = fread(head, 1, sizeof(head), old);
	fclose(old);
	if (len && memcmp(head, "SQLite format 3", sizeof(head)) != 0) {
		snprintf(why, EXPORT_WHY, "%s: is there, and no database",
			 output);
		return -EEXIST;
	}
	return unlink(output) ? -errno : 0;
}

int export_sqlite(const char *file, const char *output, char *why)
{
	struct database database = {0};
	const struct trace_sink sink = {on_event, on_entry, &database};
	struct trace_facts facts;
	int error = make_room(output, why), status;

	if (error)
		return error;
	status = begin(&database, output);
	if (status == SQLITE_OK) {
		error = trace_read(file, &sink, &facts);
		if (error)
			snprintf(why, EXPORT_WHY, "%s: %s", file, facts.error);
		status = database.error
				 ? database.error
				 : sqlite3_exec(database.sqlite, "COMMIT", NULL,
						NULL, NULL);
	}
	if (!error && status != SQLITE_OK) {
		snprintf(why, EXPORT_WHY, "%s: %s", output,
			 sqlite3_errmsg(database.sqlite));
		error = -EIO;
	}
	end(&database);
	if (error)
		export_discard(output);
	return error;
}

#else

int export_sqlite(const char *file, const char *output, char *why)
{
	(void)file;
	snprintf(why, EXPORT_WHY,
		 "%s: needs sqlite3: install libsqlite3-dev and make again",
		 output);
	return -ENOSYS;
}

#endif

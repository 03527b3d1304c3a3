/* SPDX-License-Identifier: GPL-2.0-only */
/* sqlite_schema.h - what the database has beside the tables of tables.c. Documented in docs/reference/formats.md. */
#ifndef BT_RENDER_EXPORT_SQLITE_SCHEMA_H
#define BT_RENDER_EXPORT_SQLITE_SCHEMA_H

#define DB_APPLICATION_ID 0x62745452 /* "btTR": file(1) and others know the format by it */

/* Nothing has to be undone: whoever fails ends the program. */
#define DB_SETTINGS \
	"PRAGMA page_size = 4096;" \
	"PRAGMA encoding = 'UTF-8';" \
	"PRAGMA journal_mode = OFF;" \
	"PRAGMA synchronous = OFF;" \
	"PRAGMA auto_vacuum = NONE;"

/* clang-format off */
#define DB_VIEWS \
	/* every call with the cause that took most of it */ \
	"CREATE VIEW slow_call AS" \
	" SELECT c.*," \
	" (SELECT cause FROM ledger WHERE call_id = c.id ORDER BY ns DESC, cause LIMIT 1) AS largest_cause," \
	" (SELECT max(ns) FROM ledger WHERE call_id = c.id) AS largest_ns" \
	" FROM sync_call AS c ORDER BY duration_ns DESC, id;" \
	/* where the calls that were kept spent their time; `cause` has all calls */ \
	"CREATE VIEW ledger_total AS" \
	" SELECT l.cause, c.family, sum(l.ns) AS ns, count(*) AS calls, max(l.ns) AS max_ns" \
	" FROM ledger AS l JOIN cause AS c USING (cause) GROUP BY l.cause ORDER BY ns DESC, l.cause;" \
	"CREATE VIEW family_total AS" \
	" SELECT family, sum(ns) AS ns FROM cause GROUP BY family ORDER BY ns DESC, family;" \
	/* one FLUSH in the device, however many requests waited for it */ \
	"CREATE VIEW flush AS" \
	" SELECT r.device, s.issue_ns, s.done_ns, s.done_ns - s.issue_ns AS ns, count(*) AS waiters," \
	" max(s.in_flight) AS in_flight" \
	" FROM step AS s JOIN request AS r ON r.id = s.request_id" \
	" WHERE s.step <> 'data' AND s.done_ns > s.issue_ns" \
	" GROUP BY r.device, s.issue_ns, s.done_ns ORDER BY s.issue_ns, r.device;"
/* clang-format on */

#endif

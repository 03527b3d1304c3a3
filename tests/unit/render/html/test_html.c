// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page: that it is well-formed whatever stands in the report, that it holds the report for machines, that it stays
 * small, and what it says of what was not seen. How it looks and works: tests/golden/html.bats.
 */
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "render/html/html.h"
#include "tap.h"

#define MS 1000000ull
#define HOSTILE \
	"\"><script>x</script>&amp;'\x1b[2J\x9b\xff\xc3\x28\x7f\r\n\t\xe2\x80\xa8\xe2\x80\xae" \
	"</title></style>-->]]>\xc3\xa9\xf0\x9f\x98\x80"

static const struct render_opts opts = { 0 };

static struct buf page(const struct report *r)
{
	struct buf b = { 0 };

	render_html(r, &opts, &b);
	return b;
}

static bool has(const struct buf *b, const char *s)
{
	return strstr(b->data, s);
}

/* ---- reports ---- */

static struct ledger split(uint64_t ns)
{
	struct ledger l = { { [CAUSE_FLUSH_POST] = ns / 2, [CAUSE_DEVICE_WRITE] = ns / 4, [CAUSE_RUNQ] = ns / 1000 } };

	l.ns[CAUSE_CPU] = ns - ledger_sum(&l);
	return l;
}

static void add_call(struct report_sync *s, uint64_t start, uint64_t ns, const char *name)
{
	struct report_call *c = grow((void **)&s->slowest, &s->n_slowest, sizeof(*c));

	*c = (struct report_call){ .start_ns = start,
				   .duration_ns = ns,
				   .pid = 7,
				   .tid = 8,
				   .comm = xstrdup(name),
				   .call = xstrdup("fsync"),
				   .path = xstrdup(name),
				   .device = xstrdup(name),
				   .ledger = split(ns) };
	s->count++;
	s->calls[1]++;
	s->total_ns += ns;
	ledger_add(&s->ledger, &c->ledger);
	hist_add(&s->latency, ns);
	heat_add(s->heat, start + ns, ns, 1);
}

static void add_group(struct report_group **g, size_t *n, const char *name, bool process)
{
	struct report_group *one = grow((void **)g, n, sizeof(*one));

	one->pid = process ? (uint32_t)*n : 0;
	one->comm = process ? xstrdup(name) : NULL;
	one->path = process ? NULL : xstrdup(name);
	one->device = process ? NULL : xstrdup(name);
	one->count = *n;
	one->total_ns = 5 * MS * *n;
	one->ledger = split(one->total_ns);
	for (uint64_t i = 0; i < 64; i++)
		tally_add(&one->latency, (i + 1) * 77777);
}

static void add_leaf(struct report_sync *s, size_t i, const char *name)
{
	struct report_leaf *l = grow((void **)&s->leaf, &s->n_leaves, sizeof(*l));

	l->path = xasprintf("%zu %s;fsync;%s;flush.post;sda", i, name, name);
	l->cause = CAUSE_FLUSH_POST;
	for (uint64_t k = 0; k < 40; k++)
		tally_add(&l->each, (k + 1) * 12345 * (i % 7 + 1));
	l->ns = l->each.sum;
}

static void add_device(struct report *r, const char *name)
{
	struct report_device *d = grow((void **)&r->device, &r->n_devices, sizeof(*d));

	snprintf(d->name, sizeof(d->name), "%s", name);
	d->model = xstrdup(name);
	d->write_cache = xstrdup(name);
	d->scheduler = xstrdup(name);
	d->via = xstrdup(name);
	d->have_fua = true;
	d->mounts = xcalloc(1, sizeof(*d->mounts));
	d->n_mounts = 1;
	d->mounts[0].dir = xstrdup(name);
	d->mounts[0].options = xstrdup(name);
	d->heat[HEAT_FLUSH] = xcalloc(1, sizeof(struct heat));
	for (uint64_t i = 0; i < 50; i++) {
		d->op[OP_FLUSH].count++;
		tally_add(&d->op[OP_FLUSH].queue, 100 * i);
		tally_add(&d->op[OP_FLUSH].device, 2 * MS + i);
		heat_add(d->heat[HEAT_FLUSH], i * 4 * MS, 2 * MS + i, 1);
	}
}

static void fill(struct report *r, const char *name)
{
	*r = (struct report){ .version = xstrdup("0.1.0"),
			      .start = xstrdup("2026-01-31T03:07:00Z"),
			      .wall_ns = 250 * MS,
			      .final = true,
			      .have_sync = true,
			      .have_verdict = true };
	strv_add(&r->command, xstrdup(name));
	r->sync.heat = xcalloc(1, sizeof(*r->sync.heat));
	for (uint64_t i = 0; i < 20; i++)
		add_call(&r->sync, i * 10 * MS, (9 + i) * MS, name);
	add_group(&r->sync.process, &r->sync.n_processes, name, true);
	add_group(&r->sync.file, &r->sync.n_files, name, false);
	add_leaf(&r->sync, 0, "app");
	add_device(r, name);
	r->verdict = (struct report_verdict){
		.class = "device-flush", .family = family_name(FAMILY_FLUSH), .share = 0.5, .sentence = xstrdup(name)
	};
	strv_add(&r->verdict.evidence, xstrdup(name));
	strv_add(&r->verdict.advice, xasprintf("Do this. Risk: %s", name));
	r->whatif = xcalloc(2, sizeof(*r->whatif));
	r->n_whatif = 2;
	r->whatif[0] = (struct report_whatif){ .remove = xstrdup("flush"),
					       .now_ns = 9 * MS,
					       .without_ns = 2 * MS,
					       .wall_ns = 95 * MS,
					       .speedup = 2.631,
					       .bound = true };
	r->whatif[1] = (struct report_whatif){ .remove = xstrdup("journal"), .wall_ns = 249 * MS, .speedup = NAN };
}

/* ---- well-formed ---- */

static bool is_void(const char *name)
{
	static const char *const voids[] = { "meta", "link", "br", "!DOCTYPE" };

	for (size_t i = 0; i < sizeof(voids) / sizeof(voids[0]); i++)
		if (!strcmp(name, voids[i]))
			return true;
	return false;
}

/* Past the quoted values of a tag to its end; *closed: it ended with "/>". */
static const char *tag_end(const char *s, bool *closed)
{
	for (; *s && *s != '>'; s++) {
		if (*s == '<')
			return NULL;
		if (*s == '"' && !(s = strchr(s + 1, '"')))
			return NULL;
	}
	*closed = s[-1] == '/';
	return *s ? s + 1 : NULL;
}

/* Every element is closed in its turn. Returns where that ends; "": all is well. */
static const char *misnested(const char *s)
{
	static char open[256][16];
	size_t depth = 0;

	while ((s = strchr(s, '<'))) {
		char name[16] = "";
		bool closed, closing = s[1] == '/';
		const char *at = s;

		sscanf(s + 1 + closing, "%15[!A-Za-z0-9]", name);
		s = tag_end(s + 1, &closed);
		if (!s || !*name || (closing && (!depth || strcmp(open[--depth], name))))
			return at;
		if (closing || closed || is_void(name))
			continue;
		if (depth == 256)
			return at;
		strcpy(open[depth++], name);
		if (!strcmp(name, "script") || !strcmp(name, "style"))
			s = strstr(s, !strcmp(name, "script") ? "</script>" : "</style>");
	}
	return depth ? open[depth - 1] : "";
}

static bool harmless(const struct buf *b)
{
	for (size_t i = 0; i < b->len; i++) {
		unsigned char c = (unsigned char)b->data[i];

		if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
			return false;
	}
	return !has(b, "<script>x") && !has(b, "\xe2\x80\xae") && !has(b, "\xe2\x80\xa8") && !has(b, "\xff") &&
	       strlen(b->data) == b->len;
}

/* NULL also when a character stands in it that means something to HTML. */
static json_t *embedded(const struct buf *b)
{
	static const char mark[] = "<script type=\"application/json\" id=\"report\">";
	const char *from = strstr(b->data, mark);
	size_t n;

	if (!from)
		return NULL;
	from += strlen(mark);
	n = strcspn(from, "<>&");
	return strncmp(from + n, "</script>", strlen("</script>")) ? NULL : json_loadb(from, n, 0, NULL);
}

static void holds_report(const struct report *r, const struct buf *b, const char *name)
{
	FREED(buf) struct buf plain = { 0 };
	json_t *inside = embedded(b), *outside;

	render_ndjson(r, &opts, &plain);
	outside = json_loadb(plain.data, plain.len, 0, NULL);
	ok(inside && json_equal(inside, outside), "%s: the report for machines is inside, unchanged", name);
	json_decref(inside);
	json_decref(outside);
}

static void whole(const struct report *r, const char *name)
{
	struct buf b = page(r), again = page(r);
	const char *bad = misnested(b.data);

	if (!ok(!*bad, "%s: well-formed", name))
		diag("%.60s", bad);
	ok(harmless(&b), "%s: nothing in it can act", name);
	ok(b.len == again.len && !memcmp(b.data, again.data, b.len), "%s: the same bytes again", name);
	holds_report(r, &b, name);
	buf_free(&b);
	buf_free(&again);
}

TEST(any_report)
{
	struct report r = { 0 };

	whole(&r, "nothing at all");
	fill(&r, "name");
	whole(&r, "a usual one");
	report_free(&r);
	fill(&r, HOSTILE);
	whole(&r, "hostile names");
	report_free(&r);
	fill(&r, "");
	whole(&r, "empty names");
	report_free(&r);
	/* a recording can hold any number */
	fill(&r, "name");
	r.wall_ns = UINT64_MAX;
	r.sync.slowest[0].start_ns = r.sync.slowest[0].duration_ns = UINT64_MAX - 1;
	r.sync.slowest[1].ledger.ns[CAUSE_CPU] = UINT64_MAX;
	r.sync.heat->n[0][HEAT_ROWS - 1] = r.sync.heat->n[0][0] = UINT32_MAX;
	r.device[0].heat[HEAT_FLUSH]->column_ns = UINT64_MAX / HEAT_COLUMNS;
	r.whatif[0].wall_ns = UINT64_MAX;
	whole(&r, "extreme numbers");
	report_free(&r);
}

/* ---- what it says ---- */

TEST(warns)
{
	FREED(report) struct report r;
	FREED(buf) struct buf b;

	fill(&r, "name");
	report_add_lost(&r, 1234, LOSS_OF_LEDGERS, "ring full");
	r.incomplete = true;
	strv_add(&r.notes, xstrdup("a note"));
	r.sync.no_ledger = 5;
	r.sync.unsafe = 6;
	r.device[0].errors = 1;
	b = page(&r);
	ok(strstr(b.data, "class=\"warn\"") < strstr(b.data, "<h1>"), "warnings stand above the verdict");
	ok(has(&b, "1,234 events were lost") && has(&b, "ring full: 1,234"), "lost events, and why");
	ok(has(&b, "<li>a note</li>") && has(&b, "5 calls have no ledger") && has(&b, "1 request completed with an error") &&
		   has(&b, "6 of 20 sync calls returned without any FLUSH"),
	   "notes, calls without a ledger or a FLUSH, errors");
}

TEST(not_known)
{
	FREED(report) struct report r;
	struct buf b;

	fill(&r, "name");
	r.have_sync = r.have_verdict = false;
	r.wall_ns = 0;
	b = page(&r);
	ok(has(&b, "<h1>What the block devices did</h1>") && !has(&b, "id=\"ledger\"") && !has(&b, "#ledger\">"),
	   "without sync calls: the devices alone");
	ok(!has(&b, "<dt>lasted"), "a length that nobody knows is left out");
	buf_free(&b);
	r.have_sync = true;
	r.sync.count = 0;
	b = page(&r);
	ok(has(&b, "No sync call was made."), "sync calls were traced, and none was made");
	buf_free(&b);
	r.incomplete = true;
	b = page(&r);
	ok(has(&b, "No sync call was seen.") && !has(&b, "was made"), "what is incomplete may lack one");
	r.incomplete = false;
	buf_free(&b);
	r.under_way = 1;
	b = page(&r);
	ok(has(&b, "No sync call returned.") && !has(&b, "was made"), "one was made, and hangs");
	r.under_way = 0;
	buf_free(&b);
}

/* ---- maps ---- */

/* ---- bounds ---- */

TEST(large)
{
	static const char name[] = "/srv/\"<&'>\"<&'>/a/rather/long/path/with/many/parts/as/databases/like/them/t.ibd";
	FREED(report) struct report r;
	FREED(buf) struct buf b;
	json_t *j;

	fill(&r, name);
	for (size_t i = 0; i < 2048; i++)
		add_group(&r.sync.file, &r.sync.n_files, name, false);
	for (size_t i = 0; i < 1024; i++)
		add_group(&r.sync.process, &r.sync.n_processes, name, true);
	for (size_t i = 0; i < 8192; i++)
		add_leaf(&r.sync, i, name);
	for (uint64_t i = 0; i < 180; i++)
		add_call(&r.sync, i * MS, 9 * MS, name);
	for (size_t i = 0; i < 40; i++)
		add_device(&r, "sda");
	b = page(&r);
	j = embedded(&b);
	ok(b.len < 5u << 20, "whatever was traced, the page is below 5 MiB");
	diag("%zu bytes", b.len);
	ok(!*misnested(b.data), "and well-formed");
	ok(json_is_string(json_object_get(j, "left_out")) && json_object_get(j, "sync"),
	   "the report for machines is cut down, and says so");
	ok(has(&b, "more are left out here"), "so are tables");
	json_decref(j);
}

int main(void)
{
	tests_run();
	return tap_done();
}

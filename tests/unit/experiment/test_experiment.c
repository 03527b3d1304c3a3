// SPDX-License-Identifier: GPL-2.0-only
/* What an experiment sets and puts back, on a made-up machine: the words of --set, places, the state file, kill -9. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/buf.h"
#include "experiment/variants.h"
#include "experiment/restore_file.h"
#include "check.h"
#include "fake_tree.h"
#include "golden.h"
#include "util/mem.h"

/* ---- the machine ---- */

#define SDA "pci/ata1/block/sda"
#define SDB "pci/ata2/block/sdb"

static void make_machine(void)
{
	DEVICE(SDA, "8:0", "queue/scheduler=[none] mq-deadline bfq\n", "queue/nr_requests=64\n",
	       "queue/wbt_lat_usec=2000\n", "queue/rq_affinity=1\n", "queue/read_ahead_kb=128\n",
	       "queue/write_cache=write back\n", "diskseq=7\n", "size=800\n", "queue/iosched/slice=8\n");
	DEVICE(SDB, "8:16", "queue/scheduler=[none] mq-deadline\n", "queue/nr_requests=32\n", "diskseq=8\n", "size=800\n");
	put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
	put("sys/devices/system/cpu/cpu0/cpufreq/scaling_available_governors", "performance powersave\n");
	put("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "schedutil\n");
	put("sys/devices/system/cpu/cpufreq/scaling_governor", "none of ours\n");
	put("proc/self/mountinfo", "21 1 8:0 / /srv/a\\040b rw,noatime - ext4 /dev/sda rw\n"
				   "22 1 8:16 / /srv/b rw - xfs /dev/sdb rw\n");
	put("proc/fs/ext4/sda/options", "rw\nnobarrier\nmax_batch_time=15000\ncommit=5\nnodiscard\nbarrier_like\n");
}

static char *const both_disks[] = { "sda", "sdb", NULL }, *const first_disk[] = { "sda", NULL };
static const struct place_target sda = { first_disk, "/srv/a b", "ext4", 8, 0, NULL };
static const struct place_target two = { both_disks, "/srv/b", "xfs", 8, 16, NULL };
static const struct place_target none = { NULL, NULL, NULL, 0, 0, "it is mounted nowhere" };

/* The plan of these words; ended by NULL. */
static struct plan plan_of(const struct place_target *t, const char *const *words)
{
	struct plan p = { 0 };
	struct err e = { 0 };

	for (; *words; words++)
		if (plan_add(&p, *words, &e))
			diag("%s: %s", *words, e.text);
	plan_complete(&p);
	if (plan_find(&p, t, &e))
		diag("%s", e.text);
	return p;
}

#define PLAN(target, ...) plan_of(target, (const char *const[]){ __VA_ARGS__, NULL })

static void file_is(const char *path, const char *want)
{
	char *whole = full(path), *text = file_text(whole);

	is_str(text, want, path);
	free(text);
	free(whole);
}

/* ---- the words of --set ---- */

static void refuses(const char *word, const char *says)
{
	struct plan p = { 0 };
	struct err e = { 0 };

	is_int(plan_add(&p, word, &e), -EINVAL, word);
	if (!ok(e.status == EXIT_USAGE && strstr(e.text, says), "  says %s", says))
		diag("%s", e.text);
	is_int((long)p.n, 0, "  and adds nothing");
	plan_free(&p);
}

static void test_words(void)
{
	struct plan p = { 0 };
	struct err e = { 0 };

	is_int(plan_add(&p, "write_cache=through,nr_requests=007", &e), 0, "two keys at once");
	is_int((long)p.variant[0].n, 2, "both are there");
	is_str(p.variant[0].set[0].value, "write through", "a value is written as the kernel has it");
	is_str(p.variant[0].set[1].value, "7", "a number too");
	ok(plan_unsafe(&p) == key_find("write_cache", 11), "write_cache is unsafe");
	plan_complete(&p);
	is_str(p.variant[0].name, "as it is", "a single variant is compared with what is");
	is_int((long)p.n, 2, "that makes two");
	plan_free(&p);
	refuses("", "KEY=VALUE");
	refuses("barrier", "KEY=VALUE");
	refuses("=1", "KEY=VALUE");
	refuses("barrier=", "0 or 1");
	refuses("barrier=2", "0 or 1");
	refuses("barrier=1,", "KEY=VALUE");
	refuses("barrier=1,barrier=0", "twice");
	refuses("bariers=1", "did you mean barrier?");
	refuses("nothing_like_it=1", "there are scheduler, nr_requests");
	refuses("iosched=1", "no key");
	refuses("nr_requests=-1", "a number from 1 to 65536");
	refuses("nr_requests=0", "a number from 1");
	refuses("nr_requests=99999999999999999999999", "a number from 1");
	refuses("commit=1x", "a number");
	refuses("scheduler=../../evil", "a name");
	refuses("scheduler=none\tbfq", "a name");
	refuses("governor=", "a name");
	refuses("write_cache=maybe", "back or through");
}

/* ---- places ---- */

static void no_place(const struct place_target *t, const char *word, const char *says)
{
	struct plan p = { 0 };
	struct err e = { 0 };

	plan_add(&p, word, &e);
	ok(plan_find(&p, t, &e) < 0, "%s is refused here", word);
	if (!ok(strstr(e.text, says), "  with '%s'", says))
		diag("%s", e.text);
	plan_free(&p);
}

static void test_places(void)
{
	struct plan p = PLAN(&sda,
			     "noatime=0,commit=9,max_batch_time=1,barrier=1,discard=1,rq_affinity=2,read_ahead_kb=1,"
			     "write_cache=through,governor=powersave",
			     "scheduler=bfq");
	struct buf b = { 0 };

	for (size_t i = 0; i < p.n_places; i++)
		buf_printf(&b, "%s %s: %s\n", p.place[i].row->name, p.place[i].unit, p.place[i].before);
	golden("experiment_places", "txt", b.data);
	plan_free(&p);
	buf_free(&b);
	p = PLAN(&sda, "write_cache=through");
	ok(p.n_places == 2 && !strcmp(p.place[0].row->name, "write_cache") && !strcmp(p.place[1].row->name, "read_ahead_kb"),
	   "read_ahead_kb is put back after write_cache, which resets it");
	plan_free(&p);
	no_place(&sda, "scheduler=kyber", "sda offers");
	no_place(&two, "wbt_lat_usec=0", "sdb has no wbt_lat_usec");
	no_place(&two, "barrier=0", "/srv/b is xfs");
	no_place(&none, "barrier=0", "mounted nowhere");
	no_place(&none, "scheduler=none", "no disk");
	no_place(&sda, "governor=turbo", "cpu0 offers");
}

static void test_apply(void)
{
	struct plan p = PLAN(&sda, "scheduler=bfq", "scheduler=mq-deadline,nr_requests=9", "rq_affinity=0");
	struct err e = { 0 };

	is_int(plan_apply(&p, &p.variant[0], &e), 0, "a variant is set");
	file_is("sys/devices/" SDA "/queue/scheduler", "bfq");
	file_is("sys/devices/" SDA "/queue/nr_requests", "64");
	is_int(plan_apply(&p, &p.variant[1], &e), 0, "and another");
	file_is("sys/devices/" SDA "/queue/scheduler", "mq-deadline");
	file_is("sys/devices/" SDA "/queue/nr_requests", "9");
	put("sys/devices/" SDA "/queue/wbt_lat_usec", "0\n"); /* as if the kernel had */
	is_int(plan_apply(&p, &p.variant[2], &e), 0, "a third, without the keys of the second");
	file_is("sys/devices/" SDA "/queue/scheduler", "none");
	file_is("sys/devices/" SDA "/queue/nr_requests", "64");
	file_is("sys/devices/" SDA "/queue/wbt_lat_usec", "2000");
	file_is("sys/devices/" SDA "/queue/rq_affinity", "0");
	put("sys/devices/" SDA "/diskseq", "99\n");
	ok(plan_apply(&p, &p.variant[0], &e) < 0 && strstr(e.text, "is gone"), "another disk of that name is not touched");
	plan_free(&p);
	make_machine();
}

/* ---- the state's text ---- */

static struct state state_of(const struct plan *p, int pid)
{
	static struct state_disk disk[2] = { { 8, 0, "sda" }, { 8, 16, "sd b\"\xff" } };

	return (struct state){ .pid = pid, .disk = disk, .n_disks = 2, .place = p->place, .n = p->n_places };
}

static void damaged(const char *text, const char *name)
{
	struct state s = { .pid = -7 };
	struct err e = { 0 };

	ok(state_decode(text, strlen(text), &s, &e) == -EBADMSG && s.pid == -7, "%s", name);
}

static void damaged_setting(const char *setting)
{
	char *text = xasprintf("{\"version\":1,\"pid\":1,\"disks\":[],\"settings\":[{\"major\":8,\"minor\":0,%s}]}",
			       setting);

	damaged(text, setting);
	free(text);
}

static void test_damage(const struct buf *b)
{
	bool all = true;

	for (size_t n = 0; n + 1 < b->len; n++) { /* but for the last line's end */
		struct state s = { 0 };
		struct err e = { 0 };

		all &= state_decode(b->data, n, &s, &e) == -EBADMSG;
	}
	ok(all, "cut off anywhere it is damaged");
	damaged("", "nothing at all");
	damaged("{\"version\":2,\"pid\":1,\"disks\":[],\"settings\":[]}", "another version");
	damaged("{\"version\":1,\"pid\":0,\"disks\":[],\"settings\":[]}", "no process");
	damaged("{\"version\":1,\"pid\":1,\"settings\":[]}", "no disks");
	damaged("{\"version\":1,\"pid\":1,\"disks\":[{\"major\":8,\"minor\":0,\"name\":\"a/b\"}],\"settings\":[]}",
		"no disk's name");
	damaged("{\"version\":1,\"pid\":4294971007,\"disks\":[],\"settings\":[]}", "a process number that does not fit");
	damaged("{\"version\":1,\"pid\":1,\"disks\":[{\"name\":\"sda\",\"major\":8}],\"settings\":[]}",
		"half a disk's number");
	damaged_setting("\"diskseq\":1");
	damaged_setting("\"diskseq\":1,\"key\":\"no_key\",\"unit\":\"sda\",\"before\":\"none\"");
	damaged_setting("\"diskseq\":1,\"key\":\"scheduler\",\"unit\":\"sda\"");
	damaged_setting("\"diskseq\":1,\"key\":\"scheduler\",\"unit\":\"../../etc\",\"before\":\"none\"");
	damaged_setting("\"diskseq\":1,\"key\":\"scheduler\",\"unit\":\"..\",\"before\":\"none\"");
	damaged_setting("\"diskseq\":1,\"key\":\"scheduler\",\"unit\":\"\",\"before\":\"none\"");
	damaged_setting("\"diskseq\":1,\"key\":\"scheduler\",\"unit\":\"sda\",\"sub\":\"sub\",\"before\":\"none\"");
	damaged_setting("\"diskseq\":1,\"key\":\"scheduler\",\"unit\":7,\"before\":\"none\"");
	damaged_setting("\"diskseq\":1,\"key\":\"iosched\",\"unit\":\"sda\",\"before\":\"8\"");
	damaged_setting("\"diskseq\":1,\"key\":\"iosched\",\"unit\":\"sda\",\"sub\":\"a/b\",\"before\":\"8\"");
	damaged_setting("\"diskseq\":1,\"key\":\"barrier\",\"unit\":\"relative\",\"before\":\"1\"");
	damaged_setting("\"key\":\"scheduler\",\"unit\":\"sda\",\"before\":\"none\"");
	damaged_setting("\"diskseq\":-1,\"key\":\"scheduler\",\"unit\":\"sda\",\"before\":\"none\"");
	damaged_setting("\"diskseq\":1,\"key\":\"scheduler\",\"unit\":{\"hex\":\"736400\"},\"before\":\"none\"");
	damaged_setting("\"diskseq\":1,\"key\":\"scheduler\",\"unit\":{\"hex\":\"73zz\"},\"before\":\"none\"");
	damaged_setting("\"diskseq\":1,\"key\":\"governor\",\"unit\":\"sda\",\"before\":\"x\"");
}

static void test_text(void)
{
	struct plan p = PLAN(&sda, "scheduler=bfq,noatime=0,governor=powersave");
	struct state s = state_of(&p, 4711), back = { 0 };
	struct err e = { 0 };
	struct buf b = { 0 };
	bool same;

	state_encode(&s, &b);
	is_int(state_decode(b.data, b.len, &back, &e), 0, "a state is read back");
	same = back.pid == 4711 && back.n == s.n && back.n_disks == 2 && !strcmp(back.disk[1].name, "sd b\"\xff");
	for (size_t i = 0; same && i < s.n; i++) {
		const struct place *x = &s.place[i], *y = &back.place[i];

		same = x->row == y->row && !strcmp(x->unit, y->unit) && !strcmp(x->before, y->before) &&
		       x->major == y->major && x->minor == y->minor && x->diskseq == y->diskseq && !x->sub == !y->sub;
	}
	ok(same, "whatever is in its names");
	test_damage(&b);
	state_free(&back);
	buf_free(&b);
	plan_free(&p);
}

/* ---- the state's file ---- */

struct told {
	unsigned int n[PUT_DAMAGED + 1];
};

static void tell(void *ctx, enum put_back how, const struct place *p, const char *text)
{
	(void)p;
	(void)text;
	((struct told *)ctx)->n[how]++;
}

static char *folder;

/* An experiment that is killed after it has set a variant. */
static void killed_experiment(const struct place_target *t, const char *word)
{
	struct plan p = PLAN(t, word);
	struct state_claim claim = STATE_CLAIM_NONE;
	struct err e = { 0 };
	int status;
	pid_t pid = fork();

	if (!pid) {
		struct state s = state_of(&p, getpid());

		if (!state_claim(folder, &s, &claim, &e) && !plan_apply(&p, &p.variant[1], &e))
			raise(SIGKILL);
		fprintf(stderr, "# %s\n", e.text);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "%s is set, and the experiment killed", word);
	plan_free(&p);
}

static struct told restore(int want)
{
	struct told t = { 0 };
	struct err e = { 0 };
	unsigned int found;
	int n = state_restore_all(folder, tell, &t, &found, &e);

	is_int(n, want, "restored");
	if (n < 0)
		diag("%s", e.text);
	return t;
}

static void test_changed_machine(void)
{
	struct told t;
	char *gone = full("sys/class/block/sda"), *also = full("sys/devices/" SDA "/dev");

	killed_experiment(&sda, "nr_requests=5");
	put("sys/devices/" SDA "/diskseq", "99\n");
	t = restore(0);
	is_int(t.n[PUT_OTHER], 1, "another disk of that name is told of");
	file_is("sys/devices/" SDA "/queue/nr_requests", "5");
	make_machine();
	killed_experiment(&sda, "nr_requests=5");
	put("sys/devices/" SDA "/diskseq", "99\n");
	put("sys/devices/" SDA "/size", "0\n");
	restore(0);
	file_is("sys/devices/" SDA "/queue/nr_requests", "64");
	make_machine();
	killed_experiment(&sda, "nr_requests=5");
	unlink(gone);
	unlink(also);
	t = restore(0);
	is_int(t.n[PUT_GONE], 1, "a disk that is gone needs nothing");
	make_machine();
	free(gone);
	free(also);
}

/* A value that cannot be put back stays noted. */
static void test_failure(void)
{
	char *file = full("sys/devices/" SDA "/queue/nr_requests");

	killed_experiment(&sda, "nr_requests=5");
	unlink(file);
	mkdir(file, 0755);
	is_int(restore(1).n[PUT_FAILED], 1, "what cannot be put back is told");
	rmdir(file);
	put("sys/devices/" SDA "/queue/nr_requests", "5\n");
	is_int(restore(0).n[PUT_BACK], 1, "and put back when it can");
	free(file);
}

static void claims(const struct state *s, const char *says, const char *name)
{
	struct state_claim claim = STATE_CLAIM_NONE;
	struct err e = { 0 };
	int err = state_claim(folder, s, &claim, &e);

	if (!ok(says ? err && strstr(e.text, says) : !err, "%s", name))
		diag("%s", e.text);
	state_release(&claim);
}

static void test_folder(void)
{
	struct plan p = PLAN(&sda, "rq_affinity=0");
	struct state s = state_of(&p, 3);
	char *bad = full("run/state/experiment.9"), *target = full("run/elsewhere"), *link = full("run/link"),
	     *was = folder;
	struct told t;

	put("run/state/experiment.9", "nonsense");
	chmod(bad, 0600);
	claims(&s, "is damaged", "beside a damaged file nothing is begun");
	t = restore(1);
	is_int(t.n[PUT_DAMAGED], 1, "--restore tells of a damaged file");
	ok(!access(bad, F_OK), "and leaves it");
	unlink(bad);
	if (symlink("../elsewhere", bad))
		diag("no symlink");
	put("run/elsewhere", "");
	claims(&s, "will not trust", "a symbolic link is not followed");
	is_int(restore(1).n[PUT_DAMAGED], 1, "nor by --restore");
	unlink(bad);
	put("run/state/experiment.9", "");
	chmod(bad, 0666);
	claims(&s, "will not trust", "a file that others may write is not trusted");
	unlink(bad);
	chmod(folder, 0777);
	claims(&s, "others could write", "nor a folder");
	chmod(folder, 0700);
	if (symlink("state", link))
		diag("no symlink");
	folder = link;
	claims(&s, "cannot use", "nor a folder that is a link");
	folder = target;
	claims(&s, "cannot use", "nor a file in its place");
	folder = was;
	is_int((long)strlen(folder) > 0 && restore(0).n[PUT_BACK] == 0, 1, "nothing is left behind");
	free(bad);
	free(target);
	free(link);
	plan_free(&p);
}

int main(int argc, char **argv)
{
	golden_begin(argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	tree_make();
	folder = full("run/state");
	make_machine();
	test_words();
	test_places();
	test_apply();
	test_text();
	test_changed_machine();
	test_failure();
	test_folder();
	free(folder);
	return tree_done();
}

// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/live_screen.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "cmd/outputs.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/num.h"
#include "render/tui/screen.h"
#include "util/utf8.h"

#define ESCAPE_MS 50	      /* a lone Esc is told from a key that sends several bytes, also at 9600 baud */
#define HELD_MOST (16l << 20) /* bytes */
#define REDRAW	  0x0c	      /* Ctrl-L */

struct live {
	struct screen_state state;
	struct screen_grid drawn, next;
	struct report interval, run;
	bool have_interval, have_run;
	bool unicode, color, bright;
	SCREEN *screen;
	int held, own_stderr;	 /* -1: none */
	off_t released, dropped; /* of what is held */
	bool open, gone;
};

/* ---- for handlers: whatever ends this process, the terminal is usable afterwards ---- */

static struct {
	volatile sig_atomic_t armed;
	struct termios termios;
	char strings[512]; /* what makes the terminal usual again */
	size_t n;
	int held;
	off_t released;
} rescue = { .held = -1 };

/* Only what is safe in a handler. */
static void copy_out(int from, off_t *at, int to)
{
	char bytes[4096];
	ssize_t n;

	while ((n = pread(from, bytes, sizeof(bytes), *at)) > 0) {
		for (ssize_t done = 0, w; done < n; done += w) {
			w = write(to, bytes + done, (size_t)(n - done));
			if (w <= 0)
				return;
		}
		*at += n;
	}
}

static void restore_terminal(void)
{
	sigset_t ttou, before;

	if (!rescue.armed)
		return;
	rescue.armed = 0;
	/* from the background we would be stopped by it */
	sigemptyset(&ttou);
	sigaddset(&ttou, SIGTTOU);
	sigprocmask(SIG_BLOCK, &ttou, &before);
	if (write(STDOUT_FILENO, rescue.strings, rescue.n) >= 0)
		copy_out(rescue.held, &rescue.released, STDOUT_FILENO);
	tcsetattr(STDIN_FILENO, TCSANOW, &rescue.termios);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static struct sigaction replaced[NSIG];

static void on_deadly(int sig)
{
	restore_terminal();
	sigaction(sig, &replaced[sig], NULL);
	raise(sig);
}

/* Every signal that ends a process, but for those that the caller reads and those that are ignored. */
static void catch_deadly(const sigset_t *handled)
{
	static char stack[64 << 10];
	static const int harmless[] = {
		SIGKILL, SIGSTOP, SIGCHLD, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH,
	};
	struct sigaction now, on = { .sa_handler = on_deadly, .sa_flags = SA_NODEFER | SA_ONSTACK };
	const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };

	sigaltstack(&alternate, NULL);
	for (int s = 1; s < NSIG; s++) {
		bool skip = sigismember(handled, s) == 1;

		for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
			skip |= harmless[i] == s;
		if (!skip && !sigaction(s, NULL, &now) && now.sa_handler != SIG_IGN && now.sa_handler != on_deadly)
			sigaction(s, &on, &replaced[s]);
	}
}

static void add_string(const char *name)
{
	const char *s = tigetstr(name);

	if (!s || s == (char *)-1)
		return;
	while (*s && rescue.n < sizeof(rescue.strings)) {
		/* padding, "$<5/>", is for slow terminals and not to be sent */
		if (s[0] == '$' && s[1] == '<' && strchr(s, '>'))
			s = strchr(s, '>') + 1;
		else
			rescue.strings[rescue.n++] = *s++;
	}
}

static void arm(const struct live *l, const struct termios *before)
{
	static const char *const usual[] = { "sgr0", "op", "rmkx", "cnorm", "rmcup" };
	static bool registered;

	rescue.n = 0;
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		add_string(usual[i]);
	if (rescue.n + 2 <= sizeof(rescue.strings)) {
		memcpy(rescue.strings + rescue.n, "\r\n", 2);
		rescue.n += 2;
	}
	rescue.termios = *before;
	rescue.held = l->held;
	rescue.released = 0;
	if (!registered)
		atexit(restore_terminal);
	registered = true;
	rescue.armed = 1;
}

/* ---- what is held back ---- */

int live_held_fd(const struct live *l)
{
	return l->held;
}

static int open_held(struct live *l, struct err *e)
{
	l->held = memfd_create("held back from the terminal", MFD_CLOEXEC);
	if (l->held < 0 || fcntl(l->held, F_SETFL, O_APPEND))
		return err_set(e, errno, EXIT_FAILED, "cannot hold back output: %s", strerror(errno));
	return 0;
}

void live_trim(struct live *l)
{
	const off_t page = sysconf(_SC_PAGESIZE);
	struct stat st;
	off_t until;

	if (fstat(l->held, &st) || st.st_size - l->released <= HELD_MOST)
		return;
	until = (st.st_size - HELD_MOST / 2) / page * page;
	if (fallocate(l->held, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, until))
		return;
	l->dropped += until - l->released;
	l->released = rescue.released = until;
}

void live_release(struct live *l)
{
	if (l->dropped)
		log_error("%s of the output that was held back are left out: it was more than is kept",
			  num_bytes((uint64_t)l->dropped, 0).s);
	l->dropped = 0;
	copy_out(l->held, &l->released, STDOUT_FILENO);
}

/* ---- opening ---- */

bool live_possible(void)
{
	const char *term = getenv("TERM");
	bool can;
	int err;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !term || !*term || !strcmp(term, "dumb"))
		return false;
	if (setupterm(term, STDOUT_FILENO, &err)) {
		log_note("no live screen: this machine has no terminfo %s%s",
			 err < 0 ? "at all" : "for TERM=", err < 0 ? "" : term);
		return false;
	}
	can = cursor_address && clear_screen;
	del_curterm(cur_term);
	return can;
}

/*
 * Of the locale only what a character is: numbers and dates stay as they are. C.UTF-8 is in the C library itself, for
 * machines that don't have the locale's own files. For another charset the C library would load a converter, which a
 * static build must not, and we draw with ASCII anyway.
 */
static bool utf8_terminal(void)
{
	if (setlocale(LC_CTYPE, "") && !strcmp(nl_langinfo(CODESET), "UTF-8"))
		return true;
	if (outputs_utf8_locale() && setlocale(LC_CTYPE, "C.UTF-8"))
		return true;
	setlocale(LC_CTYPE, "C");
	return false;
}

int live_new(bool ascii, struct live **out, struct err *e)
{
	struct live *l = xcalloc(1, sizeof(*l));
	int err;

	l->own_stderr = -1;
	l->unicode = !ascii && utf8_terminal();
	err = open_held(l, e);
	if (err) {
		free(l);
		return err;
	}
	*out = l;
	return 0;
}

/* The colours of the text output: a cause's family has the same everywhere. */
static void init_colors(struct live *l)
{
	/* clang-format off */
	static const short family[FAMILY_COUNT] = {
		[FAMILY_HOST] = -1, [FAMILY_CPU_SCHEDULER] = COLOR_MAGENTA, [FAMILY_IO_SCHEDULER] = COLOR_BLUE,
		[FAMILY_DEVICE] = COLOR_YELLOW, [FAMILY_FLUSH] = COLOR_CYAN, [FAMILY_FILE_SYSTEM] = COLOR_GREEN,
		[FAMILY_UNKNOWN] = COLOR_RED,
	};
	/* clang-format on */
	const char *no_color = getenv("NO_COLOR");
	short back = -1;

	if ((no_color && *no_color) || !has_colors() || start_color() == ERR)
		return;
	l->color = true;
	l->bright = COLORS >= 16;
	if (use_default_colors() == ERR)
		back = COLOR_BLACK;
	for (int f = 0; f < FAMILY_COUNT; f++) {
		short c = family[f] < 0 && back >= 0 ? COLOR_WHITE : family[f];

		init_pair((short)(1 + f), f == FAMILY_IO_SCHEDULER && l->bright ? (short)(c + 8) : c, back);
	}
	init_pair(1 + FAMILY_COUNT, COLOR_RED, back);
}

static void never_runs(int sig)
{
	(void)sig;
}

/*
 * ncurses catches signals that nobody catches. It would also ignore SIGTSTP while it draws, which discards one that
 * waits to be read. They are blocked, so this handler is there for ncurses to see.
 */
static void keep_signals(const sigset_t *handled)
{
	struct sigaction now;

	for (int s = 1; s < NSIG; s++)
		if (sigismember(handled, s) == 1 && !sigaction(s, NULL, &now) && now.sa_handler == SIG_DFL)
			signal(s, never_runs);
}

static int take_terminal(struct live *l, const sigset_t *handled, struct err *e)
{
	struct termios before;

	if (tcgetattr(STDIN_FILENO, &before))
		return err_set(e, errno, EXIT_FAILED, "cannot use the terminal: %s", strerror(errno));
	keep_signals(handled);
	l->screen = newterm(NULL, stdout, stdin);
	if (!l->screen)
		return err_set(e, EINVAL, EXIT_FAILED, "cannot use the terminal: --plain does without a live screen");
	arm(l, &before);
	catch_deadly(handled);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	intrflush(stdscr, FALSE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	init_colors(l);
	return 0;
}

static void hold_stderr(struct live *l)
{
	if (!isatty(STDERR_FILENO))
		return;
	l->own_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (l->own_stderr >= 0)
		dup2(l->held, STDERR_FILENO);
}

static void draw(struct live *l);

int live_open(struct live *l, const sigset_t *handled, struct err *e)
{
	int err = take_terminal(l, handled, e);

	if (err)
		return err;
	hold_stderr(l);
	l->open = true;
	screen_state_init(&l->state, l->unicode, l->color);
	draw(l);
	return 0;
}

/* ---- drawing ---- */

static attr_t attributes(const struct live *l, int style, short *pair)
{
	/* clang-format off */
	static const attr_t plain[SCREEN_FAMILY] = {
		[SCREEN_TOP] = A_REVERSE, [SCREEN_TITLE] = A_UNDERLINE, [SCREEN_FOCUS] = A_UNDERLINE | A_BOLD,
		[SCREEN_BOLD] = A_BOLD, [SCREEN_DIM] = A_DIM, [SCREEN_WARN] = A_BOLD | A_REVERSE,
		[SCREEN_CHOSEN] = A_REVERSE,
		[SCREEN_KEY] = A_BOLD,
	};
	/* clang-format on */
	int family = style - SCREEN_FAMILY;

	*pair = 0;
	if (style < SCREEN_FAMILY) {
		if (style == SCREEN_WARN && l->color)
			*pair = 1 + FAMILY_COUNT;
		return plain[style];
	}
	if (!l->color)
		return A_NORMAL;
	*pair = (short)(1 + family);
	return family == FAMILY_IO_SCHEDULER && !l->bright ? A_BOLD : A_NORMAL;
}

/* What the C library would give another width would shift the rest of the line. */
static void put_cell(const struct live *l, unsigned int row, unsigned int col, const struct screen_cell *c)
{
	wchar_t text[CCHARW_MAX + 1] = { 0 };
	size_t n = 0, len;
	cchar_t cc;
	short pair;
	attr_t a = attributes(l, c->style, &pair);
	uint32_t cp;

	for (const char *s = c->text; *s && n < CCHARW_MAX; s += len) {
		len = utf8_decode(s, &cp);
		text[n++] = (wchar_t)cp;
	}
	if (wcwidth(text[0]) != c->width) {
		text[0] = c->width == 2 ? L'\xff1f' : L'?';
		text[1] = 0;
	}
	if (setcchar(&cc, text, a, pair, NULL) == OK)
		mvadd_wch((int)row, (int)col, &cc);
}

static void put_grid(struct live *l, bool all)
{
	const struct screen_grid *g = &l->next;

	for (unsigned int row = 0; row < g->rows; row++)
		for (unsigned int col = 0; col < g->cols; col++) {
			size_t at = (size_t)row * g->cols + col;

			if (g->cell[at].width && (all || memcmp(&g->cell[at], &l->drawn.cell[at], sizeof(*g->cell))))
				put_cell(l, row, col, &g->cell[at]);
		}
}

static void draw(struct live *l)
{
	const struct screen_view v = {
		.interval = l->have_interval ? &l->interval : NULL,
		.run = l->have_run ? &l->run : NULL,
		.state = &l->state,
	};
	struct screen_grid old = l->drawn;
	bool all;

	if (!l->open || l->gone)
		return;
	l->next.rows = (unsigned int)LINES;
	l->next.cols = (unsigned int)COLS;
	screen_draw(&v, &l->next);
	all = l->next.rows != l->drawn.rows || l->next.cols != l->drawn.cols;
	if (all)
		erase();
	put_grid(l, all);
	/* where what others write meanwhile does the least harm: it doesn't scroll */
	move(0, 0);
	refresh();
	l->drawn = l->next;
	l->next = old;
}

void live_show(struct live *l, struct report *interval, struct report *run)
{
	if (interval) {
		report_free(&l->interval);
		l->interval = *interval;
		l->have_interval = true;
		memset(interval, 0, sizeof(*interval));
		screen_note(&l->state, &l->interval);
	}
	if (run) {
		report_free(&l->run);
		l->run = *run;
		l->have_run = true;
		memset(run, 0, sizeof(*run));
	}
	draw(l);
}

void live_stopping(struct live *l)
{
	l->state.stopping = true;
	draw(l);
}

/* ---- keys ---- */

int live_fd(const struct live *l)
{
	return l && l->open && !l->gone ? STDIN_FILENO : -1;
}

static int screen_key(int key)
{
	switch (key) {
	case KEY_UP: return SCREEN_UP;
	case KEY_DOWN: return SCREEN_DOWN;
	case KEY_PPAGE: return SCREEN_PAGE_UP;
	case KEY_NPAGE: return SCREEN_PAGE_DOWN;
	case KEY_HOME: return SCREEN_HOME;
	case KEY_END: return SCREEN_END;
	case KEY_ENTER: return SCREEN_ENTER;
	case KEY_BACKSPACE:
	case KEY_DC:
	case KEY_LEFT: return SCREEN_BACK;
	case KEY_RIGHT: return SCREEN_ENTER;
	default: return key < 256 ? key : 0;
	}
}

/* Without this, a terminal that hung up would be found readable for ever. */
static bool hung_up(void)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR | POLLNVAL));
}

enum live_wish live_keys(struct live *l)
{
	bool changed = false;
	int key;

	if (hung_up()) {
		l->gone = true;
		return LIVE_GONE;
	}
	while ((key = getch()) != ERR) {
		if (key == 'q')
			return LIVE_QUIT;
		if (key == REDRAW) {
			clearok(curscr, TRUE);
			changed = true;
		} else {
			changed |= screen_press(&l->state, l->have_interval ? &l->interval : NULL,
						l->have_run ? &l->run : NULL, screen_key(key));
		}
	}
	if (changed)
		draw(l);
	return LIVE_NOTHING;
}

/* ---- size, suspend, continue ---- */

void live_resize(struct live *l)
{
	struct winsize ws;

	if (!l->open || ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) || !ws.ws_row || !ws.ws_col)
		return;
	if (ws.ws_row == LINES && ws.ws_col == COLS)
		return;
	resizeterm(ws.ws_row, ws.ws_col);
	clearok(curscr, TRUE);
	draw(l);
}

/* Whoever had the terminal meanwhile has left it in another state. */
void live_continue(struct live *l)
{
	if (!l->open || l->gone)
		return;
	endwin();
	refresh();
	clearok(curscr, TRUE);
	live_resize(l);
	draw(l);
}

void live_suspend(struct live *l)
{
	struct sigaction before, stop = { .sa_handler = SIG_DFL };
	sigset_t tstp;

	if (!l->open || l->gone || sigaction(SIGTSTP, NULL, &before) || before.sa_handler == SIG_IGN)
		return;
	endwin();
	sigemptyset(&tstp);
	sigaddset(&tstp, SIGTSTP);
	sigaction(SIGTSTP, &stop, NULL);
	raise(SIGTSTP);
	/* here we stop, and from here we go on */
	sigprocmask(SIG_UNBLOCK, &tstp, NULL);
	sigprocmask(SIG_BLOCK, &tstp, NULL);
	sigaction(SIGTSTP, &before, NULL);
	live_continue(l);
}

/* ---- the end ---- */

void live_close(struct live *l)
{
	if (!l || !l->open)
		return;
	l->open = false;
	rescue.armed = 0;
	if (!l->gone)
		endwin();
	tcsetattr(STDIN_FILENO, TCSADRAIN, &rescue.termios);
	if (l->own_stderr >= 0) {
		dup2(l->own_stderr, STDERR_FILENO);
		close(l->own_stderr);
		l->own_stderr = -1;
	}
	live_release(l);
}

void live_free(struct live *l)
{
	if (!l)
		return;
	live_close(l);
	if (l->screen)
		delscreen(l->screen);
	screen_grid_free(&l->drawn);
	screen_grid_free(&l->next);
	screen_state_free(&l->state);
	report_free(&l->interval);
	report_free(&l->run);
	rescue.held = -1;
	close(l->held);
	free(l);
}

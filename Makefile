# SPDX-License-Identifier: GPL-2.0-only
# One Makefile, no recursion, no configure.
#
# "make help" lists the targets and the variables.

##   make                build into $(O)
##   make demo           profile 500 SQLite inserts on this machine's disk
##   make install        install to $(DESTDIR)$(PREFIX); make uninstall removes it
##   make static         build one file that needs no library: $(O)/static/ARCH/barriertrace
##   make dist           build such files for x86_64 and arm64 in $(O)/dist, with sizes and SHA-256 sums
##   make bench          measure what tracing costs, beside other tools (BENCH="block.none kept": some rows)
##
##   make check          test what holds on any machine in any mood: before every change (minutes, root)
##   make check-truth    measure against known answers, with bounds: after a change of probes, analysis,
##                       verdict or what-if (40 minutes; N=10: each scenario ten times)
##   make check-kernels  run it in QEMU with Debian's kernels: after a change of probes, rungs or vm
##                       (25 minutes; FULL=1: all cells, hours; KERNELS="6.1 7.2"; WRITE=1: into docs/reference/kernels.md)
##   make fuzz           run the fuzz targets, two at once: after a change of what reads files (35 minutes;
##                       T=60: seconds of each, K="state card": only these)
##   make check-all      run all three tiers, with one table at the end: before a release
##
##   T=FILE K=TEXT       only this test file (or folder), only tests whose name contains TEXT
##   V=1                 full command lines
##   O=DIR               build directory (default: build)
##   WERROR=1            warnings are errors (in the checks they are)
##   SAN=1               address and undefined-behaviour sanitizers
##   SAN=thread          thread sanitizer; "make check SAN=thread" runs the units that have threads, and these only
##   ARCH=arm64          build for another architecture (static, after scripts/setup cross)
##
## demo, bench and the checks install what is missing first (scripts/setup).

O ?= build
PREFIX ?= /usr/local
CLANG ?= clang
# Ubuntu's /usr/sbin/bpftool is a wrapper that fails without tools for the running kernel: any version's will do
BPFTOOL ?= $(shell for b in bpftool /usr/sbin/bpftool /usr/lib/linux-tools/*/bpftool; do \
	$$b version >/dev/null 2>&1 && echo $$b && break; done || echo bpftool)
PKG_CONFIG ?= pkg-config

CFLAGS ?= -O2 -g
WARN := -Wall -Wextra $(if $(WERROR),-Werror)
INCLUDES := -Isrc -Ibpf -I$(O)/gen
VERSION := $(shell cat VERSION)
HOST_ARCH := $(subst aarch64,arm64,$(shell uname -m))
ARCH ?= $(HOST_ARCH)
ifeq ($(filter $(ARCH),x86_64 arm64),)
$(error no such architecture here: $(ARCH))
endif
BPF_ARCH := $(subst x86_64,x86,$(ARCH))
TRIPLET := $(subst arm64,aarch64,$(ARCH))-linux-gnu

comma := ,

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s %s\n'
endif

LIBS := libbpf libelf zlib libzstd jansson sqlite3 ncursesw
# expanded when a rule needs it: scripts/setup may have to install pkg-config and the libraries first
LIB_CFLAGS = $(shell $(PKG_CONFIG) --cflags $(LIBS))
LIB_LIBS = $(shell $(PKG_CONFIG) --libs $(LIBS)) -lm -lpthread

# A static build (a make of its own, see below): the C library's warnings about what a static program can't do are errors.
# Its bytes must not depend on where it is built: no paths, no debug information.
ifeq ($(STATIC),1)
STATIC_CFLAGS := -DBT_STATIC -fPIE
LIB_LIBS = $(shell $(PKG_CONFIG) --static --libs $(LIBS)) -lm
LDFLAGS += -static-pie -s -Wl,--fatal-warnings -Wl,--build-id=none -Wl,--wrap=dlopen
endif
ifneq ($(ARCH),$(HOST_ARCH))
SYSROOT := $(shell scripts/sysroot --where $(ARCH))
ifeq ($(origin CC),default)
CC := $(TRIPLET)-gcc
endif
CC += --sysroot=$(SYSROOT)
PKG_CONFIG := PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/$(TRIPLET)/pkgconfig $(PKG_CONFIG)
endif
HERE_MAP := -ffile-prefix-map=$(CURDIR)=.

SAN_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -O1 -g
# Units and fuzz targets share objects: clang's, which libFuzzer can follow. Lines are all that the sanitizers show.
UNIT_FLAGS := $(SAN_FLAGS) -gline-tables-only -fsanitize=fuzzer-no-link $(UNIT_PIC)
TSAN_FLAGS := -fsanitize=thread -fno-omit-frame-pointer -O1 -g
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -DBT_VERSION='"$(VERSION)"' $(WARN) $(INCLUDES) $(LIB_CFLAGS) $(CFLAGS) \
	     $(HERE_MAP) $(STATIC_CFLAGS) $(if $(filter 1,$(SAN)),$(SAN_FLAGS)) $(if $(filter thread,$(SAN)),$(TSAN_FLAGS))

SRCS := $(sort $(wildcard src/*.c src/*/*.c src/*/*/*.c))
LIB_SRCS := $(filter-out src/main.c,$(SRCS))
OBJS := $(SRCS:%.c=$(O)/%.o)
# the definitions of maps first: the linker of libbpf 1.1 loses a map that is declared before it is defined
BPF_SRCS := bpf/state.bpf.c $(filter-out bpf/state.bpf.c,$(sort $(wildcard bpf/*.bpf.c)))
BPF_OBJS := $(BPF_SRCS:%.c=$(O)/%.o)
SKEL := $(O)/gen/barriertrace.skel.h

UNIT_SRCS := $(sort $(wildcard tests/unit/*/test_*.c tests/unit/*/*/test_*.c))
UNITS := $(patsubst %.c,$(O)/tests/%,$(notdir $(UNIT_SRCS)))
vpath test_%.c $(sort $(dir $(UNIT_SRCS)))
SAN_OBJS := $(LIB_SRCS:%.c=$(O)/san/%.o)

# The units of what starts threads, and the folders that these need.
TSAN_UNITS := $(patsubst %,$(O)/tsan/test_%,barrier patient recording)
TSAN_SRCS := $(filter $(patsubst %,src/%/%,bench host model recording util),$(LIB_SRCS))
TSAN_OBJS := $(TSAN_SRCS:%.c=$(O)/tsan/%.o)

.PHONY: all help tests bench bench-helpers check check-truth check-kernels check-all fuzz demo install uninstall clean golden-update
.DELETE_ON_ERROR:

all: $(O)/barriertrace $(O)/barriertrace.1
	@:

help:
	@sed -n 's/^## \{0,1\}//p' Makefile

# ---- the BPF side ----

$(O)/bpf/%.bpf.o: bpf/%.bpf.c
	@mkdir -p $(@D)
	$(say) BPF $@
	$(Q)$(CLANG) -g -O2 -target bpf -mcpu=v2 -D__TARGET_ARCH_$(BPF_ARCH) -Ivmlinux -Ibpf $(HERE_MAP) $(WARN) -MMD -MP -c $< -o $@

$(O)/bpf/barriertrace.o: $(BPF_OBJS)
	$(say) LINK-BPF $@
	$(Q)$(BPFTOOL) gen object $@ $^

$(SKEL): $(O)/bpf/barriertrace.o
	@mkdir -p $(@D)
	$(say) SKEL $@
	$(Q)$(BPFTOOL) gen skeleton $< name barriertrace_bpf > $@

# ---- the user side ----

$(O)/src/%.o: src/%.c VERSION | $(SKEL)
	@mkdir -p $(@D)
	$(say) CC $@
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# the compiler's list of what it read does not name them
$(O)/src/render/assets.o $(O)/san/src/render/assets.o: $(wildcard src/render/assets/*)

$(OBJS): | $(if $(SYSROOT),have-cross)
.PHONY: have-cross
have-cross:
	@{ command -v $(TRIPLET)-gcc && test -e $(SYSROOT)/.complete; } > /dev/null || \
		{ echo 'to build for $(ARCH), first: scripts/setup cross' >&2; exit 1; }

$(O)/barriertrace: $(OBJS)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ -o $@ $(LIB_LIBS)

# Objects of their own, for another machine perhaps: hence a second make.
.PHONY: static dist static-x86_64 static-arm64 setup-cross
static:
	@$(MAKE) --no-print-directory O=$(O)/static/$(ARCH) STATIC=1 ARCH=$(ARCH) $(O)/static/$(ARCH)/barriertrace

DIST_ARCHS := x86_64 arm64

dist: $(DIST_ARCHS:%=static-%)
	@scripts/dist $(O) $(VERSION) $(DIST_ARCHS)

$(DIST_ARCHS:%=static-%): static-%:
	@$(MAKE) --no-print-directory static ARCH=$*

# the options in the man page and the completion come from the tables that the program itself reads
$(O)/barriertrace.1: docs/reference/barriertrace.1.in $(O)/barriertrace
	$(say) MAN $@
	$(Q)$(O)/barriertrace --generate man > $@.options
	$(Q)sed -e '/^@OPTIONS@$$/{r $@.options' -e 'd;}' -e 's/@VERSION@/$(VERSION)/' $< > $@
	$(Q)rm -f $@.options

# ---- tests: unit tests and fuzz targets run under the sanitizers ----

$(O)/san/%.o: %.c VERSION | $(SKEL)
	@mkdir -p $(@D)
	$(say) CC-SAN $@
	$(Q)$(CLANG) $(ALL_CFLAGS) $(UNIT_FLAGS) -MMD -MP -c $< -o $@

$(O)/san/libbarriertrace.a: $(SAN_OBJS)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/tests/test_%.o: test_%.c
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(ALL_CFLAGS) $(UNIT_FLAGS) -Itests/unit/lib -MMD -MP -MF $@.d -c $< -o $@

# One link for all units instead of one each: tests/mutants
$(O)/san/libbarriertrace.so: $(SAN_OBJS)
	$(say) LINK $@
	$(Q)$(CLANG) -shared $(UNIT_FLAGS) $^ -o $@ $(LIB_LIBS)

UNIT_LIB := $(O)/san/libbarriertrace.a

.SECONDARY: $(UNITS:=.o)
$(O)/tests/test_%: $(O)/tests/test_%.o $(UNIT_LIB)
	$(say) UNIT $@
	$(Q)$(CLANG) $(ALL_CFLAGS) $(UNIT_FLAGS) $(WRAP) $^ -o $@ $(LIB_LIBS)

$(O)/tsan/%.o: %.c VERSION | $(SKEL)
	@mkdir -p $(@D)
	$(say) CC-TSAN $@
	$(Q)$(CLANG) $(ALL_CFLAGS) $(TSAN_FLAGS) -MMD -MP -c $< -o $@

$(O)/tsan/libbarriertrace.a: $(TSAN_OBJS)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/tsan/test_%: test_%.c $(O)/tsan/libbarriertrace.a
	@mkdir -p $(@D)
	$(say) UNIT $@
	$(Q)$(CLANG) $(ALL_CFLAGS) $(TSAN_FLAGS) $(WRAP) -Itests/unit/lib -MMD -MP $< $(O)/tsan/libbarriertrace.a -o $@ $(LIB_LIBS)

# The linker puts the unit's own __wrap functions in the place of these.
$(O)/tests/test_loader: WRAP := -Wl,--wrap=bpf_object__load_skeleton
$(O)/tests/test_run_attached: WRAP := -Wl,--wrap=clock_ns,--wrap=mounts_each

$(O)/tests/fuzz: $(wildcard tests/fuzz/*.c tests/fuzz/*.h) $(O)/san/libbarriertrace.a
	@mkdir -p $(@D)
	$(say) FUZZ $@
	$(Q)$(CLANG) $(ALL_CFLAGS) $(SAN_FLAGS) -fsanitize=fuzzer -Itests/unit/lib -Itests/fuzz $(filter %.c %.a,$^) -o $@ $(LIB_LIBS)

$(O)/tests/rigd: tests/rig/rigd.c
	@mkdir -p $(@D)
	$(say) RIG $@
	$(Q)$(CC) -std=gnu11 -O2 -g $(WARN) $(shell $(PKG_CONFIG) --cflags fuse3) -MMD -MP $< -o $@ \
		$(shell $(PKG_CONFIG) --libs fuse3) -lpthread

# write recordings: of a million sync calls, and of what takes much more memory or time than it is long
$(O)/tests/forge $(O)/tests/bombs: $(O)/tests/%: tests/golden/%.c $(filter-out $(O)/src/main.o $(O)/src/cmd/%.o,$(OBJS))
	@mkdir -p $(@D)
	$(say) FORGE $@
	$(Q)$(CC) $(ALL_CFLAGS) $^ -o $@ $(LIB_LIBS)

# the loads and the clock of scripts/bench, and the program that does nothing
$(O)/tests/gauge: tests/bench/gauge.c
	@mkdir -p $(@D)
	$(say) GAUGE $@
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -g $(WARN) $(shell $(PKG_CONFIG) --cflags libbpf) -MMD -MP $< -o $@ \
		$(shell $(PKG_CONFIG) --libs libbpf)

$(O)/tests/empty.o: tests/bench/empty.bpf.c
	@mkdir -p $(@D)
	$(say) BPF $@
	$(Q)$(CLANG) -g -O2 -target bpf -mcpu=v2 -Ivmlinux $(WARN) -c $< -o $@

# preloaded into a tool, whose links it attaches and detaches in turns
$(O)/tests/turns.so: tests/bench/turns.c
	@mkdir -p $(@D)
	$(say) TURNS $@
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -g $(WARN) -shared -fPIC -MMD -MP $< -o $@ -ldl -lpthread

BENCH_HELPERS := $(O)/tests/gauge $(O)/tests/empty.o $(O)/tests/turns.so

tests: all $(UNITS) $(O)/tests/fuzz $(O)/tests/rigd $(O)/tests/bombs

# ---- what people run ----

SETUPS := build test truth kernels demo bench cross
.PHONY: $(SETUPS:%=setup-%)
$(SETUPS:%=setup-%): setup-%:
	@scripts/setup $*

# What is built before the tests takes all CPUs, unless make was told how many.
ALL_CPUS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

# T and K: one file or folder, and a part of a test's name
ONLY = $(if $(K),-k '$(subst ','\'',$(K))')

# The set-up must be over before make asks pkg-config: hence a second make.
ifeq ($(SAN),thread)
# Where a kernel randomizes more bits of addresses than the sanitizer's runtime knows, that does not start.
NO_ASLR = $(if $(shell setarch -R true 2>&1 || echo no),,setarch -R)
check: setup-test
	@$(MAKE) $(ALL_CPUS) --no-print-directory WERROR=1 $(TSAN_UNITS)
	@BUILD=$(abspath $(O)) $(NO_ASLR) scripts/check -t check $(ROWS) $(ONLY) $(or $(T),$(TSAN_UNITS))
else
# What is built with sanitizers is built beside the first tests that trace.
BUILD_TESTS = $(MAKE) -j$(shell nproc) --no-print-directory $(MAKEOVERRIDES) WERROR=1 tests
check: setup-test
	@$(MAKE) $(ALL_CPUS) --no-print-directory WERROR=1 $(if $(T),tests,all $(O)/tests/rigd)
	@BUILD=$(abspath $(O)) scripts/check -t check $(if $(T),,-b 'MAKEFLAGS= $(subst ','\'',$(BUILD_TESTS))') $(ROWS) $(ONLY) \
		$(or $(T),$(UNITS) tests)
endif

# Its tests may take minutes, and a file of them an hour when it runs N times.
check-truth: setup-test setup-truth
	@$(MAKE) $(ALL_CPUS) --no-print-directory WERROR=1 all $(BENCH_HELPERS) $(O)/tests/rigd $(O)/tests/forge
	@BUILD=$(abspath $(O)) BARRIERTRACE_TEST_LIMIT=900 BARRIERTRACE_CHECK_LIMIT=2400 \
		scripts/check -s -t truth $(if $(N),-n $(N)) $(ROWS) $(ONLY) $(or $(T),$(wildcard tests/truth/*.bats))

# The arm64 half of tests/vm, where the compiler and Debian's libraries can be had; else its tests say what is missing
ARM64_TOOL = ! { command -v aarch64-linux-gnu-gcc && scripts/sysroot arm64; } > /dev/null || \
	$(MAKE) $(ALL_CPUS) --no-print-directory static ARCH=arm64

# What boots one guest or none, then the guests; FULL=1: tests/vm/full too
check-kernels: setup-test setup-kernels
	@$(MAKE) $(ALL_CPUS) --no-print-directory WERROR=1 all $(O)/tests/rigd
	@$(ARM64_TOOL)
	@failed=; export BUILD=$(abspath $(O)); \
	[ '$(KERNELS)$(T)' ] || BARRIERTRACE_TEST_LIMIT=900 BARRIERTRACE_CHECK_LIMIT=2400 scripts/check -s -t kernels $(ROWS) $(ONLY) \
		tests/vm/types.bats tests/vm/fetch.bats tests/vm/static.bats tests/vm/doctor.bats || failed=1; \
	BARRIERTRACE=$(abspath $(O))/barriertrace scripts/check-kernels $(if $(FULL),--full) $(if $(WRITE),--write) \
		$(ROWS) $(KERNELS) $(T) && [ ! "$$failed" ]

check-all:
	@rm -f $(O)/check-all.tsv
	@failed=; for tier in check check-truth check-kernels; do \
		$(MAKE) --no-print-directory $$tier ROWS='-o $(abspath $(O))/check-all.tsv' || failed=1; done; \
	scripts/check-table $(O)/check-all.tsv && [ ! "$$failed" ]

fuzz: setup-test
	@$(MAKE) $(ALL_CPUS) --no-print-directory WERROR=1 $(O)/tests/fuzz $(O)/tests/test_chains
	@BUILD=$(abspath $(O)) tests/fuzz/run -j 2 $(or $(T),600) $(K)
	@$(O)/tests/test_chains 100000 $$(date +%s)

# BENCH="block.none kept" for some rows only
bench: setup-bench
	@$(MAKE) --no-print-directory all bench-helpers
	@BUILD=$(abspath $(O)) scripts/bench $(BENCH)

bench-helpers: $(BENCH_HELPERS) $(O)/tests/rigd $(O)/tests/forge

demo: setup-demo
	@$(MAKE) --no-print-directory all
	@scripts/demo $(O)/barriertrace

golden-update: tests
	@for t in $(UNITS); do GOLDEN_UPDATE=1 $$t > /dev/null || exit 1; done
	@BUILD=$(abspath $(O)) tests/golden/update

install: all
	install -D -m 755 $(O)/barriertrace $(DESTDIR)$(PREFIX)/bin/barriertrace
	install -D -m 644 $(O)/barriertrace.1 $(DESTDIR)$(PREFIX)/share/man/man1/barriertrace.1
	$(O)/barriertrace --generate completion > $(O)/completion
	install -D -m 644 $(O)/completion $(DESTDIR)$(PREFIX)/share/bash-completion/completions/barriertrace

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/barriertrace $(DESTDIR)$(PREFIX)/share/man/man1/barriertrace.1 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/barriertrace

clean:
	rm -rf $(O)

-include $(OBJS:.o=.d) $(SAN_OBJS:.o=.d) $(BPF_OBJS:.o=.d) $(UNITS:=.o.d) $(TSAN_OBJS:.o=.d) $(TSAN_UNITS:=.d) \
	$(O)/tests/rigd.d $(O)/tests/gauge.d $(O)/tests/turns.d

// SPDX-License-Identifier: GPL-2.0-only
/* How large the maps become on machines that are not here, and that they stay within what they may take. */
#include "probe/map_sizes.h"
#include "tap.h"

#define MIB (1ull << 20)

static struct sizes_disk disk[1024];
static struct sizes s;

static struct sizes_input machine(uint32_t cpus, size_t disks, uint32_t queues, uint32_t depth)
{
	for (size_t i = 0; i < disks; i++)
		disk[i] = (struct sizes_disk){ queues, depth };
	return (struct sizes_input){ .cpus = cpus,
				     .pid_max = 1 << 22,
				     .page = 4096,
				     .disk = disk,
				     .n_disks = disks,
				     .views = (uint32_t)disks,
				     .ledger = true };
}

static bool plan(const struct sizes_input *m)
{
	return sizes_plan(m, &s);
}

static bool adds_up(void)
{
	return s.bytes == s.counters + s.slot_bytes + s.ring_bytes + s.tables && !(s.ring_bytes & (s.ring_bytes - 1));
}

static void small(void)
{
	struct sizes_input m = machine(2, 1, 1, 128);
	bool fits;

	fits = plan(&m);
	ok(fits && adds_up() && s.stripes == 2 && s.views == 2 && s.slots == 129 && s.ring_bytes == 32 * MIB &&
		   !s.smaller_ring && !s.fewer_slots && s.bytes < 64 * MIB,
	   "two CPUs, one disk: all that is wished, %llu bytes", (unsigned long long)s.bytes);
	m.ledger = false;
	fits = plan(&m);
	ok(fits && s.bytes < 4 * MIB && s.ring_bytes == 4096, "without ledgers: %llu bytes", (unsigned long long)s.bytes);
	m.all = true;
	fits = plan(&m);
	ok(fits && s.views == 9 && s.slots == 129 + 8 * 1024, "room for disks that may come");
	m = machine(2, 1, 0, 0);
	m.bios = true;
	fits = plan(&m);
	ok(fits && s.slots == 0 && adds_up(), "a disk without requests needs no slots");
}

static void large(void)
{
	struct sizes_input m = machine(1024, 256, 64, 1023);
	bool fits;

	m.all = true;
	m.command = m.bios = true;
	fits = plan(&m);
	ok(fits && adds_up() && s.bytes <= SIZES_DEFAULT && s.views == 264 && s.stripes == 1 && s.fewer_slots &&
		   s.depth >= 64,
	   "1,024 CPUs, 256 disks of 64 queues and 1,023 tags: %llu bytes, %u tags of a queue",
	   (unsigned long long)s.bytes, s.depth);
	m.memory = 8192 * MIB;
	fits = plan(&m);
	ok(fits && !s.fewer_slots && s.slots == 256u * 64 * 1024 + 8 * 1024 && s.depth == 1023,
	   "with memory enough each tag has a slot: %llu bytes", (unsigned long long)s.bytes);
	m = machine(1024, 1, 64, 1023);
	fits = plan(&m);
	ok(fits && s.views == 1 && s.stripes > 128 && s.bytes < 256 * MIB,
	   "with one disk: %u copies of the counters, %llu bytes", s.stripes, (unsigned long long)s.bytes);
}

/* Whatever the machine: within the bound, or refused with the least; and more memory never makes less. */
static void bounds(void)
{
	static const uint32_t cpus[] = { 1, 2, 16, 1024, 8192 }, disks[] = { 1, 7, 256, 1000 },
			      queues[] = { 1, 64, 128 }, depths[] = { 1, 31, 256, 1023, 10240 };
	bool within = true, grows = true, least = true;

	for (size_t i = 0; i < 5 * 4 * 3 * 5; i++) {
		struct sizes_input m = machine(cpus[i % 5], disks[i / 5 % 4], queues[i / 20 % 3], depths[i / 60]);
		uint64_t before = 0, refused = 0;

		for (m.memory = MIB; m.memory < 1ull << 40; m.memory *= 2) {
			bool fits = sizes_plan(&m, &s);

			within = within && adds_up() && (!fits || s.bytes <= m.memory) && s.stripes && s.ring_bytes >= MIB;
			grows = grows && (!fits || s.bytes >= before);
			before = fits ? s.bytes : 0;
			if (!fits)
				refused = s.bytes;
		}
		m.memory = refused;
		least = least && (!refused || (sizes_plan(&m, &s) && s.bytes == refused));
		m.memory = refused - 1;
		least = least && (!refused || !sizes_plan(&m, &s));
	}
	ok(within, "300 machines: within the bound");
	ok(grows, "more is taken only where more is allowed");
	ok(least, "what a refusal names is enough, and less is not");
}

int main(void)
{
	small();
	large();
	bounds();
	return tap_done();
}

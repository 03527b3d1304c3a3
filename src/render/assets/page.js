// SPDX-License-Identifier: GPL-2.0-only
// The page can be read without this: it sorts and folds tables, picks calls, and names what is under the pointer.
(function () {
"use strict";

const $ = (selector, root) => (root || document).querySelector(selector);
const $$ = (selector, root) => Array.from((root || document).querySelectorAll(selector));

function make(name, attributes, ...children) {
	const element = document.createElement(name);
	for (const [key, value] of Object.entries(attributes || {}))
		element.setAttribute(key, value);
	element.append(...children);
	return element;
}

function duration(ns) {
	const units = [["ns", 1, 1e3], ["µs", 1e3, 1e3], ["ms", 1e6, 1e3], ["s", 1e9, 1e3], ["min", 6e10, 120],
		["h", 3.6e12, Infinity]];
	const [unit, size] = units.find(u => Math.round(ns / u[1]) < u[2]), value = ns / size;
	return (size === 1 || value >= 999.5 ? String(Math.round(value)) : value.toPrecision(3)) + "\u00a0" + unit;
}

const exact = ns => ns.toLocaleString("en-US") + "\u00a0ns";

function percent(part, whole) {
	const p = part / whole * 100;
	return (!part || part === whole ? String(p) : p < .1 ? "<0.1" : p > 99.9 ? ">99.9" : p.toFixed(1)) + "\u00a0%";
}

// ---- tables: sorting, and unfolding of long ones ----

const VALUE = { n: cell => Number(cell.dataset.v || -1), s: cell => cell.textContent };

function fold(table) {
	const most = table.foldAt || Infinity;
	$$("tr", table.tBodies[0]).forEach((row, i) => { row.hidden = i >= most && !table.foldAll; });
}

function sort(head) {
	const table = head.closest("table"), body = table.tBodies[0], type = head.dataset.sort, at = head.cellIndex;
	const falls = head.ariaSort ? head.ariaSort === "ascending" : type === "n";
	const rows = Array.from(body.rows, row => [VALUE[type](row.cells[at]), row]);
	const compare = type === "n" ? (a, b) => a[0] - b[0] : (a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0;

	rows.sort(falls ? (a, b) => compare(b, a) : compare);
	for (const other of table.tHead.rows[0].cells)
		other.removeAttribute("aria-sort");
	head.setAttribute("aria-sort", falls ? "descending" : "ascending");
	body.append(...rows.map(row => row[1]));
	fold(table);
}

function foldable(table) {
	const n = table.tBodies[0].rows.length;
	table.foldAt = Number(table.closest("[data-fold]").dataset.fold);
	if (n <= table.foldAt)
		return;
	const button = make("button", { type: "button", class: "more", "aria-expanded": "false" }, `Show all ${n}`);
	button.addEventListener("click", () => {
		table.foldAll = !table.foldAll;
		button.setAttribute("aria-expanded", String(table.foldAll));
		button.textContent = table.foldAll ? `Show the first ${table.foldAt}` : `Show all ${n}`;
		fold(table);
	});
	table.closest(".wide").after(button);
}

for (const head of $$("th[data-sort]")) {
	const button = make("button", { type: "button" }, head.textContent);
	head.replaceChildren(button);
	button.addEventListener("click", () => sort(head));
}
$$("[data-fold] table").forEach(foldable);

// A stop for the tab key only where there is something to scroll
const scrollers = new ResizeObserver(entries => entries.forEach(({ target }) => {
	target.tabIndex = target.scrollWidth > target.clientWidth ? 0 : -1;
}));
$$(".wide").forEach(table => scrollers.observe(table));

// ---- picking one of the slowest calls ----

const causes = JSON.parse($("#causes") ? $("#causes").textContent : "[]");
const panel = $("#picked"), dots = $$(".dot"), calls = new Map();
let picked = null;

$$("tr[data-call]").forEach(row => {
	const cells = row.cells, call = {
		row, start: Number(cells[1].dataset.v), ns: Number(cells[0].dataset.v),
		what: cells[2].textContent, who: $("span", cells[3]).textContent, pid: $("small", cells[3]).textContent,
		path: $("span", cells[4]).textContent, device: $("small", cells[4]) ? $("small", cells[4]).textContent : "",
		ledger: row.dataset.ledger.split(" ").map(part => part.split(":").map(Number)),
	};
	const button = make("button", { type: "button", class: "pick", "aria-pressed": "false", "aria-controls": "picked" },
		cells[0].textContent);

	button.title = "Show this call’s ledger";
	button.addEventListener("click", () => pick(row.dataset.call));
	$(".pick", row).replaceWith(button);
	calls.set(row.dataset.call, call);
});

const summary = call => `${duration(call.ns)}: ${call.what} by ${call.who}`;

function causeRow([cause, ns], call, most) {
	const [name, family, help] = causes[cause];
	const bar = make("i");

	bar.style.width = ns / most * 100 + "%";
	return make("tr", { class: family, title: help },
		make("th", { scope: "row" }, make("span", { class: "swatch" }), name),
		make("td", { class: "bar" }, make("span", { class: "track" }, bar)),
		make("td", { class: "n" }, percent(ns, call.ns)),
		make("td", { class: "n" }, exact(ns)));
}

function ledgerTable(call) {
	const most = Math.max(...call.ledger.map(part => part[1]));
	const head = make("tr", {}, make("th", { scope: "col" }, "cause"), make("td"),
		make("th", { scope: "col", class: "n" }, "share"), make("th", { scope: "col", class: "n" }, "time"));

	return make("table", {}, make("caption", {}, "What this call waited for"), make("thead", {}, head),
		make("tbody", {}, ...call.ledger.map(part => causeRow(part, call, most))));
}

function show(call) {
	const close = make("button", { type: "button", class: "close", "aria-label": "Close" }, "✕");

	close.addEventListener("click", () => pick(null));
	panel.replaceChildren(make("h3", {}, summary(call)),
		make("p", {}, `pid ${call.pid}, began at ${duration(call.start)}, took exactly ${exact(call.ns)}`,
			make("br"), make("code", {}, call.path), call.device ? ` on ${call.device}` : ""),
		ledgerTable(call), close);
}

// When it happened, in every map
function during(call) {
	$$(".during").forEach(mark => mark.remove());
	for (const area of call ? $$(".area") : []) {
		const mark = make("div", { class: "during" }), extent = Number(area.dataset.extent);

		mark.style.left = call.start / extent * 100 + "%";
		mark.style.width = call.ns / extent * 100 + "%";
		area.append(mark);
	}
}

function pick(id) {
	const call = calls.get(id);

	for (const [key, other] of calls) {
		other.row.classList.toggle("chosen", key === id);
		$(".pick", other.row).setAttribute("aria-pressed", String(key === id));
	}
	for (const dot of dots) {
		dot.setAttribute("aria-checked", String(dot.dataset.call === id));
		if (call)
			dot.tabIndex = dot.dataset.call === id ? 0 : -1;
	}
	if (!call && picked && panel.contains(document.activeElement))
		$(".pick", calls.get(picked).row).focus();
	picked = call ? id : null;
	panel.hidden = !call;
	during(call);
	if (call)
		show(call);
}

// One stop for the tab key; arrows go through time, Home and End to its ends
const byTime = dots.slice().sort((a, b) => parseFloat(a.style.left) - parseFloat(b.style.left));

function move(event, dot) {
	const at = byTime.indexOf(dot), last = byTime.length - 1;
	const to = { ArrowRight: Math.min(at + 1, last), ArrowDown: Math.min(at + 1, last), ArrowLeft: Math.max(at - 1, 0),
		ArrowUp: Math.max(at - 1, 0), Home: 0, End: last, Enter: at, " ": at, Escape: -1 }[event.key];

	if (to === undefined)
		return;
	event.preventDefault();
	pick(to < 0 ? null : byTime[to].dataset.call);
	if (to >= 0)
		byTime[to].focus();
}

dots.forEach((dot, i) => {
	const call = calls.get(dot.dataset.call);

	dot.setAttribute("role", "radio");
	dot.setAttribute("aria-checked", "false");
	dot.setAttribute("aria-label", `${summary(call)}, at ${duration(call.start)}`);
	dot.tabIndex = i ? -1 : 0;
	dot.addEventListener("keydown", event => move(event, dot));
});

// A finger is larger than a dot: the nearest one is meant
function nearest(event, reach) {
	let best = null, least = reach * reach;

	for (const dot of dots) {
		const box = dot.getBoundingClientRect();
		const x = box.left + box.width / 2 - event.clientX, y = box.top + box.height / 2 - event.clientY;

		if (x * x + y * y <= least) {
			least = x * x + y * y;
			best = dot;
		}
	}
	return best;
}

$$(".dots").forEach(group => group.addEventListener("click", event => {
	const dot = nearest(event, 24);

	if (dot) {
		pick(dot.dataset.call);
		dot.focus({ preventScroll: true });
	}
}));
document.addEventListener("keydown", event => {
	if (event.key === "Escape" && picked !== null && !event.defaultPrevented)
		pick(null);
});

// ---- what is under the pointer, in the maps ----

const tip = make("div", { class: "tip", "aria-hidden": "true", hidden: "" });
document.body.append(tip);

function lower(row) {
	return row ? (2 + row % 2) * 2 ** (9 + Math.floor(row / 2)) : 0;
}

function cellsOf(area) {
	if (!area.cells) {
		area.cells = new Map();
		for (const cell of area.dataset.n.split(" ")) {
			const [column, row, n] = cell.split(",");
			area.cells.set(column + "," + row, Number(n));
		}
	}
	return area.cells;
}

function underPointer(area, event) {
	const box = area.getBoundingClientRect(), width = Number(area.dataset.column), rows = Number(area.dataset.rows);
	const column = Math.floor((event.clientX - box.left) / box.width * Number(area.dataset.extent) / width);
	const row = Number(area.dataset.bottom) + rows - 1 - Math.floor((event.clientY - box.top) / box.height * rows);
	const n = cellsOf(area).get(column + "," + row);

	if (!n)
		return "";
	return `${n.toLocaleString("en-US")} of ${duration(lower(row))} to ${duration(lower(row + 1))}\n` +
		`from ${duration(column * width)} to ${duration((column + 1) * width)}`;
}

function pointAt(area, event) {
	const dot = event.target.closest(".dot"), call = dot && calls.get(dot.dataset.call);
	const text = call ? `${summary(call)}\n${call.path}` : underPointer(area, event);

	tip.hidden = !text;
	if (!text)
		return;
	tip.textContent = text;
	tip.style.left = Math.max(0, Math.min(event.pageX + 14, innerWidth + scrollX - tip.offsetWidth - 8)) + "px";
	tip.style.top = event.pageY + 18 + "px";
}

for (const area of $$(".area")) {
	area.addEventListener("mousemove", event => pointAt(area, event));
	area.addEventListener("mouseleave", () => { tip.hidden = true; });
}

// ---- the report for machines ----

const save = make("button", { type: "button", class: "save" }, "Save the JSON");
save.addEventListener("click", () => {
	const url = URL.createObjectURL(new Blob([$("#report").textContent], { type: "application/json" }));

	make("a", { href: url, download: "barriertrace.json" }).click();
	setTimeout(() => URL.revokeObjectURL(url), 1000);
});
$("#save").append(save);
})();

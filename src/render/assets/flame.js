/* SPDX-License-Identifier: GPL-2.0-only */
/* Every svg.flame of the document: laid out for its width, to point at, zoom, search and walk through with keys. */
(() => {
	'use strict';
	const NS = 'http://www.w3.org/2000/svg', XHTML = 'http://www.w3.org/1999/xhtml';
	const PAD = 10, ROW = 21, HEIGHT = 20, LINE = 16, FIELD = 250, NARROWEST = 340;
	const HELP = 'Point at a frame, or walk with Tab and the arrow keys. Click or Enter zooms, r resets, / searches.';
	const COARSE = matchMedia('(pointer: coarse)');

	const make = (name, attributes, parent, text) => {
		const e = document.createElementNS(NS, name);
		for (const [key, value] of Object.entries(attributes))
			e.setAttribute(key, value);
		if (text !== undefined)
			e.textContent = text;
		if (parent)
			parent.append(e);
		return e;
	};
	const shown = (e, yes) => yes ? e.removeAttribute('display') : e.setAttribute('display', 'none');

	/* Width of a text without asking the layout for it, which would be slow for thousands. */
	const ruler = (font) => {
		const context = document.createElementNS(XHTML, 'canvas').getContext('2d');
		context.font = font;
		return (text) => context.measureText(text).width;
	};
	const fontOf = (e) => {
		const s = getComputedStyle(e);
		return `${s.fontWeight} ${s.fontSize} ${s.fontFamily}`;
	};

	/* What fits, in whole characters; nothing where it would be a single one. */
	const fit = (text, room, width) => {
		if (width(text) <= room)
			return text;
		const chars = Array.from(text);
		let low = 0, high = chars.length;
		while (low < high) {
			const middle = (low + high + 1) >> 1;
			if (width(chars.slice(0, middle).join('') + '…') <= room)
				low = middle;
			else
				high = middle - 1;
		}
		return low < 2 ? '' : chars.slice(0, low).join('') + '…';
	};

	const wrap = (text, room, width) => {
		const lines = [''];
		const add = (piece) => {
			const last = lines[lines.length - 1];
			if (width(last + piece.trimEnd()) <= room || !last)
				lines[lines.length - 1] = last + piece;
			else
				lines.push(piece);
		};
		for (const word of text.split(/(?<= )/)) {
			if (width(word.trimEnd()) <= room)
				add(word);
			else
				Array.from(word).forEach(add);
		}
		return lines;
	};

	/* As the rest of the program words a share: only nothing is 0 %, only all is 100 %. */
	const percent = (part, whole) => {
		const tenths = Number((part * 1000n + whole / 2n) / whole);
		if (part && !tenths)
			return '<0.1 %';
		if (tenths === 1000 && part < whole)
			return '>99.9 %';
		return `${tenths % 1000 ? (tenths / 10).toFixed(1) : tenths / 10} %`;
	};
	const duration = (ns) => {
		const units = [['ns', 1, 1], ['µs', 1e3, 1e3], ['ms', 1e6, 1e6], ['s', 1e9, 1e9],
			['min', 6e10, 6e10], ['h', 36e11, 72e11]];
		const [name, size] = units.filter(([, , from]) => Number(ns) * 1.0005 >= from).pop() || units[0];
		const value = Number(ns) / size;
		return `${size === 1 || value >= 100 ? Math.round(value) : value.toPrecision(3)} ${name}`;
	};
	const plural = (n, word) => `${n.toLocaleString('en')} ${word}${n === 1 ? '' : 's'}`;

	/* ---- frames ---- */

	const readFrames = (svg) => {
		const open = [];
		return Array.from(svg.querySelectorAll('.f'), (g, order) => {
			const title = g.querySelector('title').textContent.split('\n');
			const f = {
				g, order, title, name: title[0], time: g.dataset.t, parent: null, below: [],
				depth: Number(g.dataset.depth), start: Number(g.dataset.start), ns: Number(g.dataset.ns),
				exact: BigInt(g.dataset.ns), rect: g.querySelector('rect'), text: g.querySelector('text'),
				cell: g.classList.contains('cell'), rest: g.classList.contains('rest'), visible: true,
			};
			open.length = f.depth;
			open.push(f);
			if (f.depth) {
				f.parent = open[f.depth - 1];
				f.parent.below.push(f);
			}
			return f;
		});
	};

	const isAbove = (above, f) => {
		for (let at = f; at; at = at.parent)
			if (at === above)
				return true;
		return false;
	};

	/* "python3 › fsync › a.db · 251 ms (251,102,175 ns), 22.0 % ..." */
	const describe = (f) => {
		const path = [];
		for (let at = f; at; at = at.parent)
			path.unshift(at.name);
		return [path.slice(f.depth ? 1 : 0).join(' › '), ...f.title.slice(1)].join(' · ');
	};

	/* ---- one picture ---- */

	class Flame {
		constructor(svg) {
			this.svg = svg;
			this.alone = svg === document.documentElement;
			this.frames = readFrames(svg);
			this.root = this.zoomed = this.current = this.frames[0];
			this.width = 0;
			this.query = '';
			this.wrapped = Array.from(svg.querySelectorAll('.title, .sub, .note, .none'),
				(e) => ({ e, text: e.textContent, width: ruler(fontOf(e)) }));
			svg.classList.add('on');
			if (this.root)
				this.addControls();
			this.resize();
			new ResizeObserver(() => this.resize()).observe(this.alone ? svg : svg.parentNode);
		}

		addControls() {
			const group = this.svg.querySelector('.frames');
			this.word = ruler(fontOf(this.root.text));
			this.controls = make('g', { class: 'controls' });
			group.before(this.controls);
			this.field = make('g', { class: 'field', tabindex: 0, role: 'searchbox', 'aria-label': 'Search in the frames' },
				this.controls);
			make('rect', { width: FIELD, height: 24, rx: 4 }, this.field);
			this.fieldText = make('text', { x: 8, y: 16 }, this.field);
			this.caret = make('line', { y1: 5, y2: 19 }, this.field);
			this.button = make('g', { class: 'button off', tabindex: 0, role: 'button' }, this.controls);
			make('rect', { width: 58, height: 24, rx: 4 }, this.button);
			make('text', { x: 29, y: 16, 'text-anchor': 'middle' }, this.button, 'Reset');
			make('title', {}, this.button, 'Show everything again (r or Escape)');
			this.found = make('text', { class: 'found', role: 'status' }, this.controls);
			this.details = make('text', { class: 'details', x: PAD });
			this.svg.querySelector('.foot').prepend(this.details);
			this.cursor = make('rect', { class: 'cursor', height: HEIGHT, display: 'none' }, group);
			this.caretAt = 0;
			this.prepareFrames(group);
			this.listen();
			this.drawField();
		}

		prepareFrames(group) {
			group.setAttribute('role', 'tree');
			for (const f of this.frames) {
				f.g.setAttribute('role', 'treeitem');
				f.g.setAttribute('aria-level', f.depth + 1);
				f.g.setAttribute('aria-label', f.title.join('; '));
				f.g.setAttribute('tabindex', -1);
			}
			this.root.g.setAttribute('tabindex', 0);
			this.of = new Map(this.frames.map((f) => [f.g, f]));
		}

		frameOf(target) {
			return target.closest && this.of.get(target.closest('.f'));
		}

		listen() {
			const group = this.svg.querySelector('.frames');
			group.addEventListener('mouseover', (e) => this.point(this.frameOf(e.target)));
			group.addEventListener('mouseleave', () => this.point(null));
			/* Not at the group: Chromium lets Tab stop at whatever in a picture listens to the focus. */
			document.addEventListener('focusin', (e) => this.focusMoved(e.target));
			document.addEventListener('focusout', (e) => this.focusMoved(e.target));
			group.addEventListener('click', (e) => {
				const f = this.frameOf(e.target);
				if (f)
					this.zoom(f);
			});
			this.button.addEventListener('click', () => this.reset());
			this.field.addEventListener('click', () => this.ask());
			this.field.addEventListener('paste', (e) => this.paste(e));
			this.svg.addEventListener('keydown', (e) => this.key(e));
		}

		/* ---- layout ---- */

		resize() {
			const width = Math.round(this.svg.getBoundingClientRect().width);
			if (!width || width === this.width)
				return;
			this.width = width;
			this.w = Math.max(width, NARROWEST);
			this.room = this.w - 2 * PAD;
			this.layout();
		}

		/* From the top down; y is where the next part begins. */
		layout() {
			let y = this.svg.querySelector('.title, .none') ? 22 : 8;
			for (const part of this.wrapped.filter((p) => !p.e.matches('.note')))
				y = this.layoutText(part, y);
			if (this.root) {
				y = this.layoutLegend(y + 8);
				y = this.layoutControls(y);
				this.top = y;
				y += (1 + Math.max(...this.frames.map((f) => f.depth))) * ROW + LINE;
				this.layoutFrames();
				this.details.setAttribute('y', y);
				y += LINE * (this.w < 700 ? 6 : 2);
				y = this.layoutText(this.wrapped.find((p) => p.e.matches('.note')), y);
			}
			this.svg.setAttribute('viewBox', `0 0 ${this.w} ${y}`);
			this.svg.setAttribute('height', y * this.width / this.w);
		}

		lines(e, text, width) {
			const height = parseFloat(getComputedStyle(e).fontSize) > 13 ? 20 : LINE;
			const lines = text ? wrap(text, this.room, width) : [];
			e.replaceChildren();
			lines.forEach((line, i) => make('tspan', { x: PAD, dy: i ? height : 0 }, e, line));
			return lines.length * height;
		}

		layoutText(part, y) {
			y += part.e.matches('.none') && y > 22 ? 10 : 0;
			part.e.setAttribute('y', y);
			return y + this.lines(part.e, part.text, part.width);
		}

		layoutLegend(y) {
			let x = PAD;
			for (const key of this.svg.querySelectorAll('.key')) {
				key.removeAttribute('transform');
				const box = key.getBBox();
				if (x > PAD && (x + box.width > this.w - PAD || key.matches('.apart'))) {
					x = PAD;
					y += 22;
				}
				key.setAttribute('transform', `translate(${x - box.x} ${y - 4 - box.height / 2 - box.y})`);
				x += box.width + 18;
			}
			return y + 14;
		}

		layoutControls(y) {
			this.field.setAttribute('transform', `translate(${PAD} ${y})`);
			this.button.setAttribute('transform', `translate(${PAD + FIELD + 8} ${y})`);
			const beside = this.w >= 700;
			this.found.setAttribute('x', beside ? PAD + FIELD + 80 : PAD);
			this.found.setAttribute('y', beside ? y + 16 : y + 42);
			return y + (beside ? 34 : 52);
		}

		layoutFrames() {
			const scale = this.room / this.zoomed.ns;
			for (const f of this.frames) {
				const above = f !== this.zoomed && isAbove(f, this.zoomed);
				f.visible = above || isAbove(this.zoomed, f);
				f.g.classList.toggle('above', above);
				shown(f.g, f.visible);
				if (!f.visible)
					continue;
				f.x = above ? PAD : PAD + (f.start - this.zoomed.start) * scale;
				f.w = above ? this.room : f.ns * scale;
				this.place(f);
			}
			this.point(this.pointed);
		}

		place(f) {
			const y = this.top + f.depth * ROW, room = f.w - 8, full = f.time ? `${f.name}  ${f.time}` : f.name;
			f.rect.setAttribute('x', f.x);
			f.rect.setAttribute('y', y);
			f.rect.setAttribute('width', f.w);
			f.g.classList.toggle('thin', f.w < 2);
			f.text.setAttribute('x', f.x + 4);
			f.text.setAttribute('y', y + 14);
			if (room < 14)
				f.text.textContent = '';
			else
				f.text.textContent = this.word(full) <= room ? full : fit(f.name, room, this.word);
		}

		/* ---- pointing ---- */

		/* The frame under the mouse, else the one with the focus. */
		point(f) {
			this.pointed = f;
			const focused = this.of.get(document.activeElement);
			const at = f || focused;
			shown(this.cursor, at && at.visible);
			if (at && at.visible) {
				this.cursor.setAttribute('x', at.x);
				this.cursor.setAttribute('y', this.top + at.depth * ROW);
				this.cursor.setAttribute('width', Math.max(at.w, 1));
			}
			this.lines(this.details, at ? describe(at) : HELP, ruler(fontOf(this.details)));
		}

		focusMoved(target) {
			const f = this.frameOf(target);
			if (f)
				this.makeCurrent(f);
			else if (target === this.field)
				this.drawField();
		}

		makeCurrent(f) {
			this.current.g.setAttribute('tabindex', -1);
			f.g.setAttribute('tabindex', 0);
			this.current = f;
			this.point(null);
		}

		focus(f) {
			if (f)
				f.g.focus({ preventScroll: false });
		}

		/* ---- zoom ---- */

		/* A cell is looked at within its frame. */
		zoom(f) {
			this.zoomed = f.cell ? f.parent : f;
			this.layoutFrames();
			this.drawButton();
			if (!this.current.visible)
				this.makeCurrent(this.zoomed);
		}

		reset() {
			this.search('');
			this.zoom(this.root);
		}

		drawButton() {
			const off = this.zoomed === this.root && !this.query;
			this.button.classList.toggle('off', off);
			this.button.setAttribute('aria-disabled', off);
		}

		/* ---- search ---- */

		search(query) {
			this.query = query;
			this.caretAt = Math.min(this.caretAt, Array.from(query).length);
			const word = query.toLowerCase(), hits = new Set();
			for (const f of this.frames) {
				if (word && !f.cell && !f.rest && f.name.toLowerCase().includes(word))
					hits.add(f);
			}
			this.mark(hits, Boolean(word));
			this.tell(hits);
			this.drawField();
			this.drawButton();
		}

		mark(hits, searching) {
			for (const f of this.frames) {
				f.lit = hits.has(f) || Boolean(f.parent && f.parent.lit);
				f.g.classList.toggle('hit', hits.has(f));
				f.g.classList.toggle('miss', searching && !f.lit);
			}
			this.hits = this.frames.filter((f) => hits.has(f));
		}

		/* What stands below a match belongs to it already. */
		tell(hits) {
			const outermost = this.hits.filter((f) => !(f.parent && f.parent.lit));
			const ns = outermost.reduce((sum, f) => sum + f.exact, 0n);
			if (!this.query)
				this.found.textContent = '';
			else if (!hits.size)
				this.found.textContent = 'no match';
			else
				this.found.textContent =
					`matched ${percent(ns, this.root.exact)}: ${duration(ns)} in ${plural(hits.size, 'frame')}`;
			this.found.setAttribute('data-ns', ns);
		}

		drawField() {
			const chars = Array.from(this.query);
			const empty = !chars.length && document.activeElement !== this.field;
			let from = 0;
			while (this.word(chars.slice(from, this.caretAt).join('')) > FIELD - 20)
				from++;
			let to = chars.length;
			while (this.word(chars.slice(from, to).join('')) > FIELD - 16)
				to--;
			const x = 8 + this.word(chars.slice(from, this.caretAt).join(''));
			this.field.classList.toggle('empty', empty);
			this.fieldText.textContent = empty ? 'Search  /' : chars.slice(from, to).join('');
			this.caret.setAttribute('x1', x);
			this.caret.setAttribute('x2', x);
			this.field.setAttribute('aria-description', this.query);
		}

		/* Only a real text field brings up a touch screen's keyboard, and an SVG picture has none. */
		ask() {
			if (COARSE.matches) {
				const answer = prompt('Search in the frames', this.query);
				if (answer !== null)
					this.search(answer);
			} else {
				this.field.focus();
			}
		}

		insert(text) {
			const chars = Array.from(this.query), more = Array.from(text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ''));
			chars.splice(this.caretAt, 0, ...more);
			this.caretAt += more.length;
			this.search(chars.join(''));
		}

		remove(at) {
			const chars = Array.from(this.query);
			if (at < 0 || at >= chars.length)
				return;
			chars.splice(at, 1);
			this.caretAt = at;
			this.search(chars.join(''));
		}

		moveCaret(to) {
			this.caretAt = Math.max(0, Math.min(to, Array.from(this.query).length));
			this.drawField();
		}

		paste(e) {
			e.preventDefault();
			this.insert(e.clipboardData.getData('text'));
		}

		/* ---- keys ---- */

		key(e) {
			const find = e.key === 'f' && (e.ctrlKey || e.metaKey) && this.alone;
			let done;
			if (e.altKey || ((e.ctrlKey || e.metaKey) && !find))
				return;
			if (find || (e.key === '/' && e.target !== this.field)) {
				this.ask();
				done = true;
			} else if (e.target === this.field) {
				done = this.keyInField(e.key);
			} else if (e.target === this.button) {
				done = this.keyOnButton(e.key) || this.keyAnywhere(e.key);
			} else {
				done = this.walk(e.key) || this.keyAnywhere(e.key);
			}
			if (done)
				e.preventDefault();
		}

		keyAnywhere(key) {
			if (key !== 'Escape' && key !== 'r')
				return false;
			this.reset();
			return true;
		}

		keyOnButton(key) {
			if (key !== 'Enter' && key !== ' ')
				return false;
			this.reset();
			return true;
		}

		keyInField(key) {
			const act = {
				Escape: () => { this.search(''); this.focus(this.current); },
				Enter: () => this.focus(this.hits && this.hits.find((f) => f.visible)),
				Backspace: () => this.remove(this.caretAt - 1),
				Delete: () => this.remove(this.caretAt),
				ArrowLeft: () => this.moveCaret(this.caretAt - 1),
				ArrowRight: () => this.moveCaret(this.caretAt + 1),
				Home: () => this.moveCaret(0),
				End: () => this.moveCaret(Infinity),
			}[key];
			if (act)
				act();
			else if (Array.from(key).length === 1)
				this.insert(key);
			else
				return false;
			return true;
		}

		/* Left and right: along the row; up and down: to what holds the frame, to what it holds. */
		walk(key) {
			const at = this.current, act = {
				ArrowLeft: () => this.focus(this.beside(at, -1)),
				ArrowRight: () => this.focus(this.beside(at, 1)),
				ArrowUp: () => this.focus(at.parent),
				ArrowDown: () => this.focus(at.below[0]),
				Home: () => this.focus(this.root),
				Enter: () => this.zoom(at),
				' ': () => this.zoom(at),
			}[key];
			if (!act)
				return false;
			if (this.of.has(document.activeElement))
				act();
			else
				this.focus(at);
			return true;
		}

		beside(f, step) {
			const row = this.frames.filter((x) => x.visible && x.depth === f.depth);
			return row[row.indexOf(f) + step];
		}
	}

	const begin = () => document.querySelectorAll('svg.flame:not(.on)').forEach((svg) => new Flame(svg));
	if (document.readyState === 'loading')
		document.addEventListener('DOMContentLoaded', begin);
	else
		begin();
})();

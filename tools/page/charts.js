// SPDX-License-Identifier: MIT
// Draws what `traceprof html` has put into the page: charts are SVG of our own,
// tables sort and filter.  No library, nothing fetched.
"use strict";

const files = JSON.parse(document.getElementById("data").textContent);
const CLASSES = [
	["MARKED", "in a range only"], ["RUNNING", "on a core, nothing else known"],
	["READY", "no core free"], ["SAMPLED", "running, by samples"],
	["WORK", "work"], ["KERNEL", "kernels"], ["COPY", "copies"],
	["CALL", "CUDA calls"], ["COMM", "communication"], ["WAIT", "waiting"],
	["OURS", "traceprof, waits for a core included"],
];
const WIDTH = 1100, LEFT = 190, RIGHT = 16;

// --- elements and numbers --------------------------------------------------

function make(space, tag, attributes, children) {
	const element = document.createElementNS(space, tag);

	for (const [name, value] of Object.entries(attributes || {}))
		if (value !== null && value !== undefined && value !== false)
			element.setAttribute(name, value);
	for (const child of children.flat(Infinity))
		if (child !== null && child !== undefined)
			element.append(child);
	return element;
}

const html = (tag, attributes, ...children) =>
	make("http://www.w3.org/1999/xhtml", tag, attributes, children);
const svg = (tag, attributes, ...children) =>
	make("http://www.w3.org/2000/svg", tag, attributes, children);

function digits(value) {
	const size = Math.abs(value);

	return size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1)
		: value.toFixed(2);
}

function time(ns) {
	if (!ns)
		return "0";
	for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["\u00b5s", 1e3]])
		if (Math.abs(ns) >= size)
			return digits(ns / size) + " " + unit;
	return digits(ns) + " ns";
}

function bytes(value) {
	for (const [unit, size] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]])
		if (Math.abs(value) >= size)
			return digits(value / size) + " " + unit;
	return value.toFixed(0) + " B";
}

const percent = share => digits(100 * share) + " %";
const count = value => value.toLocaleString("en");
const plain = value => Math.abs(value) >= 1e15 || !Number.isInteger(value)
	? digits(value) : count(value);

// "f<...>(...)" of what C++ and its compilers write out; Python's
// "file.py(12): <module>" is no such thing.
function short(name, most = 90) {
	const isPython = /\(\d+\): /.test(name);
	let text = name;

	for (let before = isPython ? name : null; before !== text && text.length > 40;) {
		before = text;
		text = text.replace(/(?<!operator)<[^<>]+>/g, "").replace(/\([^()]{12,}\)/g, "()");
	}
	return text.length <= most ? text
		: text.slice(0, most / 2) + "\u2026" + text.slice(1 - most / 2);
}

// --- charts ------------------------------------------------------------------

// A round number at or above value, and so many steps of it.
function ceiling(value, base) {
	const power = base ** Math.floor(Math.log(value || 1) / Math.log(base));

	for (const factor of base === 2 ? [1, 1.25, 1.5, 2]
		: [1, 1.5, 2, 3, 4, 6, 8, 10])
		if (value <= factor * power)
			return factor * power;
	return value;
}

// A figure whose moments can be walked through, by mouse or by arrow keys;
// say(part) tells of the one at that part, from 0 to 1, of its width.
function figure(summary, height, marks, say, steps) {
	const line = svg("line", {class: "cursor", y1: 0, y2: height});
	const drawing = svg("svg", {viewBox: `0 0 ${WIDTH} ${height}`, role: "img",
		tabindex: say ? 0 : null, "aria-label": summary}, marks, line);
	const caption = html("figcaption", {"aria-live": "polite"}, summary);
	let at = -1;

	function show(next) {
		at = Math.min(steps - 1, Math.max(0, next));
		const x = LEFT + (WIDTH - LEFT - RIGHT) * (at + 0.5) / steps;

		line.setAttribute("x1", x);
		line.setAttribute("x2", x);
		line.style.visibility = "visible";
		caption.textContent = say(at);
	}
	function leave() {
		line.style.visibility = "hidden";
		caption.textContent = summary;
	}
	if (say) {
		drawing.addEventListener("mousemove", event => {
			const box = drawing.getBoundingClientRect();
			const x = (event.clientX - box.left) * WIDTH / box.width;

			show(Math.floor((x - LEFT) / (WIDTH - LEFT - RIGHT) * steps));
		});
		drawing.addEventListener("mouseleave", leave);
		drawing.addEventListener("blur", leave);
		drawing.addEventListener("keydown", event => {
			const far = event.shiftKey ? 10 : 1;
			const next = {ArrowLeft: at - far, ArrowRight: at + far,
				Home: 0, End: steps - 1}[event.key];

			if (next === undefined)
				return;
			event.preventDefault();
			show(next);
		});
	}
	const whole = html("figure", {}, drawing, caption);

	// For links that lead to a place in it: a part, from 0 to 1.
	whole.goTo = part => {
		drawing.focus({preventScroll: true});
		show(Math.floor(part * steps));
	};
	return whole;
}

function axes(high, height, text, base) {
	const marks = [];

	for (let part = 0; part <= 4; part++) {
		const y = height - height * part / 4;

		marks.push(svg("line", {class: "axis", x1: LEFT, x2: WIDTH - RIGHT,
			y1: y, y2: y}));
		marks.push(svg("text", {x: LEFT - 8, y: y + 4, "text-anchor": "end"},
			text(high * part / 4)));
	}
	return marks;
}

function timeline(wall_ms, y) {
	const marks = [];

	for (let part = 0; part <= 5; part++)
		marks.push(svg("text", {x: LEFT + (WIDTH - LEFT - RIGHT) * part / 5,
			y: y + 14, "text-anchor": part === 5 ? "end" : part ? "middle" : "start"},
			time(wall_ms * 1e6 * part / 5)));
	return marks;
}

const across = (part, of) => LEFT + (WIDTH - LEFT - RIGHT) * part / of;

function stepChart(steps) {
	const points = steps.points, height = 220;
	const most = points.reduce((most, point) => Math.max(most, point[4]), 0);
	const high = ceiling(most, 10);
	const y = value => height - height * value / high;
	const grouped = steps.group > 1;
	const marks = axes(high, height, value => time(value * 1e6));
	const wide = Math.max(1.5, (WIDTH - LEFT - RIGHT) / points.length - 1);

	points.forEach((point, at) => {
		const x = across(at + 0.5, points.length);

		if (grouped)
			marks.push(svg("rect", {class: "range", x: x - wide / 2,
				width: wide, y: y(point[4]),
				height: Math.max(1, y(point[2]) - y(point[4]))}));
		marks.push(svg("circle", {class: "dot", cx: x, cy: y(point[3]),
			r: points.length > 300 ? 1.6 : 2.6}));
	});
	for (const name of ["p50", "p95"]) {
		marks.push(svg("line", {class: name === "p50" ? "median" : "p95",
			x1: LEFT, x2: WIDTH - RIGHT, y1: y(steps[name]), y2: y(steps[name])}));
		marks.push(svg("text", {class: "label", y: y(steps[name]) - 3,
			x: WIDTH - RIGHT - (name === "p50" ? 2 : 60), "text-anchor": "end"},
			name === "p50" ? "median" : name));
	}
	marks.push(svg("text", {x: LEFT, y: height + 14},
		"step " + points[0][0]));
	marks.push(svg("text", {x: WIDTH - RIGHT, y: height + 14,
		"text-anchor": "end"}, "step " + points[points.length - 1][0]));
	const summary = `${count(steps.count)} steps: median ${time(steps.p50 * 1e6)}, ` +
		`5 % below ${time(steps.p5 * 1e6)}, 95 % below ${time(steps.p95 * 1e6)}, ` +
		`99 % below ${time(steps.p99 * 1e6)}, longest ${time(most * 1e6)}` +
		(grouped ? `; each mark stands for ${steps.group} steps` : "");
	return figure(summary, height + 20, marks, at => {
		const point = points[at];

		return grouped
			? `steps from ${point[0]} on: ${time(point[2] * 1e6)} to ` +
			  `${time(point[4] * 1e6)}, median ${time(point[3] * 1e6)}`
			: `step ${point[0]}: ${time(point[3] * 1e6)}, begun at ` +
			  time(point[1] * 1e6);
	}, points.length);
}

function legend(names) {
	return html("ul", {class: "legend"}, CLASSES.filter(([name]) => names.has(name))
		.map(([name, text]) => html("li", {},
			html("i", {style: `background: var(--c-${name})`}), text)));
}

function laneChart(time_, lanes) {
	const tall = 26, gap = 6, bins = time_.bins;
	const height = lanes.length * (tall + gap);
	const marks = [];

	lanes.forEach((lane, row) => {
		const top = row * (tall + gap);
		const below = new Array(bins).fill(0);
		const name = short(lane.name, 28);

		marks.push(svg("text", {class: "label", x: LEFT - 8, y: top + 17,
			"text-anchor": "end"}, svg("title", {}, lane.name), name));
		marks.push(svg("rect", {x: LEFT, y: top, width: WIDTH - LEFT - RIGHT,
			height: tall, fill: "var(--c-NOTHING)"}));
		for (const [kind] of CLASSES) {
			const shares = lane.shares[kind];
			let path = "";

			if (!shares)
				continue;
			for (let bin = 0; bin < bins; bin++) {
				if (!shares[bin])
					continue;
				const x = across(bin, bins), wide = across(bin + 1, bins) - x;
				const high = tall * Math.min(shares[bin], 100 - below[bin]) / 100;

				path += `M${x.toFixed(1)} ${(top + tall - tall * below[bin] / 100).toFixed(1)}` +
					`h${wide.toFixed(2)}v${(-high).toFixed(1)}h${(-wide).toFixed(2)}z`;
				below[bin] += shares[bin];
			}
			marks.push(svg("path", {d: path, fill: `var(--c-${kind})`}));
		}
	});
	const summary = `Use of ${lanes.length} lanes over ${time(time_.wall_ms * 1e6)}: ` +
		lanes.slice(0, 8).map(lane => `${lane.name} ${percent(lane.used)}`).join(", ") +
		(lanes.length > 8 ? ", ..." : "");
	marks.push(...timeline(time_.wall_ms, height));
	return figure(summary, height + 18, marks, at => "at " +
		time(time_.wall_ms * 1e6 * (at + 0.5) / bins) + ": " +
		lanes.slice(0, 6).map(lane => lane.name + " " +
			(CLASSES.filter(([kind]) => lane.shares[kind] && lane.shares[kind][at])
				.map(([kind, text]) => `${text} ${lane.shares[kind][at]} %`)
				.join(", ") || "nothing")).join("; "), bins);
}

function seriesChart(time_, series) {
	const height = 110, bins = time_.bins;
	const text = series.bytes ? bytes : plain;
	const high = ceiling(Math.max(series.peak, 1e-9), series.bytes ? 2 : 10);
	const y = value => height - height * Math.max(0, value) / high;
	const known = [];
	let last = null, line = "", from = -1;

	for (let bin = 0; bin < bins; bin++) {
		const top = series.high[bin] !== null ? series.high[bin] : last;

		known.push(top);
		if (top !== null) {
			if (from < 0)
				from = bin;
			line += `${line ? "L" : "M"}${across(bin + 0.5, bins).toFixed(1)} ` +
				y(top).toFixed(1);
		}
		last = series.last[bin] !== null ? series.last[bin] : last;
	}
	const peak = across(series.peak_ms, time_.wall_ms);
	const marks = axes(high, height, text);

	if (from >= 0) {
		marks.push(svg("path", {class: "area", d: line +
			`L${across(bins - 0.5, bins)} ${height}L${across(from + 0.5, bins)} ${height}z`}));
		marks.push(svg("path", {class: "line", d: line}));
		marks.push(svg("circle", {class: "peak", r: 4, cy: y(series.peak),
			cx: Math.min(WIDTH - RIGHT, Math.max(LEFT, peak))}));
	}
	marks.push(...timeline(time_.wall_ms, height));
	return html("div", {}, html("h3", {}, series.name), figure(
		`${series.name}: largest ${text(series.peak)} at ${time(series.peak_ms * 1e6)}`,
		height + 18, marks, at => `${series.name} at ` +
			`${time(time_.wall_ms * 1e6 * (at + 0.5) / bins)}: ` +
			(known[at] === null ? "not known" : text(known[at])), bins));
}

function regionChart(regions) {
	const shown = regions.slice(0, 16), tall = 20, gap = 6;
	const parts = [["work_ns", "WORK", "work"], ["wait_ns", "WAIT", "waiting"]];
	const most = Math.max(...shown.map(region => region.work_ns + region.wait_ns));
	const marks = [];

	shown.forEach((region, row) => {
		const top = row * (tall + gap);
		const name = short(region.name, 28);
		let x = LEFT;

		marks.push(svg("text", {class: "label", x: LEFT - 8, y: top + 14,
			"text-anchor": "end"}, svg("title", {}, region.name), name));
		for (const [field, kind, text] of parts) {
			const wide = (WIDTH - LEFT - RIGHT - 190) * region[field] / most;

			marks.push(svg("rect", {x, y: top, width: wide, height: tall,
				fill: `var(--c-${kind})`},
				svg("title", {}, `${text}: ${time(region[field])}`)));
			x += wide;
		}
		marks.push(svg("text", {x: x + 6, y: top + 14},
			`${percent(region.wait_ns / (region.work_ns + region.wait_ns || 1))} ` +
			`waiting, max/mean ${digits(region.max_over_mean)}`));
	});
	return figure("Thread time in parallel regions, most waiting first: work, then " +
		"waiting; max/mean is how much longer the slowest thread worked than the mean.",
		shown.length * (tall + gap), marks, null, 1);
}

// Each box is a scope in its caller's, its width the time; a click or Enter
// makes it the whole width, Escape goes back.
function flameChart(flame) {
	const tall = 18, nodes = [], open = [];
	let chosen = null, whole = 0;

	for (const [depth, name, ms] of flame) {
		const up = depth ? open[depth - 1] : null;
		const node = {depth, name, ms, up, below: [],
			at: up ? up.at + up.below.reduce((sum, one) => sum + one.ms, 0) : whole};

		whole += up ? 0 : ms;
		if (up)
			up.below.push(node);
		open[depth] = node;
		nodes.push(node);
	}
	const rows = Math.min(40, Math.max(...nodes.map(node => node.depth)) + 1);
	const drawing = svg("svg", {viewBox: `0 0 ${WIDTH} ${rows * tall}`, tabindex: 0,
		role: "img", class: "flame"});
	const caption = html("figcaption", {"aria-live": "polite"});
	const say = node => `${short(node.name, 200)}: ${time(node.ms * 1e6)}` +
		(node.up ? `, ${percent(node.ms / node.up.ms)} of ${short(node.up.name)}` : "");
	const isIn = (node, other) => other && (node === other || isIn(node, other.up));
	const summary = "Time by scope, callers above; " + nodes.filter(node => !node.depth)
		.slice(0, 4).map(node => `${node.name} ${time(node.ms * 1e6)}`).join(", ");
	let zoomed = null;

	drawing.setAttribute("aria-label", summary);
	function choose(node) {
		chosen = node;
		caption.textContent = node ? say(node) : summary;
		for (const box of drawing.children)
			box.classList.toggle("chosen", box.node === node);
	}
	function draw() {
		const from = zoomed ? zoomed.at : 0, span = (zoomed ? zoomed.ms : whole) || 1;

		drawing.replaceChildren(...nodes.filter(node => node.depth < rows &&
			(!zoomed || isIn(zoomed, node) || isIn(node, zoomed))).map(node => {
			const over = zoomed && node !== zoomed && isIn(node, zoomed);
			const x = over ? 0 : (node.at - from) / span * WIDTH;
			const wide = over ? WIDTH : node.ms / span * WIDTH;
			const fits = Math.floor((wide - 6) / 7);
			const box = wide < 0.4 ? null : svg("g", {},
				svg("title", {}, `${node.name}: ${time(node.ms * 1e6)}`),
				svg("rect", {x, y: node.depth * tall, width: Math.max(0.3, wide - 0.6),
					height: tall - 1, class: /wait|barrier|synchron/i.test(node.name)
						? "waits" : node.depth % 2 ? "odd" : "even"}),
				fits > 3 ? svg("text", {x: x + 3, y: node.depth * tall + 13},
					short(node.name, fits)) : null);

			if (box)
				box.node = node;
			return box;
		}).filter(Boolean));
		choose(chosen);
	}
	function zoom(node) {
		zoomed = node && node.up ? node : null;
		draw();
	}
	drawing.addEventListener("click", event => {
		const box = event.target.closest("g");

		choose(box && box.node);
		zoom(box && box.node);
	});
	drawing.addEventListener("mouseover", event => {
		const box = event.target.closest("g");

		if (box)
			caption.textContent = say(box.node);
	});
	drawing.addEventListener("keydown", event => {
		const beside = chosen && (chosen.up ? chosen.up.below
			: nodes.filter(node => !node.depth));
		const place = chosen ? beside.indexOf(chosen) : 0;
		const next = !chosen ? nodes[0] : {ArrowDown: chosen.below[0],
			ArrowUp: chosen.up, ArrowLeft: beside[place - 1],
			ArrowRight: beside[place + 1]}[event.key];

		if (event.key === "Enter" || event.key === "Escape")
			zoom(event.key === "Enter" ? chosen : null);
		else if (event.key.startsWith("Arrow") && next)
			choose(next);
		else
			return;
		event.preventDefault();
	});
	draw();
	return html("figure", {}, drawing, caption);
}

// What calls reach against what the machine can do; both axes by powers of ten.
function roofline(calls) {
	const height = 260, points = calls.map(one => ({...one, x: one.flops / one.bytes,
		y: one.flops / one.total_ns}));
	const roofs = points.filter(one => one.roof);
	const flat = Math.max(0, ...roofs.filter(one => one.bound === "compute")
		.map(one => one.roof / 1e9));
	const slope = Math.max(0, ...roofs.filter(one => one.bound === "memory")
		.map(one => one.roof / 1e9 / one.x));
	const low = Math.floor(Math.log10(Math.min(...points.map(one => one.x))) - 0.3);
	const high = Math.ceil(Math.log10(Math.max(...points.map(one => one.x))) + 0.3);
	const top = Math.ceil(Math.log10(Math.max(flat, ...points.map(one => one.y))) + 0.1);
	const bottom = Math.floor(Math.log10(Math.min(...points.map(one => one.y))) - 0.1);
	const x = value => LEFT + (WIDTH - LEFT - RIGHT) * (Math.log10(value) - low) / (high - low);
	const y = value => height - height * (Math.log10(value) - bottom) / (top - bottom);
	const most = Math.max(...points.map(one => one.total_ns));
	const marks = [];

	for (let power = bottom; power <= top; power++)
		marks.push(svg("line", {class: "axis", x1: LEFT, x2: WIDTH - RIGHT,
			y1: y(10 ** power), y2: y(10 ** power)}), svg("text", {x: LEFT - 8,
			y: y(10 ** power) + 4, "text-anchor": "end"}, `${10 ** power} GFLOP/s`));
	for (let power = low; power <= high; power++)
		marks.push(svg("text", {x: x(10 ** power), y: height + 14, "text-anchor":
			power === high ? "end" : "middle"}, `${10 ** power} FLOP/B`));
	for (let at = 0, last = null; (flat || slope) && at <= 60; at++) {
		const value = 10 ** (low + (high - low) * at / 60);
		const roof = Math.min(flat || Infinity, slope ? slope * value : Infinity);

		if (last && roof >= 10 ** bottom)
			marks.push(svg("line", {class: "p95", x1: x(last[0]), x2: x(value),
				y1: Math.min(height, y(last[1])), y2: y(roof)}));
		last = [value, roof];
	}
	for (const one of points)
		marks.push(svg("circle", {class: "range", cx: x(one.x), cy: y(one.y),
			r: 3 + 9 * Math.sqrt(one.total_ns / most)}, svg("title", {},
			`${one.name} from ${one.site}: ${digits(one.y)} GFLOP/s, ` +
			`${digits(one.x)} FLOP for each byte` +
			(one.roof ? `, ${percent(one.rate / one.roof)} of what ${one.bound} allows` : ""))));
	return figure(`${points.length} kinds of calls; larger dots took more time. ` +
		(roofs.length ? "The line is what this machine can do (traceprof peak)."
			: "Without a roof: traceprof peak measures it."), height + 18, marks, null, 1);
}

// Which colour a part of the step has.
const SHARES = {gpu: "KERNEL", host: "CALL", copy: "COPY", sync: "WAIT",
	omp_work: "WORK", omp_wait: "WAIT", omp_uneven: "UNEVEN", alloc: "OURS",
	comm: "COMM", data: "DATA", off_cpu: "OFF", others: "WORK", python: "PYTHON",
	native: "NATIVE"};

function splitBar(parts, isEstimated) {
	const share = part => (isEstimated ? "~" : "") + percent(part.share);
	const marks = [], items = [];
	let x = 0;

	for (const part of parts) {
		const wide = WIDTH * part.share;
		const color = `var(--c-${SHARES[part.key] || "MARKED"})`;

		marks.push(svg("rect", {x, y: 0, width: wide, height: 30, fill: color},
			svg("title", {}, `${part.what}: ${share(part)}`)));
		items.push(html("li", {}, html("i", {style: "background: " + color}),
			part.what));
		x += wide;
	}
	return [figure(parts.map(part => `${part.what} ${share(part)}`).join(", "),
		30, marks, null, 1), html("ul", {class: "legend"}, items)];
}

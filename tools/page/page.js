// SPDX-License-Identifier: MIT
// Draws what `traceprof html` has put into the page: charts are SVG of our own,
// tables sort and filter.  No library, nothing fetched.
"use strict";

const files = JSON.parse(document.getElementById("data").textContent);
const CLASSES = [
	["MARKED", "in a range only"], ["WORK", "work"], ["KERNEL", "kernels"],
	["COPY", "copies"], ["CALL", "CUDA calls"], ["COMM", "communication"],
	["WAIT", "waiting"], ["OURS", "traceprof"],
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
	return html("figure", {}, drawing, caption);
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
		marks.push(svg("text", {class: "label", x: WIDTH - RIGHT - 2,
			y: y(steps[name]) - 3, "text-anchor": "end"},
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
		const name = lane.name.length > 28
			? lane.name.slice(0, 14) + "\u2026" + lane.name.slice(-13) : lane.name;

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
		const name = region.name.length > 28
			? region.name.slice(0, 14) + "\u2026" + region.name.slice(-13) : region.name;
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

// Which colour a part of the step has.
const SHARES = {gpu: "KERNEL", host: "CALL", copy: "COPY", sync: "WAIT",
	omp_work: "WORK", omp_wait: "WAIT", omp_uneven: "UNEVEN", alloc: "OURS",
	comm: "COMM", data: "MARKED", off_cpu: "NOTHING"};

function splitBar(parts) {
	const marks = [], items = [];
	let x = 0;

	for (const part of parts) {
		const wide = WIDTH * part.share;
		const color = `var(--c-${SHARES[part.key] || "MARKED"})`;

		marks.push(svg("rect", {x, y: 0, width: wide, height: 30, fill: color},
			svg("title", {}, `${part.what}: ${percent(part.share)}`)));
		items.push(html("li", {}, html("i", {style: "background: " + color}),
			part.what));
		x += wide;
	}
	return [figure(parts.map(part => `${part.what} ${percent(part.share)}`).join(", "),
		30, marks, null, 1), html("ul", {class: "legend"}, items)];
}

// --- tables ------------------------------------------------------------------

// How a column of the report's JSON reads, by its key.
function column(key) {
	const title = key.replace(/_(ns|bytes)$/, "").replace(/_/g, " ");
	const text = key.endsWith("_ns") ? time
		: key === "bytes" || key.endsWith("_bytes") ? bytes : plain;

	return {key, title, text};
}

// Of objects with the same keys; a key's first value tells what it is.
function sortedTable(title, rows) {
	const keys = [...new Set(rows.flatMap(row => Object.keys(row)))].filter(
		key => rows.some(row => row[key] === null || typeof row[key] !== "object"));
	const isText = key => rows.some(row => typeof row[key] === "string");
	const columns = [...keys.filter(key => !isText(key)), ...keys.filter(isText)]
		.map(key => ({...column(key), isText: isText(key)}));
	const body = html("tbody");
	const shown = html("span", {class: "faint", "aria-live": "polite"});
	const filter = html("input", {type: "search", placeholder: "filter by name",
		"aria-label": `filter ${title} by name`});
	const most = {};
	let order = null, falling = true;	// null: as it was given

	for (const {key, isText} of columns)
		if (!isText && key.endsWith("_ns"))
			most[key] = Math.max(...rows.map(row => row[key] || 0));

	function cell(row, {key, text, isText}) {
		const value = row[key];

		if (value === undefined || value === null)
			return html("td");
		if (isText)
			return html(key === "name" ? "th" : "td", {class: "text",
				scope: key === "name" ? "row" : null}, String(value));
		return html("td", {class: key === "total_ns" ? "bar" : null,
			style: key === "total_ns" && most[key] > 0
				? `--part: ${(100 * value / most[key]).toFixed(1)}%` : null},
			typeof value === "number" ? text(value) : String(value));
	}
	function compare(a, b) {
		const [x, y] = [a[order.key], b[order.key]];

		return order.isText ? String(x).localeCompare(String(y))
			: (x ?? -Infinity) - (y ?? -Infinity);
	}
	function fill() {
		const wanted = filter.value.toLowerCase();
		const kept = rows.filter(row => !wanted || columns.some(({key, isText}) =>
			isText && String(row[key]).toLowerCase().includes(wanted)));

		if (order)
			kept.sort((a, b) => compare(a, b) * (falling ? -1 : 1));
		body.replaceChildren(...kept.map(row => html("tr", {},
			columns.map(one => cell(row, one)))));
		shown.textContent = (kept.length === rows.length ? "" :
			`${count(kept.length)} of `) + (rows.length === 1 ? "1 row"
			: `${count(rows.length)} rows`);
	}
	const heads = columns.map(one => {
		const button = html("button", {type: "button"}, one.title);
		const head = html("th", {scope: "col", class: one.isText ? "text" : null,
			"aria-sort": "none"}, button);

		button.addEventListener("click", () => {
			falling = one === order ? !falling : !one.isText;
			order = one;
			heads.forEach(other => other.setAttribute("aria-sort", "none"));
			head.setAttribute("aria-sort", falling ? "descending" : "ascending");
			fill();
		});
		return head;
	});

	filter.addEventListener("input", fill);
	fill();
	return html("div", {},
		html("div", {class: "filter"}, rows.length > 8 ? filter : null, shown),
		html("div", {class: "scroll", tabindex: 0, role: "region",
			"aria-label": title}, html("table", {},
			html("caption", {hidden: ""}, title),
			html("thead", {}, html("tr", {}, heads)), body)));
}

// --- the page ----------------------------------------------------------------

function section(id, title, ...content) {
	return html("section", {id, "aria-labelledby": id + "-title"},
		html("h2", {id: id + "-title"}, title), content);
}

function cards(report, time_) {
	const facts = [["recorded", time(report.wall_ns)], ["events", count(report.events)]];

	if (time_.steps.count)
		facts.push(["steps", count(time_.steps.count)],
			["median step", time(time_.steps.p50 * 1e6)],
			["95 % of the steps below", time(time_.steps.p95 * 1e6)]);
	for (const device of report.devices || [])
		facts.push([`GPU ${device.device} busy`,
			percent(device.busy_ns / (report.wall_ns || 1))]);
	for (const series of time_.series.filter(one => one.bytes))
		facts.push([`peak of ${series.name}`, bytes(series.peak)]);
	return html("dl", {class: "cards"}, facts.map(([name, value]) =>
		html("div", {}, html("dt", {}, name), html("dd", {}, value))));
}

function finding(one) {
	return html("li", {}, one.share > 0
		? html("strong", {}, `up to ${(100 * one.share).toFixed(1)} %: `) : null,
	one.figure, " ", html("span", {class: "faint"}, `[${one.rule}; ${one.threshold}]`),
	one.place ? html("span", {}, " Worst: ", one.place, ".") : null,
	html("br"), "Next: ", one.next);
}

function findings(file) {
	const {report, time: time_} = file;
	const also = report.remarks || [];

	return section("findings", "Findings",
		report.warning ? html("p", {class: "warning"}, report.warning) : null,
		time_.findings.length
			? html("ol", {class: "findings"}, time_.findings.map(finding))
			: html("p", {}, "No rule finds anything to change."),
		also.length ? html("ul", {class: "findings faint"},
			also.map(line => html("li", {}, line))) : null);
}

const CATEGORIES = {
	cpu_op: "Operators and regions", kernel: "Kernels", gpu_memcpy: "GPU copies",
	gpu_memset: "GPU fills", cuda_runtime: "CUDA runtime calls",
	cuda_driver: "CUDA driver calls", user_annotation: "Ranges",
	python_function: "Python functions", cuda_sync: "Synchronisation of the GPU",
	"openmp members": "Members' shares of OpenMP regions",
	"openmp waits": "OpenMP waits", overhead: "traceprof itself",
};

function tables(report) {
	const title = name => CATEGORIES[name] || name[0].toUpperCase() + name.slice(1);

	return (report.categories || []).filter(one => one.names.length).map(one => [
		html("h3", {}, title(one.category)), sortedTable(title(one.category), one.names)]);
}

function sections(file) {
	const {report, time: time_} = file;
	const list = [findings(file)];
	const lanes = time_.lanes, kinds = new Set(lanes.flatMap(
		lane => Object.keys(lane.shares)));
	const memory = time_.series.filter(one => one.bytes);
	const counters = time_.series.filter(one => !one.bytes);

	list.push(section("steps", "Steps", time_.steps.count ? stepChart(time_.steps)
		: html("p", {}, "No steps are marked in this trace.")));
	if (time_.split.length)
		list.push(section("split", time_.steps.count ? "Where the step goes"
			: "Where the time goes", splitBar(time_.split)));
	if (lanes.length)
		list.push(section("use", "Threads and GPUs over time", legend(kinds),
			laneChart(time_, lanes), time_.lanes_left_out
				? html("p", {class: "faint"}, "Further lanes are left out.") : null));
	if (memory.length)
		list.push(section("memory", "Memory over time",
			memory.map(one => seriesChart(time_, one))));
	if (report.regions && report.regions.length)
		list.push(section("openmp", "OpenMP: balance",
			legend(new Set(["WORK", "WAIT"])), regionChart(report.regions),
			sortedTable("OpenMP regions", report.regions)));
	list.push(section("names", "By name", tables(report)));
	if (report.streams && report.streams.length)
		list.push(section("streams", "GPU streams",
			sortedTable("GPU streams", report.streams)));
	if (counters.length)
		list.push(section("counters", "Counters",
			counters.map(one => seriesChart(time_, one))));
	list.push(section("settings", "Environment and settings",
		(report.notes || []).length
			? html("ul", {}, report.notes.map(note => html("li", {}, note))) : null,
		time_.facts.length ? sortedTable("Environment and settings",
			time_.facts.map(([name, value]) => ({name, value})))
			: html("p", {}, "The file says nothing of them.")));
	return [cards(report, time_), ...list];
}

function themeButton() {
	const button = html("button", {type: "button", class: "theme"}, "light / dark");

	button.addEventListener("click", () => {
		const root = document.documentElement;
		const dark = root.dataset.theme ? root.dataset.theme === "dark"
			: matchMedia("(prefers-color-scheme: dark)").matches;

		root.dataset.theme = dark ? "light" : "dark";
	});
	return button;
}

const base = path => path.slice(path.lastIndexOf("/") + 1);

function build() {
	const heading = html("h1"), main = html("main", {id: "main"});
	const nav = html("nav", {"aria-label": "sections"});
	const choice = html("select", {"aria-label": "file"}, files.map((file, at) =>
		html("option", {value: at}, base(file.report.file))));

	function show() {
		const file = files[choice.value || 0];

		heading.textContent = base(file.report.file);
		document.title = "traceprof: " + heading.textContent;
		main.replaceChildren(...sections(file));
		nav.replaceChildren(...[...main.querySelectorAll("section")].map(part =>
			html("a", {href: "#" + part.id},
				part.querySelector("h2").textContent)));
	}
	choice.addEventListener("change", show);
	document.body.append(html("a", {class: "skip", href: "#main"}, "to the content"),
		html("header", {}, html("div", {class: "top"}, nav,
			files.length > 1 ? choice : null, themeButton()), heading), main);
	show();
}

build();

// SPDX-License-Identifier: MIT
// What the page is put together of: tables that sort and filter, sections, links.
// charts.js comes before it, in the same script.

// --- tables ------------------------------------------------------------------

const PRINTED = 30;	// rows of a table; page.css has it too

// How a column of the report's JSON reads, by its key.
function column(key) {
	const title = key.replace(/_(ns|bytes)$/, "").replace(/_/g, " ");
	const text = key.endsWith("_ns") ? time
		: key === "bytes" || key.endsWith("_bytes") ? bytes : plain;

	return {key, title, text};
}

// Of objects with the same keys; a key's first value tells what it is.
function sortedTable(title, rows, printed = PRINTED) {
	const keys = [...new Set(rows.flatMap(row => Object.keys(row)))].filter(
		key => rows.some(row => row[key] === null || typeof row[key] !== "object"));
	const isText = key => rows.some(row => typeof row[key] === "string");
	const columns = [...keys.filter(key => !isText(key)), ...keys.filter(isText)]
		.map(key => ({...column(key), isText: isText(key)}));
	const body = html("tbody");
	const shown = html("span", {class: "faint", "aria-live": "polite"});
	const onPaper = html("span", {class: "faint printed"});
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
				scope: key === "name" ? "row" : null, title: String(value)},
			short(String(value), 160));
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
		onPaper.textContent = kept.length > printed
			? `; the first ${printed} are printed` : "";
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
		html("div", {class: "filter"}, rows.length > 8 ? filter : null,
			html("span", {}, shown, onPaper)),
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
	// What was launched in the window; a GPU that is behind does it later.
	for (const device of report.devices || []) {
		const share = device.busy_ns / (report.wall_ns || 1);

		facts.push(share > 1
			? [`GPU ${device.device}, for what was launched`, time(device.busy_ns)]
			: [`GPU ${device.device} busy`, percent(share)]);
	}
	for (const series of time_.series.filter(one => one.bytes))
		facts.push([`peak of ${series.name}`, bytes(series.peak)]);
	return html("dl", {class: "cards"}, facts.map(([name, value]) =>
		html("div", {}, html("dt", {}, name), html("dd", {}, value))));
}

// Leads to the place in a chart where a finding is worst.
function placeLinks(one, time_) {
	const links = [];
	const add = (id, part, text) => {
		const link = html("a", {href: "#" + id}, text);

		link.addEventListener("click", () =>
			setTimeout(() => document.querySelector(`#${id} figure`).goTo(part)));
		links.push(" ", link);
	};
	const points = time_.steps.points || [];

	if (one.at_ms !== undefined && time_.lanes.length)
		add("use", one.at_ms / time_.wall_ms, "show it");
	if (one.step !== undefined && points.length)
		add("steps", (points.findLastIndex(point => point[0] <= one.step) + 0.5) /
			points.length, "the step");
	return links;
}

function finding(one, time_) {
	return html("li", {}, one.share > 0
		? html("strong", {}, `up to ${(100 * one.share).toFixed(1)} %: `) : null,
	one.figure, " ", html("span", {class: "faint"}, `[${one.rule}; from ${one.threshold}].`),
	one.place ? html("span", {}, " Worst: ", one.place, ".", placeLinks(one, time_))
		: null,
	one.next ? html("br") : null, one.next ? `Next: ${one.next}` : null);
}

function findings(file) {
	const {report, time: time_} = file;
	const also = report.remarks || [];

	return section("findings", "Findings",
		report.warning ? html("p", {class: "warning"}, report.warning) : null,
		time_.findings.length
			? html("ol", {class: "findings"}, time_.findings.map(one => finding(one, time_)))
			: html("p", {}, "No rule finds anything to change."),
		time_.unseen > 0 ? html("p", {},
			`In ${(100 * time_.unseen).toFixed(0)} % of the time nothing happens that is ` +
			"recorded: --sample (TRACEPROF_SAMPLE=499) shows what does.")
			: null,
		also.length ? html("ul", {class: "findings faint"},
			also.map(line => html("li", {}, line))) : null);
}

const CATEGORIES = {
	cpu_op: "Operators and regions", kernel: "Kernels", gpu_memcpy: "GPU copies",
	gpu_memset: "GPU fills", cuda_runtime: "CUDA runtime calls",
	cuda_driver: "CUDA driver calls", user_annotation: "Ranges",
	python_function: "Python functions", cuda_sync: "Synchronisation of the GPU",
	gpu_user_annotation: "Ranges on the GPU", cuda_event: "CUDA events",
	openmp: "OpenMP: what is held", cpu_sample: "Native functions, by samples",
	wait: "Calls that wait", file_io: "Files", gpu_throttle: "Throttling of the GPU",
	unified_memory: "Managed memory",
	"openmp members": "Members' shares of OpenMP regions",
	"openmp waits": "OpenMP waits", overhead: "traceprof itself",
};

function tables(report) {
	const title = name => CATEGORIES[name] || name[0].toUpperCase() + name.slice(1);

	return (report.categories || []).filter(one => one.names.length).map(one => [
		html("h3", {}, title(one.category)), sortedTable(title(one.category), one.names)]);
}

function holders(file) {
	if (!file.holders)
		return html("p", {class: "faint"}, "Who holds it is known with " +
			"TRACEPROF_STACK=heap.");
	const ended = file.holders.ended_ns === undefined ? null
		: html("p", {class: "faint"}, `Of the first ${time(file.holders.ended_ns)} ` +
			"alone: after that blocks are missing (TRACEPROF_MAX_MB).");
	return [ended, ...file.holders.memories.filter(one => one.places.length).map(one => [
		html("h3", {}, `Who held ${bytes(one.peak_bytes)} of ${one.memory} at its peak`),
		sortedTable(`Holders of ${one.memory}`, one.places)])];
}

// What each phase of training takes of the typical steps, largest first.
function phases(step) {
	const named = Object.entries((step && step.phases_ns) || {})
		.filter(([, ns]) => ns >= 0.005 * step.total_ns)
		.sort((a, b) => b[1] - a[1]);

	return named.length ? html("p", {}, (step.split_ns.gpu > 0 ? "Phases of the host: "
		: "By phase: ") + named.map(([name, ns]) =>
		`${percent(ns / step.total_ns)} ${name}`).join(", ")) : null;
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
			: "Where the time goes", splitBar(time_.split, time_.estimated),
			phases(report.step)));
	if (lanes.length)
		list.push(section("use", "Threads and GPUs over time", legend(kinds),
			laneChart(time_, lanes), time_.lanes_left_out
				? html("p", {class: "faint"}, "Further lanes are left out.") : null));
	if (time_.flame.length > 1)
		list.push(section("flame", "Time by scope", flameChart(time_.flame)));
	if (memory.length)
		list.push(section("memory", "Memory over time",
			memory.map(one => seriesChart(time_, one)), holders(file)));
	if (report.regions && report.regions.length)
		list.push(section("openmp", "OpenMP: balance",
			legend(new Set(["WORK", "WAIT"])), regionChart(report.regions),
			sortedTable("OpenMP regions", report.regions)));
	const named = tables(report);
	if (named.length)
		list.push(section("names", "By name", named));
	const blas = (report.blas || []).filter(one => one.flops > 0 && one.bytes > 0 &&
		one.total_ns > 0 && !one.uncounted);

	if (blas.length)
		list.push(section("roofline", "Matrix products and the roofline",
			roofline(blas), sortedTable("Calls of BLAS", report.blas)));
	if (report.streams && report.streams.length)
		list.push(section("streams", "GPU streams",
			sortedTable("GPU streams", report.streams)));
	if (counters.length)
		list.push(section("counters", "Counters",
			counters.map(one => seriesChart(time_, one)), time_.series_left_out
				? html("p", {class: "faint"}, "Further counters are left out.") : null));
	list.push(section("settings", "Environment and settings",
		(report.notes || []).length
			? html("ul", {}, report.notes.map(note => html("li", {}, note))) : null,
		time_.facts.length ? sortedTable("Environment and settings",
			time_.facts.map(([name, value]) => ({name, value})), Infinity)
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

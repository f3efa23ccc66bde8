/* SPDX-License-Identifier: MIT */
/*
 * flame_svg.c - a flame graph as one SVG file.
 *
 * Each box is a call path, its width the processor time.  Callers are on top,
 * as on the lane of a trace: the first screen of a deep stack would be empty.
 * A click zooms, the field above searches; without scripts it is a picture all
 * the same.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/host/hot.h"
#include "tools/util/memory.h"
#include "tools/util/numbers.h"

#define WIDTH	  1200.0
#define ROW	  17
#define TOP	  52
/* Narrower boxes are left out; where there were more than so many, so are wider
 * ones: a browser takes seconds for 50,000. */
#define LEAST	  0.1
#define BOXES_MAX 10000
#define WIDER	  1.25
#define CHAR_WIDE 6.6

static const char script[] =
	"<script><![CDATA[\n"
	"var W=1200,all=[],shown=null;\n"
	"function init(){all=Array.from(document.querySelectorAll('g.f'))"
	".map(function(g){var r=g.querySelector('rect'),"
	"t=g.querySelector('text');return {g:g,r:r,t:t,x:+r.getAttribute('x'),"
	"w:+r.getAttribute('width'),y:+r.getAttribute('y'),"
	"n:g.getAttribute('data-n'),c:r.getAttribute('fill')};});}\n"
	"function fit(b,x,w){b.r.setAttribute('x',x);"
	"b.r.setAttribute('width',Math.max(w,0));b.t.setAttribute('x',x+3);"
	"var k=Math.floor((w-6)/6.6);b.t.textContent="
	"k<3?'':b.n.length<=k?b.n:b.n.slice(0,k-2)+'..';}\n"
	"function zoom(g){var z=all.find(function(b){return b.g===g;});"
	"shown=z;all.forEach(function(b){var inside=b.x>=z.x-1e-6&&"
	"b.x+b.w<=z.x+z.w+1e-6,above=b.x<=z.x+1e-6&&b.x+b.w>=z.x+z.w-1e-6"
	"&&b.y<z.y;if(above){b.g.style.display='';b.g.style.opacity=.5;"
	"fit(b,0,W);}else if(inside&&b.y>=z.y){b.g.style.display='';"
	"b.g.style.opacity=1;fit(b,(b.x-z.x)*W/z.w,b.w*W/z.w);}"
	"else b.g.style.display='none';});}\n"
	"function reset(){all.forEach(function(b){b.g.style.display='';"
	"b.g.style.opacity=1;fit(b,b.x,b.w);});}\n"
	"function find(){var q=prompt('Search for (a regular expression)','');"
	"mark(q);}\n"
	"function mark(q){var e=null,sum=0,last=-1;if(q)try{e=new RegExp(q);}"
	"catch(x){return;}var hit=all.filter(function(b){var m=e&&e.test(b.n);"
	"b.r.setAttribute('fill',m?'#8a2be2':b.c);return m;});"
	"hit.sort(function(a,b){return a.x-b.x||b.w-a.w;}).forEach("
	"function(b){if(b.x>=last-1e-6){sum+=b.w;last=b.x+b.w;}});"
	"document.getElementById('found').textContent=q?'found: '+"
	"(100*sum/W).toFixed(1)+' %':'';}\n"
	"document.addEventListener('keydown',function(e){if((e.ctrlKey||"
	"e.metaKey)&&e.key==='f'){e.preventDefault();find();}});\n"
	"window.addEventListener('load',init);\n"
	"]]></script>\n";

static void put_text(const char *text, size_t most, FILE *out)
{
	for (size_t i = 0; text[i] && i < most; i++) {
		const unsigned char c = (unsigned char)text[i];

		switch (c) {
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '&': fputs("&amp;", out); break;
		case '"': fputs("&quot;", out); break;
		default: fputc(c < 0x20 ? '?' : c, out);
		}
	}
}

static uint32_t hash_of(const char *text)
{
	uint32_t hash = 2166136261u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	return hash;
}

/* Python green, the rest warm; compared: red grew, blue shrank. */
static void put_colour(const struct hot *hot, uint32_t node, bool is_compared,
		       FILE *out)
{
	const struct hot_node *all = &hot->nodes[0];
	const struct hot_node *one = &hot->nodes[node];
	const char *name = hot_name(hot, node);
	const uint32_t hash = hash_of(name);
	double more;

	if (is_compared && all->before_ns) {
		more = (double)one->total_ns / (double)all->total_ns -
		       (double)one->before_ns / (double)all->before_ns;
		more *= 4;
		more = more > 1 ? 1 : more < -1 ? -1 : more;
		fprintf(out, "rgb(%d,%d,%d)",
			more < 0 ? (int)(245 + 185 * more) : 245,
			(int)(245 - 185 * (more < 0 ? -more : more)),
			more > 0 ? (int)(245 - 185 * more) : 245);
	} else if (strstr(name, ".py")) {
		fprintf(out, "rgb(%u,%u,%u)", 90 + hash % 50,
			180 + hash / 64 % 50, 90 + hash / 4096 % 40);
	} else {
		fprintf(out, "rgb(%u,%u,%u)", 215 + hash % 40,
			110 + hash / 64 % 100, 50 + hash / 4096 % 40);
	}
}

static void put_box(const struct hot *hot, uint32_t node, double x, double wide,
		    int y, bool is_compared, FILE *out)
{
	const struct hot_node *one = &hot->nodes[node];
	const char *name = hot_name(hot, node);
	const size_t room = wide > 6 ? (size_t)((wide - 6) / CHAR_WIDE) : 0;
	const double all = (double)hot->nodes[0].total_ns;

	fputs("<g class=\"f\" onclick=\"zoom(this)\" data-n=\"", out);
	put_text(name, SIZE_MAX, out);
	fputs("\"><title>", out);
	put_text(name, SIZE_MAX, out);
	fprintf(out, ": %s, %.2f %%; its own %s",
		quantity_time((double)one->total_ns).text,
		100 * (double)one->total_ns / all,
		quantity_time((double)one->self_ns).text);
	if (is_compared && hot->nodes[0].before_ns)
		fprintf(out, "; before %.2f %%",
			100 * (double)one->before_ns /
				(double)hot->nodes[0].before_ns);
	fprintf(out,
		"</title><rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" "
		"height=\"%d\" rx=\"1\" fill=\"",
		x, y, wide, ROW - 1);
	put_colour(hot, node, is_compared, out);
	fprintf(out, "\"/><text x=\"%.2f\" y=\"%d\">", x + 3, y + ROW - 5);
	if (room >= 3) {
		put_text(name, strlen(name) <= room ? room : room - 2, out);
		if (strlen(name) > room)
			fputs("..", out);
	}
	fputs("</text></g>\n", out);
}

struct drawing {
	const struct hot *hot;
	FILE *out;
	double least; /* width that is drawn */
	int depth;    /* rows in all */
	bool is_compared;
};

static double width_of(const struct hot *hot, uint32_t node)
{
	return WIDTH * (double)hot->nodes[node].total_ns /
	       (double)hot->nodes[0].total_ns;
}

static size_t boxes_below(const struct hot *hot, uint32_t node, double least)
{
	size_t count = 1;

	for (uint32_t at = hot->nodes[node].child; at != HOT_NONE;
	     at = hot->nodes[at].sibling) {
		if (width_of(hot, at) >= least)
			count += boxes_below(hot, at, least);
	}
	return count;
}

static double least_drawn(const struct hot *hot)
{
	double least = LEAST;

	while (boxes_below(hot, 0, least) > BOXES_MAX)
		least *= WIDER;
	return least;
}

static int depth_below(const struct hot *hot, uint32_t node, double least)
{
	int most = 0;

	for (uint32_t at = hot->nodes[node].child; at != HOT_NONE;
	     at = hot->nodes[at].sibling) {
		const int depth = width_of(hot, at) < least
					  ? 0
					  : depth_below(hot, at, least);

		if (depth > most)
			most = depth;
	}
	return most + 1;
}

static const struct hot *sorted; /* for the comparison alone */

static int by_name(const void *left, const void *right)
{
	return strcmp(hot_name(sorted, *(const uint32_t *)left),
		      hot_name(sorted, *(const uint32_t *)right));
}

/* Children by name, so that two graphs look alike. */
static void draw(const struct drawing *drawing, uint32_t node, double x,
		 int level)
{
	const struct hot *hot = drawing->hot;
	uint32_t *children = NULL;
	size_t count = 0, capacity = 0;

	put_box(hot, node, x, width_of(hot, node), TOP + level * ROW,
		drawing->is_compared, drawing->out);
	for (uint32_t at = hot->nodes[node].child; at != HOT_NONE;
	     at = hot->nodes[at].sibling) {
		children = memory_grow(children, count, &capacity,
				       sizeof(*children));
		children[count++] = at;
	}
	sorted = hot;
	if (count)
		qsort(children, count, sizeof(*children), by_name);
	for (size_t i = 0; i < count; i++) {
		const double wide = width_of(hot, children[i]);

		if (wide >= drawing->least)
			draw(drawing, children[i], x, level + 1);
		x += wide;
	}
	free(children);
}

void flame_svg(const struct hot *hot, const char *title, bool is_compared,
	       FILE *out)
{
	const double least = least_drawn(hot);
	const struct drawing drawing = {
		hot, out, least, depth_below(hot, 0, least), is_compared};
	const int height = TOP + drawing.depth * ROW + 10;
	char left_out[64] = "";

	if (least > LEAST)
		snprintf(left_out, sizeof(left_out),
			 ", without what has less than %.2g %%",
			 100 * least / WIDTH);

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		"height=\"%d\" viewBox=\"0 0 %d %d\">\n"
		"<style>text{font:11px monospace;fill:#111;pointer-events:none}"
		".f{cursor:pointer}.f:hover rect{stroke:#000;stroke-width:.6}"
		".b{cursor:pointer;pointer-events:all;fill:#0645ad}"
		".h{font:bold 14px sans-serif}</style>\n",
		(int)WIDTH, height, (int)WIDTH, height);
	fputs(script, out);
	fprintf(out,
		"<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>"
		"<text class=\"h\" x=\"8\" y=\"20\">",
		(int)WIDTH, height);
	put_text(title, SIZE_MAX, out);
	fprintf(out,
		"</text><text x=\"8\" y=\"40\">%s of processor time%s%s</text>"
		"<text class=\"b\" x=\"980\" y=\"20\" onclick=\"reset()\">"
		"whole graph</text><text class=\"b\" x=\"1100\" y=\"20\" "
		"onclick=\"find()\">search</text>"
		"<text id=\"found\" x=\"980\" y=\"40\"></text>\n",
		quantity_time((double)hot->nodes[0].total_ns).text, left_out,
		is_compared ? "; red has a larger share than before, blue a "
			      "smaller one"
			    : "");
	draw(&drawing, 0, 0, 0);
	fputs("</svg>\n", out);
}

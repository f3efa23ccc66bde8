/* SPDX-License-Identifier: MIT */
/* Node with threads of its own, its thread pool, buffers outside of its heap
 * and a child process. */
"use strict";
const {Worker, isMainThread, parentPort} = require("worker_threads");
const {execFileSync} = require("child_process");
const crypto = require("crypto");
const zlib = require("zlib");

function work(seed) {
	const blocks = [];
	for (let i = 0; i < 300000; i++)
		blocks[i % 997] = {i, text: "x".repeat(i % 50) + seed};
	let sum = 0;
	for (let i = 0; i < 200; i++)
		sum += zlib.gzipSync(Buffer.alloc(100000 + i, seed)).length;
	return sum + blocks.length;
}

async function main() {
	const threads = [1, 2, 3].map(() => new Promise((done) =>
		new Worker(__filename).on("message", done)));
	const keys = [1, 2, 3, 4].map((n) => new Promise((done) =>
		crypto.pbkdf2("word", "salt" + n, 20000, 32, "sha256",
			(error, key) => done(error || key.toString("hex")))));
	console.log(work(7), await Promise.all(threads), await Promise.all(keys));
	console.log(execFileSync("/bin/echo", ["child"]).toString());
}

if (isMainThread)
	main();
else
	parentPort.postMessage(work(5));

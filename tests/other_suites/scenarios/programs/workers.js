// Worker threads, the pool of zlib, and child processes.
const { Worker, isMainThread, parentPort, workerData } = require("worker_threads");
const { createHash } = require("crypto");
const { execFileSync, spawn } = require("child_process");
const zlib = require("zlib");

if (!isMainThread) {
  let sum = 0;
  for (let i = 0; i < 200000; i++) sum += String(i * workerData).length;
  parentPort.postMessage(sum);
} else {
  main();
}

function worked(index) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(__filename, { workerData: index });
    worker.on("message", resolve);
    worker.on("error", reject);
  });
}

function packed(index) {
  return new Promise((resolve, reject) => {
    const bytes = Buffer.alloc(100000, "text " + index);
    zlib.gzip(bytes, (error, out) => error ? reject(error)
      : zlib.gunzip(out, (trouble, back) => trouble ? reject(trouble)
        : resolve(createHash("sha256").update(back).digest("hex"))));
  });
}

async function main() {
  console.log(await Promise.all([1, 2, 3, 4].map(worked)));
  console.log(await Promise.all([...Array(20).keys()].map(packed)));
  console.log(execFileSync("echo", ["child"]).toString());
  const child = spawn("sh", ["-c", "exit 7"]);
  child.on("exit", code => console.log(code));
}

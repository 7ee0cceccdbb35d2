// Builds dist/ from src/. `npm install` and `npm pack` run it, so that a checkout can be imported.
//
// Where the compiler is missing, npm installs it and everything else that package.json names.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

function run(program, ...words) {
  const { status, error } = spawnSync(program, words, { cwd: here, stdio: ["ignore", 2, 2] });
  if (error !== undefined || status !== 0) {
    console.error(`fogmarch: '${[program, ...words].join(" ")}' failed${error ? `: ${error.message}` : ""}`);
    process.exit(1);
  }
}

// The path of the compiler, or undefined.
function compiler() {
  try {
    return createRequire(import.meta.url).resolve("typescript/bin/tsc");
  } catch {
    return undefined;
  }
}

if (existsSync(join(here, "../../proto/protocol.json"))) {
  run(process.execPath, "generate.mjs");
}
if (compiler() === undefined) {
  run("npm", "install", "--ignore-scripts", "--no-save", "--no-audit", "--no-fund");
}
run(process.execPath, compiler(), "-p", ".");

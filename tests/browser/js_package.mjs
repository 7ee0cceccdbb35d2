// The JavaScript library as a user gets it: packed by npm, installed into an empty folder, used there.
//
// Goal    the package of `npm pack` can be imported, the example of its README runs unchanged against a real
//         server, and TypeScript finds its types.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, build, run, Server } from "./support.mjs";

const source = join(build, "web-client/clients"); // with node_modules, outside of the source tree

function example() {
  return /```js\n(.*?)```/s.exec(readFileSync(join(source, "js/README.md"), "utf8"))[1];
}

async function packedInstalledAndUsed() {
  const folder = mkdtempSync(join(tmpdir(), "fogmarch-js-"));
  const run = (program, ...words) =>
    execFileSync(program, words, { cwd: join(folder, "user"), encoding: "utf8", timeout: 600000 });
  const server = await Server.start();
  try {
    mkdirSync(join(folder, "user"));
    cpSync(source, join(folder, "clients"), { recursive: true, verbatimSymlinks: true });
    mkdirSync(join(folder, "proto"));
    cpSync(join(source, "../proto/protocol.json"), join(folder, "proto/protocol.json"));
    rmSync(join(folder, "clients/js/dist"), { recursive: true });
    execFileSync("npm", ["pack", "--pack-destination", folder],
                 { cwd: join(folder, "clients/js"), stdio: "pipe", timeout: 600000 });
    const { version } = JSON.parse(readFileSync(join(source, "js/package.json"), "utf8"));
    writeFileSync(join(folder, "user/package.json"), '{ "type": "module" }');
    run("npm", "install", "--no-audit", "--no-fund", join(folder, `fogmarch-${version}.tgz`));
    writeFileSync(join(folder, "user/bot.js"), example().replace("7421", String(server.port)));
    assert.match(run(process.execPath, "bot.js"), /^tick \d+ agents in view 1$/m);
    // "goal" takes numbers: a program that passes a string must not compile, one that passes numbers must.
    const program = (goal) => `import { connect } from "fogmarch";
      const client = await connect("ws://127.0.0.1:1/ws");
      await client.call("agent.order", { world: 1, agents: [1], kind: "move", goal: ${goal} });\n`;
    const check = (name, text) => {
      writeFileSync(join(folder, "user", name), text);
      return run(process.execPath, join(source, "node_modules/typescript/bin/tsc"), "--noEmit", "--strict",
                 "--target", "es2022", "--module", "nodenext", "--lib", "es2023,dom", name);
    };
    check("good.ts", program("[1, 2]"));
    assert.throws(() => check("bad.ts", program('"here"')), (error) => /bad\.ts\(3,\d+\): error TS2322/.test(error.stdout));
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

await run([packedInstalledAndUsed]);

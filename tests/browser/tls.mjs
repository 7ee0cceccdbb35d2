// The pages over https and wss, and the JavaScript library over TLS, with a certificate made here.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, Browser, connectTcp, fogmarch, makeWorld, run, Server, until } from "./support.mjs";

const folder = mkdtempSync(join(tmpdir(), "fogmarch-tls-"));
const caFile = join(folder, "certificate.pem"), key = join(folder, "key.pem");
process.on("exit", () => rmSync(folder, { recursive: true }));
execFileSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                         "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                         "subjectAltName=DNS:localhost,IP:127.0.0.1", "-out", caFile, "-keyout", key],
             { stdio: "ignore" });

const start = () => Server.start(["--tls-certificate", caFile, "--tls-key", key]);

async function theLibraryOverTls() {
  const server = await start();
  for (const host of ["127.0.0.1", "localhost"]) {
    const client = await connectTcp(host, server.port, { caFile, name: "tls" });
    assert.equal((await client.call("ping", { time: 7 })).time, 7);
    client.close();
  }
  await assert.rejects(connectTcp("127.0.0.1", server.port, { tls: true }), fogmarch.ConnectionError);
  await assert.rejects(connectTcp("127.0.0.1", server.port), fogmarch.ConnectionError);
  await server.stop();
}

async function aPageOverHttps() {
  const server = await start();
  const admin = await connectTcp("127.0.0.1", server.port, { caFile });
  await makeWorld(admin);
  const browser = await Browser.start();
  const context = await browser.browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  const sockets = [];
  page.on("websocket", (socket) => sockets.push(socket.url()));
  page.on("pageerror", (error) => browser.errors.push(error.stack));
  await page.goto(`https://127.0.0.1:${server.http}/`);
  await page.locator("#worlds button", { hasText: "arena" }).waitFor();
  await until(() => sockets.length > 0, "a WebSocket");
  assert.deepEqual(sockets, [`wss://127.0.0.1:${server.http}/ws`]);
  await browser.stop();
  admin.close();
  await server.stop();
}

await run([theLibraryOverTls, aPageOverHttps]);

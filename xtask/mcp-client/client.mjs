// A client of another language's SDK against `semel demo`, over streamable HTTP:
//
//   node client.mjs PATH-OF-SEMEL
//
// Each check prints a line; the first that fails ends it with exit code 1.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const semel = process.argv[2];
assert.ok(semel, "usage: node client.mjs PATH-OF-SEMEL");
const folder = mkdtempSync(join(tmpdir(), "semel-mcp-client-"));
let server;

process.on("exit", () => {
  server?.child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

// ===== The demo, as a process =====

async function start() {
  const child = spawn(
    semel,
    ["demo", "--listen", "127.0.0.1:0", "--data", join(folder, "orders.db"),
      "--store", `sqlite:${join(folder, "records.db")}`, "--in-progress-time-to-live", "2s"],
    { stdio: ["ignore", "pipe", "ignore"] },
  );
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const url = line.replace("semel demo listening on ", "");
  assert.match(url, /^http:\/\//, line);
  return { child, url };
}

async function kill() {
  const gone = once(server.child, "exit");
  server.child.kill("SIGKILL");
  await gone;
}

// ===== Clients =====

// The result of every response as it stands on the wire, in order.
const wire = [];

async function watched(input, init) {
  const response = await fetch(input, init);
  if (init?.method === "POST" && String(init.body).includes('"tools/call"')) {
    const text = await response.clone().text();
    const at = Math.max(text.indexOf('"result":'), text.indexOf('"error":'));
    wire.push(text.slice(at));
  }
  return response;
}

async function connect(headers = {}) {
  const client = new Client({ name: "semel-proof", version: "1.0.0" });
  const transport = new StreamableHTTPClientTransport(new URL("/mcp", server.url), {
    fetch: watched,
    requestInit: { headers: { Authorization: "ApiKey dev-alice-key", ...headers } },
  });
  await client.connect(transport);
  return client;
}

const order = (key, name = "Keyboard") => ({
  name: "create_order",
  arguments: { name, amount: 2 },
  _meta: key === undefined ? {} : { idempotencyKey: key },
});

async function executions(client) {
  const { structuredContent } = await client.callTool({ name: "executions" });
  return structuredContent["POST /orders"];
}

async function refusal(call) {
  return call.then(
    (answer) => assert.fail(`not refused: ${JSON.stringify(answer)}`),
    (error) => error,
  );
}

// The bytes of the answer to this one call.
async function bytes(call) {
  wire.length = 0;
  await call();
  assert.equal(wire.length, 1);
  return wire[0];
}

// ===== Checks =====

const checks = {
  async "the tools are listed, and say which of them only read"() {
    const { tools } = await (await connect()).listTools();
    const reading = tools.filter((tool) => tool.annotations?.readOnlyHint).map((tool) => tool.name);
    assert.deepEqual(reading.sort(), ["executions", "get_order", "list_orders"]);
    assert.equal(tools.length, 5);
  },

  async "a repeat is the first answer, byte for byte"() {
    const client = await connect();
    const first = await bytes(() => client.callTool(order("a")));
    const again = await bytes(() => client.callTool(order("a")));
    assert.equal(again, first);
    // From another client, under the other name of the key.
    const other = await connect();
    const call = { ...order(), _meta: { "xihan.idempotency-key": "a" } };
    assert.equal(await bytes(() => other.callTool(call)), first);
    assert.equal(await executions(client), 1);
  },

  async "fifty at once are one execution"() {
    const client = await connect({ "X-Demo": "slow=300ms" });
    const before = await executions(client);
    wire.length = 0;
    await Promise.all(Array.from({ length: 50 }, () => client.callTool(order("b"))));
    assert.equal(wire.length, 50);
    assert.equal(new Set(wire).size, 1);
    assert.equal(await executions(client), before + 1);
  },

  async "a key in the HTTP headers, alone or as baggage, is the same key"() {
    const plain = await connect();
    const first = await bytes(() => plain.callTool(order("c")));
    for (const headers of [{ "Idempotency-Key": '"c"' }, { baggage: "xihan.idempotency-key=c" }]) {
      const client = await connect(headers);
      assert.equal(await bytes(() => client.callTool(order())), first);
      const error = await refusal(client.callTool(order("d")));
      assert.equal(error.data.params.reason, "sources-disagree");
    }
  },

  async "another request, and another tool, under the same key are refused"() {
    const client = await connect();
    await client.callTool(order("e"));
    const mismatch = await refusal(client.callTool(order("e", "Mouse")));
    assert.equal(mismatch.code, -32602);
    assert.equal(mismatch.data.code, "CACHING_VALIDATION_003");
    assert.deepEqual(mismatch.data.params.differs, ["arguments"]);
    const pay = { ...order("e"), name: "create_payment", arguments: { order: 1, amount: 1 } };
    const reused = await refusal(client.callTool(pay));
    assert.equal(reused.code, -32009);
    assert.equal(reused.data.messageKey, "caching.idempotency.key_reused");
    assert.equal(reused.data.sameKey, false);
  },

  async "a failure frees the key, and a call without a key runs each time"() {
    const client = await connect({ "X-Demo": "fail-once" });
    const failed = await client.callTool(order("f", "Once"));
    assert.equal(failed.isError, true);
    assert.equal((await client.callTool(order("f", "Once"))).structuredContent.name, "Once");
    const plain = await connect();
    const ids = [];
    for (let run = 0; run < 2; run++) ids.push((await plain.callTool(order())).structuredContent.id);
    assert.notEqual(ids[0], ids[1]);
  },

  async "a cancelled call runs on and is recorded"() {
    const client = await connect({ "X-Demo": "slow=500ms" });
    const before = await executions(client);
    const abort = new AbortController();
    const cancelled = refusal(client.callTool(order("g"), undefined, { signal: abort.signal }));
    while ((await executions(client)) === before) await new Promise((go) => setTimeout(go, 10));
    abort.abort("tired");
    await cancelled;
    const plain = await connect();
    assert.equal((await plain.callTool(order("g"))).structuredContent.name, "Keyboard");
    assert.equal(await executions(plain), before + 1);
  },

  async "what was answered before kill -9 is answered after a new start"() {
    const client = await connect();
    const first = await bytes(() => client.callTool(order("h")));
    const before = await executions(client);
    await kill();
    server = await start();
    const after = await connect();
    assert.equal(await bytes(() => after.callTool(order("h"))), first);
    assert.equal(await executions(after), before);
  },
};

server = await start();
for (const [name, check] of Object.entries(checks)) {
  try {
    await check();
  } catch (error) {
    console.error(`FAILED  ${name}\n`, error);
    process.exit(1);
  }
  console.log(`ok      ${name}`);
}
console.log(`${Object.keys(checks).length} checks passed`);
process.exit(0);

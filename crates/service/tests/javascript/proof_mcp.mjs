// Calls the service's MCP server with the official TypeScript clients: of the current packages, and of the earlier one, which
// negotiates the earlier revision of the protocol.
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as EarlierClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as EarlierTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const baseUrl = process.argv[2];
const models = await (await fetch(`${baseUrl}/api/models`)).json();
const url = new URL(models.mcp);

async function connect(AnyClient, Transport, token, options = {}) {
  const client = new AnyClient({ name: "test", version: "1" }, options);
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  await client.connect(new Transport(url, { requestInit: { headers } }));
  return client;
}

async function proof(name, AnyClient, Transport, options) {
  const client = await connect(AnyClient, Transport, "t", options);
  const tools = (await client.listTools()).tools.map((tool) => tool.name);
  const general = ["list_models", "describe_model", "generate", "get_task", "cancel_task"];
  assert.deepEqual(tools.slice(0, 5), general);
  assert(tools.includes("image_tessera"), tools.join());

  const call = (name, input) => client.callTool({ name, arguments: input });
  const found = await call("list_models", { search: "glass" });
  const { model } = found.structuredContent.models[0];

  const input = { prompt: `an evening, ${name}`, num_outputs: 2 };
  const result = await call("generate", { model, input, wait_seconds: 60 });
  assert(!result.isError, JSON.stringify(result));
  const task = result.structuredContent;
  assert.equal(task.status, "completed");
  const links = result.content.filter((block) => block.type === "resource_link").map((block) => block.uri);
  const images = result.content.filter((block) => block.type === "image").map((block) => block.data);
  assert.deepEqual(links, task.output);
  const files = await Promise.all(links.map(async (link) => Buffer.from(await (await fetch(link)).arrayBuffer())));
  assert.deepEqual(images, files.map((file) => file.toString("base64")));

  // The client gives up, and asks again.
  const slow = { model: "image/slow", input: { prompt: name } };
  const gaveUp = new AbortController();
  let waiting;
  const message = await new Promise((begun) => {
    const waitLong = { name: "generate", arguments: { ...slow, wait_seconds: 300 } };
    const abort = { signal: gaveUp.signal, onprogress: (progress) => begun(progress.message) };
    // The earlier package has one more parameter.
    const call = options ? client.callTool(waitLong, abort) : client.callTool(waitLong, undefined, abort);
    waiting = assert.rejects(call);
  });
  gaveUp.abort();
  await waiting;
  const joined = (await call("generate", { ...slow, wait_seconds: 0 })).structuredContent;
  assert.equal(joined.status, "processing");
  assert(message.includes(joined.task_id), message);
  assert((joined.note ?? "").includes("earlier call"), JSON.stringify(joined));
  const canceled = (await call("cancel_task", { task_id: joined.task_id })).structuredContent;
  assert.equal(canceled.canceled, true);

  const refused = await call("generate", { model: "image/nothing", input: {} });
  assert(refused.isError && refused.content[0].text.includes("There is no model"), JSON.stringify(refused));
  await client.close();
  await assert.rejects(connect(AnyClient, Transport, undefined, options), /401|[Uu]nauthorized/);
}

await proof("current", Client, StreamableHTTPClientTransport, { versionNegotiation: { mode: "auto" } });
await proof("legacy", Client, StreamableHTTPClientTransport, { versionNegotiation: { mode: "legacy" } });
await proof("earlier package", EarlierClient, EarlierTransport);

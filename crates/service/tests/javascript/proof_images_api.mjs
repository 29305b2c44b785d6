// Generates and edits images with the real `openai` package for JavaScript.
import assert from "node:assert/strict";
import OpenAI, { BadRequestError, NotFoundError, toFile } from "openai";

const baseUrl = process.argv[2];
const client = new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey: "t", maxRetries: 2 });
const isPng = (bytes) => bytes.subarray(0, 8).equals(Buffer.from("\x89PNG\r\n\x1a\n", "latin1"));

const ids = [];
for await (const model of client.models.list()) ids.push(model.id);
assert(ids.includes("image/tessera"), ids.join());

const images = await client.images.generate({
  model: "image/tessera",
  prompt: "a sea at dawn",
  n: 2,
  size: "1024x1024",
  quality: "high",
  response_format: "url",
  seed: 3,
});
assert.equal(images.data.length, 2);
const files = await Promise.all(images.data.map(async ({ url }) => Buffer.from(await (await fetch(url)).arrayBuffer())));
assert(files.every(isPng));

const edited = await client.images.edit({
  model: "image/repaint",
  image: await toFile(files[0], "photo.png", { type: "image/png" }),
  prompt: "gold and indigo",
  response_format: "b64_json",
});
assert(isPng(Buffer.from(edited.data[0].b64_json, "base64")));

await assert.rejects(
  client.images.generate({ model: "image/tessera", prompt: "a", sepia: 1 }),
  (error) => error instanceof BadRequestError && Boolean(error.error.message && error.code),
);
await assert.rejects(
  client.images.generate({ model: "image/nothing", prompt: "a" }),
  (error) => error instanceof NotFoundError && Boolean(error.error.message && error.code),
);

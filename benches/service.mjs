// The server for the measured pages. It serves the files of a page like a good host (with brotli, and cacheable forever if they
// are named by their content). It answers calls of the interface from memory, so that measurements do not include the time of a
// real service.

import { createServer } from "node:http";
import { existsSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

const TYPES = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

const NOUNS = ["portrait", "landscape", "video", "upscaler", "voice", "texture", "anime"];
const CATEGORIES = ["text-to-image", "image-to-image", "text-to-video", "image-to-video", "text-to-speech", "music", "upscaling"];

// Reports every task as completed or, while `running` is true, as processing.
export class Service {
  // `site` is a folder with the files of a page, or the only file.
  static async start(site, { models = 1_000, parameters = 200, running = false } = {}) {
    const service = new Service();
    service.site = site;
    service.replies = new Map();
    service.models = models;
    service.parameters = parameters;
    service.running = running;
    service.calls = [];
    service.server = createServer((request, response) => service.#answer(request, response));
    service.server.keepAliveTimeout = 60_000;
    await new Promise((done) => service.server.listen(0, "127.0.0.1", done));
    service.origin = `http://127.0.0.1:${service.server.address().port}`;
    return service;
  }

  stop() {
    this.server.closeAllConnections();
    return new Promise((done) => this.server.close(done));
  }

  #answer(request, response) {
    const { pathname } = new URL(request.url, "http://localhost");
    if (pathname.startsWith("/api/")) return this.#send(response, ".json", this.#discovery(pathname));
    if (!pathname.startsWith("/v2/")) return this.#file(pathname, response);
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(parts));
      this.calls.push({ pathname, at: Date.now(), items: body.requests?.length ?? 1 });
      const answer = this.#call(pathname, body);
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end(JSON.stringify(answer));
    });
  }

  #call(pathname, body) {
    if (body.requests) {
      const single = pathname.replace("-batch", "");
      const results = body.requests.map((each, index) => ({ index, status: 200, body: this.#call(single, each) }));
      return { success: true, data: { results } };
    }
    switch (pathname) {
      case "/v2/generate":
        return { success: true, data: { id: `task-${this.ids = (this.ids ?? 0) + 1}`, status: "starting" } };
      case "/v2/status":
        return { success: true, data: { id: body.id, status: this.running ? "processing" : "completed" } };
      default:
        return { success: true, data: { status: "completed", output: [`${this.origin}/outputs/${body.id}.svg`] } };
    }
  }

  #discovery(pathname) {
    if (!this.replies.has(pathname)) {
      const reply = pathname === "/api/models" ? listOf(this.models)
        : pathname.startsWith("/api/schema/") ? schemaOf(pathname, this.parameters)
        : { success: false };
      this.replies.set(pathname, compressed(JSON.stringify(reply), 5));
    }
    return this.replies.get(pathname);
  }

  #file(pathname, response) {
    if (pathname.startsWith("/outputs/")) {
      return this.#send(response, ".svg", compressed("<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'/>", 1));
    }
    const isOne = extname(this.site) === ".html";
    let path = isOne ? this.site : join(this.site, pathname);
    if (!extname(path) || !existsSync(path)) path = isOne ? this.site : join(this.site, "index.html");
    const named = /-[0-9a-f]{16}/.test(path);
    if (!this.replies.has(path)) {
      const ready = `${path}.br`;
      this.replies.set(path, existsSync(ready) ? readFileSync(ready) : compressed(readFileSync(path), 11));
    }
    this.#send(response, extname(path), this.replies.get(path), named);
  }

  #send(response, type, bytes, isKept = false) {
    response.writeHead(200, {
      "Content-Type": TYPES[type] ?? "application/octet-stream",
      "Content-Encoding": "br",
      "Content-Length": bytes.length,
      "Cache-Control": isKept ? "public, max-age=31536000, immutable" : "no-cache",
    });
    response.end(bytes);
  }
}

function compressed(text, quality) {
  return brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } });
}

function listOf(count) {
  const data = Array.from({ length: count }, (_, n) => {
    const [noun, category] = [NOUNS[n % NOUNS.length], CATEGORIES[Math.floor((n * CATEGORIES.length) / count)]];
    const subcategory = `studio-${noun}-${n}`;
    return {
      name: `Studio ${noun} ${n}`,
      category,
      subcategory,
      description: `Makes a ${noun} from text in several styles, with control over light, lens, aspect ratio and seed; `
        + `number ${n} of the series, tuned for detailed output.`,
      endpoint: { generate: "/v2/generate", status: "/v2/status", response: "/v2/response" },
      documentation: `https://service.example.com/documentation/${category}/${subcategory}`,
      preview: `https://service.example.com/demo/${category}/${subcategory}`,
    };
  });
  return { success: true, count, data, message: "", guest: { uid: "guest", token: "token-of-a-guest" } };
}

function schemaOf(pathname, count) {
  const [, , , category, subcategory] = pathname.split("/").map(decodeURIComponent);
  const required = [{ name: "prompt", type: "string", description: "What to make." }];
  const optional = Array.from({ length: count - 1 }, (_, n) => {
    const description = `What number ${n} does to the picture, in a sentence or so.`;
    const kinds = [
      () => ({ name: `text_${n}`, type: "string", default: "" }),
      () => ({ name: `steps_${n}`, type: "integer", default: 20, minimum: 1, maximum: 50 }),
      () => ({ name: `style_${n}`, type: "enum", default: "photo", allowedValues: ["photo", "film", "comic", "sketch", "oil", "ink", "clay"] }),
      () => ({ name: `strength_${n}`, type: "number", default: 0.5, minimum: 0, maximum: 1 }),
      () => ({ name: `ratio_${n}`, type: "enum", default: "1:1", allowedValues: ["1:1", "16:9", "9:16"] }),
      () => ({ name: `tiled_${n}`, type: "boolean", default: false }),
    ];
    return { ...kinds[n % kinds.length](), description };
  });
  return { success: true, message: "", data: { category, subcategory, parameters: { required, optional } } };
}

// `node port.mjs`: prints a free loopback port. `node port.mjs PORT…`: prints the first free one of
// these, or fails.

import { createServer } from "node:net";

const wanted = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [0];
for (const port of wanted) {
  const free = await new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen(port, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
  if (free) {
    console.log(free);
    process.exit(0);
  }
}
process.exit(1);

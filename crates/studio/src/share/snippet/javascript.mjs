// Needs Node.js 18 or later, and SERVICE_TOKEN and SERVICE_UID in the environment.
const service = @SERVICE@;
const { SERVICE_TOKEN: token, SERVICE_UID: uid } = process.env;

// JSON text, so that integers above 2^53 stay exact.
const task = [
  `"uid": ${JSON.stringify(uid)}`,
  // @MODEL@
];
const values = [
  // @VALUES@
];

async function call(path, fields) {
  const reply = await fetch(service + path, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Authorization: `Bearer ${token}`,
    },
    body: `{${fields.join(", ")}}`,
  });
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  return (await reply.json()).data;
}

const { id } = await call("/v2/generate", [...task, ...values]);
task.push(`"id": ${JSON.stringify(id)}`);
console.error("task", id);

while (true) {
  const progress = await call("/v2/status", task);
  if (progress.status === "completed") break;
  if (progress.status === "failed") throw new Error(`failed: ${JSON.stringify(progress.error)}`);
  await new Promise((resolve) => setTimeout(resolve, 2000));
}

const { output } = await call("/v2/response", task);
console.log(output.join("\n"));

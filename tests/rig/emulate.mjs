// The GitHub emulator as a child of the tests: `node emulate.mjs API_JS SEED PORT BASE_URL`.
// Says {"jwt": …} when it listens: who holds it may mint tokens for the seeded app. Each line on
// standard input sets it back to its seed, and is answered with {"reset": true}; it ends with its
// input.
import { createSign, generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [apiFile, seedFile, port, baseUrl] = process.argv.slice(2);
const { createEmulator } = await import(pathToFileURL(apiFile));
const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: { type: "pkcs1", format: "pem" },
  publicKeyEncoding: { type: "pkcs1", format: "pem" },
});
const seed = JSON.parse(readFileSync(seedFile, "utf8"));
const [app] = seed.github.apps;
app.private_key = privateKey;

const now = Math.floor(Date.now() / 1000);
const encoded = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
const unsigned = [
  encoded({ alg: "RS256", typ: "JWT" }),
  encoded({ iss: String(app.app_id), iat: now - 60, exp: now + 86400 }),
].join(".");
const signature = createSign("RSA-SHA256").update(unsigned).sign(privateKey, "base64url");

const emulator = await createEmulator({ service: "github", port: Number(port), baseUrl, seed });
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
say({ jwt: `${unsigned}.${signature}` });
for await (const _ of createInterface({ input: process.stdin })) {
  emulator.reset();
  say({ reset: true });
}
process.exit(0);

// GitHub's own language service over workflows and actions, without GitHub:
// `node language-service.cjs ROOT STANDINS FILE…` (files relative to ROOT) prints what it finds
// as JSON, [{file, line, message}]. scripts/install-rig bundles this file, because node 20 does
// not import the service's JSON.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { validate } from "@actions/languageservice";
import { TextDocument } from "vscode-languageserver-textdocument";
import { parse } from "yaml";

const [root, standins, ...files] = process.argv.slice(2);
const MANIFESTS = ["action.yml", "action.yaml"];
const UNKNOWN = { name: "", description: "" };

function metadata(folder) {
  for (const name of MANIFESTS) {
    try {
      return parse(readFileSync(join(folder, name), "utf8"));
    } catch (error) {
      if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
    }
  }
  return undefined;
}

const config = {
  fileProvider: {
    async getFileContent({ path, repository }) {
      if (repository && repository !== "memrepo") throw new Error(`${repository} is not here`);
      return { name: path, content: readFileSync(join(root, path), "utf8") };
    },
  },
  actionsMetadataProvider: {
    // Our own actions are read from disk, those that have a stand-in from there; an action that
    // only GitHub knows is not looked into.
    async fetchActionMetadata({ owner, name, path = "" }) {
      if (name === "memrepo") return metadata(join(root, path));
      return (owner === "actions" && metadata(join(standins, name))) || UNKNOWN;
    },
  },
};

// A function, since the bundle has no await outside of one.
async function check() {
  const found = [];
  for (const file of files) {
    const text = readFileSync(join(root, file), "utf8")
      // The service looks into `$/x` and not into `./x`, though they name the same action.
      .replace(/^(\s*(?:- )?uses:\s*["']?)\.\/(?=\S)(?!\S*\.ya?ml["']?\s*$)/gm, "$1$/");
    // What lies in workflows/ is copied to .github/workflows/ by whoever uses it.
    const uri = `file:///${file.replace(/^workflows\//, ".github/workflows/")}`;
    const document = TextDocument.create(uri, "yaml", 1, text);
    for (const { message, range } of await validate(document, config)) {
      found.push({ file, line: range.start.line + 1, message });
    }
  }
  process.stdout.write(JSON.stringify(found));
}

check().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});

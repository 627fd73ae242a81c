// Writes to stdout what promptfoo says of each answer in cases.json. Run it in a folder where promptfoo is installed:
// `npm install --ignore-scripts --omit=optional promptfoo@VERSION`, then `node record.mjs cases.json > recorded.json`.
// `states` has a letter for each answer: p(assed), f(ailed), e(rror). `scores` are F1 scores or Levenshtein distances.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.cwd(), "package.json"));
const entry = require.resolve("promptfoo").replace(/index\.cjs$/, "index.js");
const { assertions } = (await import(pathToFileURL(entry))).default;

async function judge(assertion, answer, figure) {
  const response = { output: figure ? "text" : answer };
  if (figure === "cost_usd") response.cost = answer ?? undefined;
  if (figure === "finish_reason") response.finishReason = answer ?? undefined;
  const latencyMs = figure === "duration_ms" ? (answer ?? undefined) : undefined;
  const type = assertion.type === "refusal" ? "is-refusal" : assertion.type;
  try {
    return await assertions.runAssertion({
      assertion: { ...assertion, type }, test: { vars: {} }, providerResponse: response, latencyMs,
    });
  } catch {
    return { pass: null };
  }
}

async function score(assertion, answer, result) {
  if (assertion.type === "rouge-n") return Number(result.score.toFixed(6));
  // The distance is only in the message of a failure.
  const failure = await judge({ ...assertion, threshold: -1 }, answer);
  return Number(/distance (\d+)/.exec(failure.reason)[1]);
}

const recorded = [];
for (const { assertions: all, answers, figure } of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  for (const assertion of all) {
    const row = { type: assertion.type, states: "" };
    const isScored = ["rouge-n", "levenshtein"].includes(assertion.type);
    if (isScored) row.scores = [];
    for (const answer of answers) {
      const result = await judge(assertion, answer, figure);
      row.states += result.pass === null ? "e" : result.pass ? "p" : "f";
      if (isScored) row.scores.push(await score(assertion, answer, result));
    }
    recorded.push(row);
  }
}
process.stdout.write(`[\n${recorded.map((row) => JSON.stringify(row)).join(",\n")}\n]\n`);

// Answers [pattern, text] pairs, a JSON array on each line of stdin: what `new RegExp(pattern, "i")` finds in the text,
// searched to its end. A line of stdout is null (no pattern), "slow", or [start, end, start, …] in UTF-16 units.
import { createInterface } from "node:readline";
import { createContext, Script } from "node:vm";

const LIMIT_MS = 1000;
const MOST_SPANS = 1000;
const shared = createContext({ regex: null, text: "", spans: [], match: null, most: MOST_SPANS });
const search = new Script(`
  spans = [];
  while (spans.length < 2 * most && (match = regex.exec(text)) !== null) {
    spans.push(match.index, regex.lastIndex);
    if (regex.lastIndex === match.index) regex.lastIndex++;
  }
`);

for await (const line of createInterface({ input: process.stdin })) {
  const [pattern, text] = JSON.parse(line);
  let answer = null;
  try {
    new RegExp(pattern, "i");
    shared.regex = new RegExp(pattern, "gi");
    shared.text = text;
    search.runInContext(shared, { timeout: LIMIT_MS });
    answer = Array.from(shared.spans);
  } catch (error) {
    if (error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") answer = "slow";
    else if (!(error instanceof SyntaxError)) throw error;
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}

// Reads of the public API. The session cookie counts with the header X-Console alone.

import { root } from "./dom.js";

const WAIT_MS = 30000;

/** An answer that is none: `kind` is "gone" (no connection), "late", "busy", "login", "refused" or "failed";
 * `where` is the place of an error in a query or formula. */
export class Problem extends Error {
  constructor(kind, detail = "", status = 0, where = null) {
    super(detail || kind);
    Object.assign(this, { kind, detail, status, where });
  }
}

const KINDS = { 401: "login", 403: "login", 429: "busy", 503: "busy" };

/** The address of a read below /api/v1, with the parameters that have a value. */
export function address(path, parameters = {}) {
  const url = new URL(`api/v1/${path}`, root);
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") url.searchParams.set(name, value);
  }
  return url;
}

/** Answers with a value that rests on a provisional factor. */
const provisional = new WeakSet();

export const isProvisional = (answer) => provisional.has(answer) || answer?.factor === "provisional";

/** A request that several panels read: it is sent once. */
export const shared = (request) => ({ ...request, isShared: true, answer: null });

/** The JSON of a read. `request` is {url, body?}; raises Problem. */
export function read(request, signal = null) {
  if (!request.isShared) return fetched(request, signal);
  request.answer ??= fetched(request, null).catch((problem) => {
    // Tried again by the reader, it is sent again.
    request.answer = null;
    throw problem;
  });
  return request.answer;
}

async function fetched(request, signal) {
  const late = AbortSignal.timeout(WAIT_MS);
  const options = { headers: { "X-Console": "1" }, signal: signal ? AbortSignal.any([signal, late]) : late };
  if (request.body) {
    options.method = "POST";
    options.body = JSON.stringify(request.body);
    options.headers["Content-Type"] = "application/json";
  }
  let answer;
  try {
    answer = await fetch(request.url, options);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(error.name === "TimeoutError" ? "late" : "gone");
  }
  const json = await answer.json().catch(() => null);
  if (answer.ok && json !== null) {
    if (answer.headers.get("X-Factor") === "provisional" && typeof json === "object") provisional.add(json);
    return json;
  }
  const detail = typeof json?.detail === "string" ? json.detail : "";
  throw new Problem(KINDS[answer.status] ?? (answer.status < 500 ? "refused" : "failed"), detail, answer.status, json?.error ?? null);
}

/** The events of a stream that is asked by POST, one after the other, until its end; raises Problem. */
export async function* streamed({ url, body }, signal) {
  const options = { method: "POST", headers: { "X-Console": "1", "Content-Type": "application/json" }, body: JSON.stringify(body), signal };
  let answer;
  try {
    answer = await fetch(url, options);
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Problem("gone");
  }
  if (!answer.ok) {
    const json = await answer.json().catch(() => null);
    const detail = typeof json?.detail === "string" ? json.detail : "";
    // 403 of a question is a used quota, not a missing login.
    const kind = answer.status === 403 ? "refused" : KINDS[answer.status] ?? (answer.status < 500 ? "refused" : "failed");
    throw new Problem(kind, detail, answer.status);
  }
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  while (true) {
    let part;
    try {
      part = await reader.read();
    } catch (error) {
      if (signal.aborted) throw error;
      throw new Problem("gone");
    }
    if (part.done) throw new Problem("gone");
    const lines = (held + part.value).split("\n");
    held = lines.pop();
    for (const line of lines) {
      if (line === "data: [DONE]") return;
      if (line.startsWith("data: ")) yield JSON.parse(line.slice(6));
    }
  }
}

/** A request of an interface of the catalog. */
export const calling = (name, params, asOf = null) => ({
  url: address("datamgr/fusion/call"),
  body: { interface: name, params, ...(asOf ? { as_of: asOf } : {}) },
});

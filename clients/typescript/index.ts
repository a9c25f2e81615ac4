import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

/** Calls of one installation; `token` is the `access_token` of a login. */
export function connect(baseUrl: string, token?: string): Client<paths> {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return createClient<paths>({ baseUrl, headers });
}

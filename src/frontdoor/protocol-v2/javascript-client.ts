/** Detects clients that run in JavaScript by the headers of their requests. Pure. */

import type { IncomingHttpHeaders } from 'node:http'

/**
 * Agents of runtimes that may not send `sec-fetch-mode`: browsers at a plain network address,
 * older Node, Bun, Deno, workers of Cloudflare, and React Native on Android and iOS.
 */
const runtime =
  /^(?:Mozilla\/|node(?:$|[/-])|undici|Bun\/|Deno\/|Cloudflare-Workers|okhttp\/)|\bCFNetwork\//

/**
 * True for a client in JavaScript. `sec-fetch-mode` belongs to the Fetch standard, which browsers
 * and Node follow for requests and WebSockets. Code can replace the agent, but not that header.
 */
export function isJavaScriptClient(headers: IncomingHttpHeaders): boolean {
  return headers['sec-fetch-mode'] !== undefined || runtime.test(headers['user-agent'] ?? '')
}

/** Paths that webhooks may name instead of a URL: routes of the deployment itself. Pure. */

/** True for text that names a route of the deployment. */
export function isOwnRoute(url: string): boolean {
  return url.startsWith('/')
}

/**
 * Returns the fault of such a path, or `undefined`. A path stays on its origin, because it
 * is appended to that: `//host` would only look like another server.
 */
export function ownRouteFault(path: string, longest: number): string | undefined {
  if (path.length > longest) return `must have ${longest} characters at most`
  // oxlint-disable-next-line no-control-regex
  if (/^\/[/\\]|[\u0000-\u0020\u007f#]/.test(path)) {
    return 'must be an absolute http(s) URL, or the path of a route, like `/run-ended`'
  }
  return undefined
}

/**
 * Headers between the front door and the app of a project. The front door sets them; what a client
 * sends by these names is dropped.
 */

/** Names of the headers, all below one prefix. */
export const appHeaders = {
  /** Proof that the server calls: the app answers nobody else. */
  token: 'x-heddle-app-token',
  /** Port and one-time token by which a request comes back to the routes of the server. */
  back: 'x-heddle-app-back',
  /** Present if the app is only asked whether a request may go on. */
  check: 'x-heddle-app-check',
  /** Answer to a check: the token of the request that may go on. */
  passed: 'x-heddle-app-passed',
  /** Key with which code that handles the request calls its own server. */
  key: 'x-heddle-app-key',
  /** The caller, as JSON; absent if nobody was identified. */
  user: 'x-heddle-user',
} as const

/** True for a name that only the front door may set. */
export function isAppHeader(name: string): boolean {
  return name.startsWith('x-heddle-app-') || name === appHeaders.user
}

/** JSON that fits into a header: whatever is no ASCII is escaped. */
export function headerJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Headers that are about one connection, and end there. */
const ofConnections = new Set(['connection', 'keep-alive', 'proxy-authenticate',
  'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade',
  'expect', 'http2-settings'])

/**
 * The headers that a proxy passes on: not those of the connection, nor those that the connection
 * names.
 */
export function passedOn(
  headers: readonly (readonly [name: string, value: string])[],
): [name: string, value: string][] {
  const named = headers.filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.toLowerCase().split(',').map((each) => each.trim()))
  const dropped = named.length === 0 ? ofConnections : new Set([...ofConnections, ...named])
  return headers.filter(([name]) => !dropped.has(name.toLowerCase()) && !name.startsWith(':'))
    .map(([name, value]) => [name, value])
}

/** The headers of a message of Node, in pairs. */
export function headerPairs(raw: readonly string[]): [name: string, value: string][] {
  const pairs: [string, string][] = []
  for (let i = 0; i < raw.length; i += 2) pairs.push([raw[i]!, raw[i + 1]!])
  return pairs
}

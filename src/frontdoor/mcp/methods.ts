/** The methods of MCP that a client may call, by the era of its revision. */

/** Names of the methods of requests. */
export const methodsOf = {
  former: ['initialize', 'ping', 'tools/list', 'tools/call'],
  modern: ['server/discover', 'tools/list', 'tools/call', 'subscriptions/listen'],
} as const

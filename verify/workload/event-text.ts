/** Parses server-sent events. */

/** Events of a stream: their names, the ids of values, the last values, results of JSON-RPC. */
export interface ParsedEvents {
  readonly events: readonly string[]
  readonly ids: readonly string[]
  readonly values: unknown
  readonly results: readonly object[]
}

/** Parses the events of a stream. Those of A2A and MCP have no name, and are messages. */
export function parseEvents(text: string): ParsedEvents {
  const events: string[] = []
  const ids: string[] = []
  const results: object[] = []
  let values: unknown
  for (const block of text.split('\n\n')) {
    const data = /^data: (.*)$/m.exec(block)?.[1]
    const event = /^event: (.*)$/m.exec(block)?.[1]
    if (data?.startsWith('{"jsonrpc":')) {
      const { result } = JSON.parse(data) as { result?: object }
      if (result) results.push(result)
    }
    if (event === undefined) continue
    events.push(event)
    if (event !== 'values') continue
    values = JSON.parse(data ?? 'null')
    ids.push(/^id: (.*)$/m.exec(block)?.[1] ?? '')
  }
  return { events, ids, values, results }
}

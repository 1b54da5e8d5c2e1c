/** A stream of server-sent events, read until it ends or breaks. */

import { framesOf } from '../../support/wire.ts'

export interface ServerEvent {
  readonly event: string
  readonly data: unknown
  readonly id: string | undefined
}

/** Throws if the connection breaks; a clean end means that there is no more. */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  for await (const { text } of framesOf(body)) {
    const fields = new Map(text.split('\n').filter((line) => !line.startsWith(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]))
    const event = fields.get('event')
    if (event === undefined) continue
    yield { event, id: fields.get('id'), data: JSON.parse(fields.get('data') || 'null') }
  }
}

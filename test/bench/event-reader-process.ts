/** A process of clients that follow threads by protocol v2 and note how late each event comes. */

import { openEvents } from './event-socket.ts'
import type { OpenStream, ThreadPlace } from './event-socket.ts'

/** Which threads a process follows, and how many events each stream must get. */
export interface EventReaderOrder {
  readonly places: readonly ThreadPlace[]
  readonly events: number
}

/** What it says: at first that all streams are open, at last the delays of all of them. */
export type EventReaderReport =
  | { readonly kind: 'open' }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'read'; readonly delaysMs: readonly Float64Array[] }

process.on('message', (order: EventReaderOrder) => void read(order))
process.on('disconnect', () => process.exit())

async function read({ places, events }: EventReaderOrder): Promise<void> {
  const reads = places.map((place) => follow(place, events))
  try {
    await Promise.all(reads.map(({ stream }) => stream.opened))
    report({ kind: 'open' })
    report({ kind: 'read', delaysMs: await Promise.all(reads.map(({ delays }) => delays)) })
  } catch (error) {
    report({ kind: 'failed', why: (error as Error).message })
  }
}

/** The time in each event comes from the same clock, because it is the same machine. */
function follow(place: ThreadPlace, events: number) {
  const own: number[] = []
  const complete = Promise.withResolvers<Float64Array>()
  const stream: OpenStream = openEvents(place, ({ method, params: { data } }) => {
    if (method !== 'custom') return
    const { payload } = data as { payload: { atMs: number } }
    own.push(Date.now() - payload.atMs)
    if (own.length === events) complete.resolve(Float64Array.from(own))
  })
  return { stream, delays: complete.promise }
}

function report(said: EventReaderReport): void {
  process.send!(said)
}

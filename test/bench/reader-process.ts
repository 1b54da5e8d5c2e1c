/** A process of clients that read streams and note how late each event comes. */

import { EventStream } from './event-stream.ts'

/** What a process of readers must read: each path through each of the doors. */
export interface ReaderOrder {
  readonly paths: readonly string[]
  readonly doors: readonly string[]
}

export type ReaderReport =
  | { readonly kind: 'connected' }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'read'; readonly broken: number; /** Delays by reader and event. */
    readonly delaysMs: readonly Float64Array[] }

/** Delays by reader and event. */
const delaysMs: number[][] = []
const streams: EventStream[] = []
let connected = 0

process.on('message', (order: ReaderOrder) => {
  for (const path of order.paths) {
    for (const url of order.doors) join(url, path)
  }
  void report()
})

process.on('disconnect', () => process.exit())

/** The time in each event comes from the same clock, because it is the same machine. */
function join(url: string, path: string): void {
  const own: number[] = []
  delaysMs.push(own)
  const stream = new EventStream({ url, method: 'GET', path }, ({ event, data }) => {
    if (event !== 'custom') return
    own.push(Date.now() - (JSON.parse(data) as { atMs: number }).atMs)
  })
  streams.push(stream)
  stream.status.then((status) => {
    if (status !== 200) notify({ kind: 'failed', why: `${path} was answered ${status}` })
    connected += 1
    if (connected === streams.length) notify({ kind: 'connected' })
  }, (error: Error) => notify({ kind: 'failed', why: error.message }))
}

async function report(): Promise<void> {
  const ends = await Promise.all(streams.map(({ ended }) => ended))
  const broken = ends.filter((end) => end === 'broken').length
  notify({ kind: 'read', broken, delaysMs: delaysMs.map((own) => Float64Array.from(own)) })
}

function notify(said: ReaderReport): void {
  process.send!(said)
}

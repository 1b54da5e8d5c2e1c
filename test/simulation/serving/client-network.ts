/** The network between clients and the front doors of simulated members. */

import type { Process } from '../process.ts'
import type { World } from '../world.ts'
import type { ServingMember } from './serving-member.ts'

const tripMs = { least: 0.3, most: 4 } as const
/** How often a client checks whether its connection holds. */
const lookMs = 50
/** A client that gets no response for this long closes the connection. */
const patienceMs = 25_000
/** Turns of Node's loop in which the application takes a request, and in which it responds. */
const doorTurns = 4

export interface ClientNetworkOptions {
  readonly world: World
  /** The member that listens at the host name of a URL; undefined if there is none. */
  memberAt(host: string): ServingMember | undefined
  /** Share of the connections that break before the response. */
  cutShare(): number
}

/** Sends requests of clients. Rejects like `fetch` if the connection breaks. */
export function clientFetch(options: ClientNetworkOptions): typeof fetch {
  const { world, memberAt, cutShare } = options
  const trip = () => world.chance.between(tripMs.least, tripMs.most)
  return (input, init = {}) =>
    new Promise<Response>((resolve, reject) => {
      const url = new URL(String(input))
      const left = new AbortController()
      const breakOff = (why: string) => {
        left.abort()
        reject(new TypeError(why))
      }
      world.wakeAfter(trip(), () => {
        const member = memberAt(url.hostname)
        const door = member?.door
        if (member === undefined || door === undefined) return breakOff('Nothing listens.')
        const stop = watch({ world, process: member.process, breakOff })
        if (world.chance.flip(cutShare())) {
          world.wakeAfter(world.chance.between(0, 400), () => breakOff('The connection broke.'))
        }
        member.process.after(0, () => {
          world.letTurn(doorTurns)
          void door.inject({ method: (init.method ?? 'GET') as 'GET', signal: left.signal,
            url: `${url.pathname}${url.search}`, headers: init.headers as Record<string, string>,
            ...init.body != null && { payload: init.body as string } })
            .then((response) => {
              // The response leaves the process, which may be stopped.
              member.process.after(0, () =>
                world.wakeAfter(trip(), () => {
                  stop()
                  resolve(toResponse(response))
                }))
            }, () => {
              stop()
              reject(new TypeError('The connection broke.'))
            })
        })
      })
    })
}

/** Breaks the connection when the process has ended, or when the client has no more patience. */
function watch(
  { world, process, breakOff }: { readonly world: World; readonly process: Process;
    readonly breakOff: (why: string) => void },
): () => void {
  const untilMs = world.nowMs + patienceMs
  let cancel = () => {}
  const look = () => {
    if (process.state === 'ended') return breakOff('The server has ended.')
    if (world.nowMs > untilMs) return breakOff('There was no response.')
    cancel = world.wakeAfter(lookMs, look)
  }
  look()
  return () => cancel()
}

interface Injected {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly payload: string
}

/** The part of a response that clients read. */
function toResponse({ statusCode, headers, payload }: Injected): Response {
  const response: Pick<Response, 'ok' | 'status' | 'text'> & {
    readonly headers: Pick<Headers, 'get'>
  } = {
    status: statusCode,
    ok: statusCode >= 200 && statusCode < 300,
    headers: { get: (name) => headers[name] === undefined ? null : String(headers[name]) },
    text: async () => payload,
  }
  return response as Response
}

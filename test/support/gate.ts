/** Places where a graph waits until a test releases it, so that no test has to guess a time. */

import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll } from 'vitest'

/** One place to wait at. */
export interface Gate {
  /** A graph that fetches this waits. */
  readonly url: string
  /** Resolves when `times` requests have come in total. */
  arrived(times?: number): Promise<void>
  /** Resolves when the sender of a waiting request has given it up. */
  left(): Promise<void>
  /** Number of requests that have come. */
  count(): number
  /** Answers all waiting requests, and later ones at once. */
  open(): void
}

/** Gates for a test file; each call of the result makes one. */
export function useGates(): () => Gate {
  const gates = new Map<string, GateKeeper>()
  const server = createServer((request, response) => {
    gates.get(request.url ?? '')?.receive(response)
  })
  beforeAll(() => new Promise<void>((done) => server.listen(0, '127.0.0.1', done)))
  afterAll(() => {
    for (const gate of gates.values()) gate.open()
    server.closeAllConnections()
    server.close()
  })
  return () => {
    const path = `/${gates.size + 1}`
    const { port } = server.address() as AddressInfo
    const gate = new GateKeeper(`http://127.0.0.1:${port}${path}`)
    gates.set(path, gate)
    return gate
  }
}

class GateKeeper implements Gate {
  readonly url: string
  #opened = false
  #came = 0
  #gone = 0
  readonly #waiting = new Set<ServerResponse>()
  #watchers: (() => void)[] = []

  constructor(url: string) {
    this.url = url
  }

  receive(response: ServerResponse): void {
    this.#came += 1
    if (this.#opened) response.end('open')
    else this.#waiting.add(response)
    response.once('close', () => {
      if (this.#waiting.delete(response)) this.#gone += 1
      this.#notify()
    })
    this.#notify()
  }

  arrived(times = 1): Promise<void> {
    return this.#until(() => this.#came >= times)
  }
  left(): Promise<void> {
    return this.#until(() => this.#gone > 0)
  }
  count(): number {
    return this.#came
  }

  open(): void {
    this.#opened = true
    for (const response of this.#waiting) response.end('open')
    this.#waiting.clear()
  }

  #until(holds: () => boolean): Promise<void> {
    return new Promise((done) => {
      const look = () => holds() ? done() : this.#watchers.push(look)
      look()
    })
  }

  #notify(): void {
    const watchers = this.#watchers
    this.#watchers = []
    for (const look of watchers) look()
  }
}

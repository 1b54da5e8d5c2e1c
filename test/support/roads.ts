/** The routes of members to Cassandra and to each other, each of which a test can cut. */

import { Worker } from 'node:worker_threads'
import { detoured } from './detour.ts'
import { firstFreePort } from './port.ts'
import type { Asked, Laid } from './roads-thread.ts'

/** The routes of one member. */
export interface Roads {
  readonly env: Readonly<Record<string, string>>
  readonly args: readonly string[]
  cutOff(from: 'cassandra' | 'peers'): void
  reach(): void
}

/** The proxies of a cluster under test. */
export interface Network {
  /** Routes in the order of the members. */
  readonly roads: readonly Roads[]
  close(): Promise<void>
}

/** For each member: a proxy to Cassandra, and one between it and the other members. */
export async function makeNetwork(members: number,
  contactPoints: readonly string[]): Promise<Network> {
  const firstPort = await firstFreePort(members)
  const places = Array.from({ length: members }, (_, index) => index)
  const portOf = (index: number) => firstPort + index
  const thread = new RoadsThread()
  const toStore = (index: number) => index
  const between = (index: number, other: number) => members * (index + 1) + other
  const roads = await Promise.all(places.map(async (index): Promise<Roads> => {
    const others = places.filter((other) => other !== index)
    const detours = await Promise.all([
      ...contactPoints.map((point) =>
        thread.detour(toStore(index), point.includes(':') ? point : `${point}:9042`)
      ),
      ...others.map((other) => thread.detour(between(index, other), `127.0.0.1:${portOf(other)}`)),
    ])
    const peers = others.flatMap((other) => [between(index, other), between(other, index)])
    return {
      args: ['--member-port', `${portOf(index)}`],
      env: detoured(Object.fromEntries(detours)),
      cutOff: (from) => thread.change('hold', from === 'peers' ? peers : [toStore(index)]),
      reach: () => thread.change('release', [toStore(index), ...peers]),
    }
  }))
  return { roads, close: () => thread.close() }
}

class RoadsThread {
  readonly #worker = new Worker(new URL('./roads-thread.ts', import.meta.url))
  readonly #laid = new Map<number, (url: string) => void>()

  constructor() {
    this.#worker.on('message', ({ id, url }: Laid) => this.#laid.get(id)?.(url))
  }

  /** A detour through this proxy: from host:port to host:port. */
  async detour(proxy: number, meant: string): Promise<[string, string]> {
    const id = this.#laid.size
    const url = new Promise<string>((resolve) => this.#laid.set(id, resolve))
    this.#ask({ kind: 'lead', proxy, to: `http://${meant}`, id })
    return [meant, new URL(await url).host]
  }

  change(kind: 'hold' | 'release', proxies: readonly number[]): void {
    for (const proxy of proxies) this.#ask({ kind, proxy })
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }

  #ask(asked: Asked): void {
    this.#worker.postMessage(asked)
  }
}

/** Clients that draw operations until the round ends. */

import { setTimeout as pause } from 'node:timers/promises'

import { Chance } from '../../test/simulation/chance.ts'
import { drawOperation } from './operations.ts'
import type { Operation } from './operation.ts'
import type { Session } from './session.ts'
import { createThread } from './thread-operations.ts'

/** Delay between polls for a server that is down, in milliseconds. */
const pollDelayMs = 100

export interface ClientsOptions {
  readonly session: Session
  readonly operations: readonly Operation[]
  readonly count: number
  readonly seed: number
  /** No operation starts after its abort. */
  readonly stopped: AbortSignal
  /** Ends calls that are still open. */
  readonly aborted: AbortSignal
}

/** Runs the clients. Resolves when each has ended its last operation. */
export async function runClients(options: ClientsOptions): Promise<void> {
  const { session, operations, count, seed, stopped, aborted } = options
  await Promise.all(Array.from({ length: count }, async (_, number) => {
    const client = { number, chance: new Chance(seed * 1_000 + number), signal: aborted }
    while (!stopped.aborted) {
      const before = session.history.entries.length
      if (session.needsThread()) await createThread(session, client)
      if (session.threads.length > 0) {
        const thread = client.chance.pick(session.threads)
        const weigh = (name: string) => session.pairs.weigh(thread.id, name)
        await drawOperation(operations, client.chance, weigh).execute({ session, client, thread })
      }
      const last = session.history.entries.slice(before).findLast(({ type }) => type === 'call')
      if (last?.type === 'call' && last.status === undefined) await waitForServer(options, number)
    }
  }))
}

/** Resolves when a front door serves the client, or when the round stops. */
async function waitForServer({ session, stopped }: ClientsOptions, client: number): Promise<void> {
  do {
    session.changeDoor(client)
    if (await session.isServed(client)) return
    await pause(pollDelayMs)
  } while (!stopped.aborted)
}

/** The world outside of simulated members: it takes effects and webhooks, and records them. */

import { pause } from '../../../cluster/index.ts'
import { HeddleError } from '../../../src/errors.ts'
import type { GuardedEgress } from '../../../src/egress/index.ts'
import type { AgentWorld } from '../../../verify/agent/agent.ts'
import type { History } from '../../../verify/history/history.ts'
import type { Process } from '../process.ts'
import type { World } from '../world.ts'

/** URL of the receiver, which gets the webhooks of runs. */
export const receiverUrl = 'https://receiver.example'

const longestTripMs = 30
/** Probability that a request or its response is lost. */
const lossShare = 0.02
const webhookTries = 20
const webhookPauseMs = 500
/** Turns in which the engine of a graph takes what it has waited for. */
const engineTurns = 4

export class Outside {
  readonly #world: World
  readonly #history: History
  readonly #receipts = new Map<string, string>()
  #count = 0

  constructor(world: World, history: History) {
    this.#world = world
    this.#history = history
  }

  /** The world as the graphs of a process see it. */
  agentWorld(process: Process): AgentWorld {
    const resumed = () => void this.#world.letTurn(engineTurns)
    return {
      wait: async (ms) => {
        await pause(process.env, ms)
        resumed()
      },
      post: async (name, token, key) => {
        try {
          return await this.#trip(process, () => this.#receive(name as 'charge', token, key))
        } finally {
          resumed()
        }
      },
    }
  }

  /** The way of the webhooks of a process. */
  egress(process: Process): Pick<GuardedEgress, 'check' | 'send'> {
    return {
      check: () => {},
      send: async ({ body, tries = webhookTries }, signal) => {
        for (let left = tries; left > 0; left--) {
          signal.throwIfAborted()
          const text = await body?.()
          if (text === undefined) return { kind: 'refused', reason: 'Nothing has to be sent.' }
          try {
            await this.#trip(process, () => this.#webhook(text))
            return { kind: 'answered', status: 200, body: '', cut: false }
          } catch {
            await pause(process.env, webhookPauseMs)
          }
        }
        return { kind: 'failed', reason: 'Nothing responds.' }
      },
    }
  }

  #receive(name: 'charge' | 'mail', token: string, key: string): string {
    this.#history.add({ type: 'effect', name, token, key, atMs: this.#history.nowMs() })
    const kept = name === 'charge' ? this.#receipts.get(key) : undefined
    const receipt = kept ?? String(++this.#count)
    this.#receipts.set(key, receipt)
    return receipt
  }

  #webhook(body: string): string {
    const { run_id: runId, status } = JSON.parse(body) as { run_id: string; status: string }
    this.#history.add({ type: 'webhook', runId, status, atMs: this.#history.nowMs() })
    return ''
  }

  /** A request of a process and its response. Throws if one of them is lost. */
  #trip(process: Process, receive: () => string): Promise<string> {
    const { chance } = this.#world
    const fails = (reject: (error: Error) => void) =>
      process.after(longestTripMs, () =>
        reject(new HeddleError('unavailable', 'The receiver does not respond.')))
    return new Promise((resolve, reject) => {
      process.after(chance.between(0, longestTripMs), () => {
        if (chance.flip(lossShare)) return void fails(reject)
        const receipt = receive()
        if (chance.flip(lossShare)) return void fails(reject)
        process.after(chance.between(0, longestTripMs), () => resolve(receipt))
      })
    })
  }
}

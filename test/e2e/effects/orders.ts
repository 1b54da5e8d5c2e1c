/** Orders whose effects are counted by their receiver, while servers are killed and stopped. */

import type { Client, Thread } from '@langchain/langgraph-sdk'
import { expect } from 'vitest'

import type { Chance } from '../../simulation/chance.ts'
import { openReceiver } from '../../support/receiver.ts'
import type { Received, Receiver } from '../../support/receiver.ts'

/** Graphs of the project `effects`: a charge, the same before a question, and a mail. */
const graphs = ['shop', 'asking', 'mailing'] as const

/** A run that was asked for. */
export interface Order {
  readonly name: string
  readonly graphId: typeof graphs[number]
  readonly threadId: string
  /** True if the server said that it has the run. */
  isTaken: boolean
}

/** What was seen of all orders. */
export interface Tally {
  orders: number
  /** Charges and mails that the receiver has got, each once or more. */
  effects: number
  /** Effects that the receiver had got and not answered when a server was cut off. */
  inFlight: number
  /** Charges that were sent again with their key. */
  again: number
  /** Mails that somebody was asked about. */
  questions: number
  /** Mails that a person ordered once more. */
  ordered: number
  /** Runs that failed, as the log took too long to confirm an intent. */
  late: number
}

/** The receiver of all effects, and the orders that cause them. */
export class Orders {
  readonly #receiver: Receiver
  readonly #chance: Chance
  readonly tally: Tally = { orders: 0, effects: 0, inFlight: 0, again: 0, questions: 0, ordered: 0,
    late: 0 }
  /** Requests that have no answer yet. */
  readonly #open: Set<Received>
  readonly #requests = new Map<string, string[]>()
  #seen = 0

  private constructor(receiver: Receiver, open: Set<Received>, chance: Chance) {
    this.#receiver = receiver
    this.#open = open
    this.#chance = chance
  }

  /** Opens a receiver that takes up to `slowMs` to answer. */
  static async open(chance: Chance, slowMs: number): Promise<Orders> {
    const open = new Set<Received>()
    const receiver = await openReceiver((received, response) => {
      open.add(received)
      response.on('close', () => open.delete(received))
      setTimeout(() => response.end('{"id":1}'), slowMs * (0.3 + 0.7 * Math.random()))
    })
    return new Orders(receiver, open, chance)
  }

  get url(): string {
    return this.#receiver.url
  }

  close(): Promise<void> {
    return this.#receiver.close()
  }

  /** Makes threads and asks for a run on each. Resolves when the first effects have come. */
  async place(clients: readonly Client[], count: number, effects = 1): Promise<Order[]> {
    const before = this.#receiver.received.length
    const orders = await Promise.all(Array.from({ length: count }, async (_, i) => {
      const client = clients[i % clients.length]!
      const { thread_id: threadId } = await client.threads.create()
      const order: Order = { name: `${this.tally.orders + i}`, graphId: graphs[i % 3]!, threadId,
        isTaken: false }
      return { client, order }
    }))
    this.tally.orders += count
    for (const { client, order } of orders) {
      void client.runs.create(order.threadId, order.graphId, { input: { order: order.name },
        ...this.#chance.flip(0.3) && { durability: 'exit' as const } })
        .then(() => {
          order.isTaken = true
        }, () => {})
    }
    await this.#receiver.arrived(before + effects)
    return orders.map(({ order }) => order)
  }

  /** Counts the effects that nobody will hear the end of, if their server is cut off now. */
  cutNow(): void {
    this.tally.inFlight += this.#open.size
  }

  /** Keys under which an effect of an order was sent, in their order. */
  sent(path: 'charge' | 'mail' | 'model', order: Order): readonly string[] {
    const { received } = this.#receiver
    for (; this.#seen < received.length; this.#seen++) {
      const { path: to, body, headers } = received[this.#seen]!
      const { order: name } = JSON.parse(body) as { readonly order: string }
      const key = `${to} ${name}`
      const keys = this.#requests.get(key) ?? []
      this.#requests.set(key, keys)
      keys.push(String(headers['idempotency-key']))
    }
    return this.#requests.get(`/${path} ${order.name}`) ?? []
  }

  /** Waits until no thread of the orders is busy, and checks each. Answers what they ask. */
  async check(client: Client, orders: readonly Order[]): Promise<void> {
    const ids = orders.map(({ threadId }) => threadId)
    const threads = await expect.poll(async () => {
      const found = await client.threads.search({ ids, limit: ids.length }).catch(() => [])
      return found.length === ids.length && found.every(({ status }) => status !== 'busy')
        ? found
        : undefined
    }, { timeout: 90_000, interval: 100 }).toBeDefined().then(() =>
      client.threads.search({ ids, limit: ids.length })
    )
    const threadOf = new Map(threads.map((thread) => [thread.thread_id, thread]))
    await Promise.all(
      orders.map((order) => this.#checkOne(client, order, threadOf.get(order.threadId)!)),
    )
  }

  async #checkOne(client: Client, order: Order, { status, error }: Thread): Promise<void> {
    const said = `order ${order.name} of ${order.graphId}, ${status}, ${JSON.stringify(error)}`
    const waits = status === 'interrupted'
    if (status === 'error') return this.#checkLate(order, said)
    if (order.graphId === 'mailing') return this.#checkMail(client, order, waits, said)
    const keys = this.sent('charge', order)
    expect(new Set(keys).size, said).toBe(keys.length > 0 || order.isTaken ? 1 : 0)
    if (keys.length > 0) this.tally.effects++
    if (keys.length > 1) this.tally.again++
    if (order.graphId !== 'asking' || keys.length === 0) return
    // The model and the charge before the question are answered by their receipts.
    expect(waits, said).toBe(true)
    const models = this.sent('model', order).length
    await client.runs.wait(order.threadId, 'asking', { command: { resume: 'yes' } })
    expect(this.sent('charge', order), said).toHaveLength(keys.length)
    expect(this.sent('model', order), said).toHaveLength(models)
  }

  /** On a machine that is too slow an effect is given up. It has not been done, or once. */
  #checkLate(order: Order, said: string): void {
    expect(said).toContain('too slow to confirm')
    this.tally.late++
    expect(new Set(this.sent('charge', order)).size, said).toBeLessThanOrEqual(1)
    expect(this.sent('mail', order).length, said).toBeLessThanOrEqual(1)
  }

  async #checkMail(client: Client, order: Order, waits: boolean, said: string): Promise<void> {
    const before = this.sent('mail', order).length
    // Nobody has decided yet.
    expect(before, said).toBeLessThanOrEqual(1)
    this.tally.effects += before
    if (!waits) return expect(before, said).toBe(order.isTaken ? 1 : before)
    this.tally.questions++
    const decision = this.#chance.pick(['done', 'do'])
    if (decision === 'do') this.tally.ordered++
    await client.runs.wait(order.threadId, 'mailing', { command: { resume: decision } })
    expect(this.sent('mail', order), said).toHaveLength(before + (decision === 'do' ? 1 : 0))
  }
}

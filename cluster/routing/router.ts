/** Key to shard to owner to activation: how a command finds its actor. Rule: [same_id]. */

import { asCoded, ClusterError, CodedError, hasCode } from '../errors.ts'
import type { ActivationTable } from '../actors/activation-table.ts'
import { actorKeyText } from '../actors/actor-key.ts'
import type { ActorKey } from '../actors/actor-key.ts'
import { backoffMs } from '../flow/backoff.ts'
import { atLatest } from '../flow/with-timeout.ts'
import type { Member } from '../member.ts'
import type { Env } from '../runtime/env.ts'
import { titleOf, withSpan } from '../runtime/tracing.ts'
import type { SpanStart, Tracing } from '../runtime/tracing.ts'
import type { Owner, Ownership } from '../shards/ownership.ts'
import { shardOf } from '../shards/shard.ts'
import type { Inbound, Transport } from '../transport/transport.ts'
import { serviceKey } from './service.ts'
import type { Service } from './service.ts'

/**
 * A caller that sends commands to one key, one after another, may rely on their order. Rejects with
 * what the actor threw; with `full` if too much waits for the actor; with `unavailable` if nobody
 * received the command. A refusal has `again` among its details if an earlier try of the same
 * command may have been received.
 */
export interface Router {
  /**
   * The actor's reply. `cancelled` aborts, with a CodedError, when the caller has gone:
   * the actor is notified, wherever it lives, but what the command does is done all the same.
   */
  ask(key: ActorKey, command: unknown, cancelled?: AbortSignal): Promise<unknown>
  /** Lets the actor tell `listener` until the returned function is called. */
  follow(key: ActorKey, request: unknown, listener: unknown): Promise<() => void>
}

/** Parts with which a router finds an actor and reaches it. */
export interface RouterOptions {
  readonly env: Env
  /** True if another member may continue a follow that was begun here; this is the default. */
  readonly movable?: boolean
  readonly ownership: Ownership
  readonly activations: ActivationTable
  readonly transport: Transport
  /** Undefined if nothing is traced. */
  readonly tracing?: Tracing
}

/** Time for which a command looks for an owner. */
const patienceMs = 20_000
/** The same if it may have been received: only the next owner can tell, and the client cannot. */
const unconfirmedPatienceMs = 45_000
/** Pauses after a failed try; a change of an owner ends them early. */
const pauses = { firstMs: 100, longestMs: 100 }

/** Reaches every actor of the cluster, wherever it lives, and wherever it moves meanwhile. */
export function createRouter(options: RouterOptions): Router {
  const { env, movable = true, ownership, activations, transport, tracing } = options
  const traced = () => tracing && { trace: tracing.current() }
  return {
    ask: (key, command, cancelled) =>
      withSpan(tracing, asking(key, command), () => ask(key, command, cancelled)),
    follow: (key, request, listener) =>
      withSpan(tracing, asking(key, { type: 'follow' }), () =>
        untilAnswered(options, key, (owner) =>
          owner.member === ownership.self
            ? activations.follow(key, owner.epoch, request, listener)
            : transport.follow(owner.member, key, request, listener, traced()))),
  }

  function ask(key: ActorKey, command: unknown, cancelled?: AbortSignal): Promise<unknown> {
    const owner = ownerOf(ownership, key)
    if (owner?.member !== ownership.self) return askOthers(key, command, { cancelled })
    // If no other member can receive it, no second try needs to be recognised.
    const id = movable ? env.uuid() : undefined
    const asked = activations.ask(key, owner.epoch, command, id, cancelled)
    return asked.catch((error: unknown) => {
      if (!mayBeDoneElsewhere(error)) throw error
      return askOthers(key, command, { id, before: error, cancelled })
    })
  }

  function askOthers(key: ActorKey, command: unknown,
    { id = env.uuid(), ...tries }: Tries & { readonly id?: string | undefined }): Promise<unknown> {
    const { cancelled } = tries
    return untilAnswered(options, key, (owner) =>
      owner.member === ownership.self
        ? activations.ask(key, owner.epoch, command, id, cancelled)
        : transport.deliver(owner.member, key, command, { id, ...traced(),
          ...cancelled && { cancelled } }), tries)
  }
}

interface Tries {
  /** The error of the try before these. */
  readonly before?: unknown
  readonly cancelled?: AbortSignal | undefined
}

function asking({ kind }: ActorKey, command: unknown): SpanStart {
  return { name: `ask ${kind}${titleOf(command)}`, kind: 'client' }
}

async function untilAnswered<Reply>({ env, ownership }: RouterOptions, key: ActorKey,
  send: (owner: Owner) => Promise<Reply>, { before, cancelled }: Tries = {}): Promise<Reply> {
  const shard = shardOf(actorKeyText(key), ownership.shards)
  const askedMs = env.monotonicMs()
  let unconfirmed = isAmbiguous(before) ? before : undefined
  for (;;) {
    cancelled?.throwIfAborted()
    const owner = ownership.ownerOf(shard)
    try {
      if (owner !== undefined) return await send(owner)
    } catch (error) {
      if (mayBeDoneElsewhere(error)) {
        if (isAmbiguous(error)) unconfirmed = error
        if (learns(ownership, shard, owner!, error)) continue
      } else {
        if (unconfirmed === undefined) throw error
        // It refuses what it has perhaps done already: this says nothing of earlier tries.
        const refusal = asCoded(error)
        if (refusal.retry === 'no') throw refusal.with({ again: true })
      }
    }
    const waitedMs = env.monotonicMs() - askedMs
    const enoughMs = unconfirmed === undefined ? patienceMs : unconfirmedPatienceMs
    // A 503 says that nothing was done: if something may have been, the error must say so.
    if (waitedMs >= enoughMs) throw unconfirmed ?? nobody()
    await atLatest(env, backoffMs(pauses, 1, env.random()), ownership.changed())
  }
}

function mayBeDoneElsewhere(error: unknown): boolean {
  return hasCode(error, 'not_owner') || isAmbiguous(error) ||
    (error instanceof CodedError && error.details.unreachable !== undefined)
}

function isAmbiguous(error: unknown): boolean {
  return error instanceof CodedError && error.outcome === 'maybe_done'
}

/** True if the error names a newer owner to ask; each has a higher epoch than the one before. */
function learns(ownership: Ownership, shard: number, asked: Owner, error: unknown): boolean {
  if (asked.member === ownership.self) return false
  const { owner, epoch } = asCoded(error).details
  if (owner !== undefined && epoch !== undefined && epoch > asked.epoch) {
    ownership.learn(shard, { member: owner, epoch })
    return true
  }
  ownership.doubt(shard)
  return false
}

function nobody(): ClusterError {
  return new ClusterError('unavailable', 'Nobody owns this right now: ask again in a moment.')
}

/** Options of the receiving side: those of a router, and the services of this member. */
export interface InboundOptions extends Omit<RouterOptions, 'transport' | 'env'> {
  readonly services: readonly Service[]
}

/**
 * Takes what other members deliver. Any member may be asked, but only the owner answers: for a key
 * of another member it throws `not_owner`, with the owner and epoch that are known here.
 */
export function createInbound(options: InboundOptions): Inbound {
  const { ownership, activations, tracing } = options
  const services = new Map(options.services.map((service) => [service.name, service]))
  const epochOf = (key: ActorKey) => {
    const owner = ownerOf(ownership, key)
    if (owner?.member === ownership.self) return owner.epoch
    throw new ClusterError('not_owner', undefined,
      owner && { owner: owner.member, epoch: owner.epoch })
  }
  const handle = <Reply>(key: ActorKey, command: unknown, parent: string | undefined,
    work: () => Promise<Reply>) =>
    withSpan(parent ? tracing : undefined, { name: `hear ${key.kind}${titleOf(command)}`,
      kind: 'server', parent: parent ?? '' }, work)
  return {
    ask: (key, command, { id, trace, cancelled } = {}) =>
      handle(key, command, trace, async () => {
        const service = services.get(key.kind)
        if (service !== undefined) return await service.answer(command, cancelled)
        return await activations.ask(key, epochOf(key), command, id, cancelled)
      }),
    follow: (key, request, listener, { trace } = {}) =>
      handle(key, { type: 'follow' }, trace, async () =>
        await activations.follow(key, epochOf(key), request, listener)),
  }
}

/** Asks the services of members, which needs no owner. */
export function memberAsker(
  { transport, self, services }: { readonly transport: Transport; readonly self: Member;
    readonly services: readonly Service[] },
) {
  return async (member: Member, service: string, question: unknown,
    cancelled?: AbortSignal): Promise<unknown> => {
    const own = services.find(({ name }) => name === service)
    if (member.id === self.id && own !== undefined) return await own.answer(question, cancelled)
    return await transport.deliver(member, serviceKey(service), question,
      cancelled && { cancelled })
  }
}

function ownerOf(ownership: Ownership, key: ActorKey): Owner | undefined {
  return ownership.ownerOf(shardOf(actorKeyText(key), ownership.shards))
}

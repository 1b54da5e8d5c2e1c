/**
 * A member's session: from the moment it owns all shards until it leaves, or is fenced.
 *
 *   1. It joins, and looks at the sessions that own what it needs. One that answers at its address
 *      lives: then this member does not start. Any other is fenced, which is always safe.
 *   2. It claims every shard, each with an epoch of its own.
 *   3. It serves while its gate lets pass, and leaves when nothing is under way any more.
 */

import { HeddleError } from '../src/errors.ts'
import type { Probe } from './beacon.ts'
import { claimShards, ownerBeside } from './claim.ts'
import type { Env } from './env.ts'
import { SessionGate } from './gate.ts'
import type { Gate } from './gate.ts'
import type { Member } from './member.ts'
import { claimedOwnership } from './ownership.ts'
import type { Ownership } from './ownership.ts'
import type { SessionPort } from './session-port.ts'
import type { ShardPort } from './shard-port.ts'

export interface SessionOptions {
  readonly env: Env
  /** Its address is where its beacon answers, from before this begins. */
  readonly self: Member
  readonly sessions: SessionPort
  readonly shardOwners: ShardPort
  readonly probe: Probe
  /** How many there are: the same for all members. */
  readonly shards: number
  /** Called once, with a sentence, when another member ended this session while it served. */
  onFenced(reason: string): void
}

export interface Session {
  readonly gate: Gate
  readonly ownership: Ownership
  /** When nothing is under way any more. Never throws: whoever comes next can fence it. */
  leave(): Promise<void>
}

/** So often a session that acknowledges nothing looks whether it is still alive. */
const lookMs = 1_000

/**
 * Resolves when this member owns all shards. Throws `not_owner` where another one lives that owns
 * some, and `unavailable` where the store does not answer.
 */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { env, self, sessions } = options
  let serving = false
  let stopLooking = () => {}
  const gate = new SessionGate({
    env,
    validate: () => sessions.state(self.id),
    onFenced: (reason) => { if (serving) options.onFenced(reason) },
  })
  const leave = () => {
    stopLooking()
    gate.shut()
    return sessions.leave(self.id)
  }
  try {
    await sessions.join(self)
    const epochs = await claimAll(options)
    // Whoever was fenced while he claimed hears it here, before he serves.
    await gate.pass()
    serving = true
    stopLooking = env.every(lookMs, () => {
      if (gate.state === 'open') gate.pass().catch(() => {})
    })
    return {
      gate,
      ownership: claimedOwnership({ self, epochs }),
      leave: () => leave().catch((error: unknown) => env.log.warn(
        'This member could not say that it left; whoever comes next fences it.', { error })),
    }
  } catch (error) {
    // Whatever keeps it from that, the first error says more.
    await leave().catch(() => {})
    throw error
  }
}

async function claimAll(options: SessionOptions): Promise<readonly number[]> {
  const { self, shardOwners } = options
  const known = await shardOwners.owners()
  const endings = new Map<string, Promise<void>>()
  const ended = (other: Member) => {
    const ending = endings.get(other.id) ?? proveEnded(options, other)
    endings.set(other.id, ending)
    return ending
  }
  // All at once: each that is silent takes its time.
  await Promise.all(known.flatMap((owner) => ownerBeside(self, owner) ?? []).map(ended))
  return await claimShards({ ...options, known, ended })
}

/** A read that says it is over is no proof; a fence is one, whoever ended it. */
async function proveEnded({ self, sessions, probe }: SessionOptions, other: Member): Promise<void> {
  if (await sessions.state(other.id) === 'alive' && await probe(other)) {
    throw new HeddleError('not_owner', `A member that lives at ${other.address} owns what this ` +
      'one needs: end that one first, or let this one serve other data.', { owner: other })
  }
  await sessions.fence(other.id, self.id)
}

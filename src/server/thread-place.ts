/** Finds a thread: the member that owns its shard, and whether it is in memory there. */

import { actorKeyText, atLatest, shardOf } from '../../cluster/index.ts'
import type { ActorKey, Env, Member, Service } from '../../cluster/index.ts'
import { HeddleError } from '../errors.ts'
import type { ThreadPlace } from '../api/index.ts'
import type { Backend } from './backends/backend.ts'

/** Parts with which a thread is found. */
export interface ThreadPlaceParts {
  readonly env: Pick<Env, 'after'>
  readonly backend: Pick<Backend, 'ownership' | 'askMember'>
  /** Answer of this member about its own actors. */
  readonly activity: Service<ActorKey, boolean>
}

/** Milliseconds for the answer of the owner. Without one, the thread counts as not in memory. */
const answerMs = 500

/** The place of a thread as this member knows it. Throws `unavailable` without an owner. */
export async function threadPlace({ env, backend, activity }: ThreadPlaceParts, tenant: string,
  threadId: string): Promise<ThreadPlace> {
  const { ownership } = backend
  const key: ActorKey = { kind: 'thread', tenant, id: threadId }
  const shard = shardOf(actorKeyText(key), ownership.shards)
  const owner = ownership.ownerOf(shard)
  if (owner === undefined) {
    throw new HeddleError('unavailable', 'No owner of this thread is known right now.')
  }
  const { member, epoch } = owner
  const asked = isSelf(member, ownership.self)
    ? activity.answer(key)
    : backend.askMember(member, activity.name, key).then((active) => active === true, () => false)
  const active = await atLatest(env, answerMs, asked) ?? false
  return { member: member.id, address: member.address, shard, epoch, active }
}

function isSelf({ id }: Member, self: Member): boolean {
  return id === self.id
}

/**
 * Removes revisions. First their records say so. Then one change of the deployment fails if a
 * revision was begun or a pointer was moved since it was read: after it, nothing new can refer to
 * what only the removed ones refer to. Then those chunks are deleted. Each step may be repeated.
 */

import { HeddleError } from '../../errors.ts'
import type { Deployment } from '../deployment.ts'
import { crowded, triesMax } from './beginning.ts'
import { copyKey } from './chunk-copies.ts'
import type { ChunkCopies, ChunkCopy } from './chunk-copies.ts'
import { pointsTo } from './deployment-record.ts'
import type { StoredDeployment } from './deployment-record.ts'
import type { RevisionContents } from './revision-content.ts'
import type { StoredRevision } from './revision-record.ts'
import type { StoredDeployments } from './stored-deployments.ts'

/** Stores that revisions are removed from. */
export interface RemovalParts {
  readonly stored: StoredDeployments
  readonly contents: RevisionContents
}

/** Records of removed revisions that stay. */
const removedKept = 200

/**
 * Removes revisions, and what is left of those whose removal was cut off. One that the deployment
 * points to now, and did not when the caller read it, stays: `stale`.
 */
export async function removeRevisions(parts: RemovalParts, deployment: Deployment,
  revisions: readonly StoredRevision[]): Promise<void> {
  const marked: StoredRevision[] = []
  for (const each of revisions) {
    if (await markRemoved(parts, each)) marked.push(each)
  }
  for (let tries = 0; tries < triesMax; tries++) {
    const now = await parts.stored.byId(deployment.id)
    if (now === undefined) return
    const needed = marked.find(({ name }) => pointsTo(now, name) && !pointsTo(deployment, name))
    if (needed !== undefined) await giveBack(parts, marked, needed.name)
    const fenced = await fence(parts, now)
    if (fenced === undefined) continue
    await sweep(parts, now, fenced)
    return
  }
  throw crowded()
}

/**
 * Deletes copies of chunks, unless a revision refers to them: after this has read that, nothing new
 * can.
 */
export async function deleteUnneeded(parts: RemovalParts, deployment: string,
  copies: readonly (readonly [sha256: string, copy: ChunkCopy])[]): Promise<void> {
  for (let tries = 0; tries < triesMax; tries++) {
    const now = await parts.stored.byId(deployment)
    const fenced = now && await fence(parts, now)
    if (now !== undefined && fenced === undefined) continue
    await parts.contents.deleteChunks(deployment, copies.filter(([sha256, copy]) =>
      !fenced?.kept.has(copyKey(sha256, copy))
    ))
    return
  }
  throw crowded()
}

/** Restores the marked revisions and throws `stale`, because a pointer has moved to one of them. */
async function giveBack({ stored }: RemovalParts, marked: readonly StoredRevision[],
  name: string): Promise<never> {
  for (const { id, state, expiresAtMs } of marked) {
    await stored.changeRevision(id, { state, expiresAtMs }, { state: 'removed' })
  }
  throw new HeddleError('stale', `The deployment goes on with ${name} meanwhile: nothing is ` +
    'removed.')
}

interface Fenced {
  readonly all: readonly StoredRevision[]
  /** Copies that are still referred to, by their keys. */
  readonly kept: ReadonlyMap<string, ChunkCopy>
}

/** Fences a removal; undefined if the deployment changed since it was read. */
async function fence(parts: RemovalParts, now: StoredDeployment): Promise<Fenced | undefined> {
  const all = await parts.stored.revisions(now.id)
  const kept = await keptCopies(parts, now, all)
  const bytes = [...kept.values()].reduce((sum, copy) => sum + copy.bytes, 0)
  return await parts.stored.fence(now, bytes) && { all, kept }
}

/** Marks a revision as removed. False if it was marked before. */
async function markRemoved({ stored }: RemovalParts, { id, state }: StoredRevision) {
  if (state === 'removed') return false
  await stored.changeRevision(id, { state: 'removed', expiresAtMs: null }, { state })
  return true
}

/** The copies to which revisions that are not removed refer, by their keys. */
async function keptCopies({ contents }: RemovalParts, { unsettled }: StoredDeployment,
  all: readonly StoredRevision[]): Promise<ReadonlyMap<string, ChunkCopy>> {
  const kept = new Map<string, ChunkCopy>()
  for (const revision of withUnsettled(all, unsettled?.revision)) {
    const { content, deployment, state, name } = revision
    if (content === null || state === 'removed') continue
    const copies = await contents.copies(deployment, content)
    // Its chunks are not known, so nothing may be deleted.
    if (copies === undefined) {
      throw new HeddleError('partly_done', `The manifest of ${name} is lost: remove it first.`)
    }
    for (const [sha256, copy] of copies) kept.set(copyKey(sha256, copy), copy)
  }
  return kept
}

/** The revisions with the newest one, even if its record was not written yet. */
function withUnsettled(all: readonly StoredRevision[],
  newest: StoredRevision | undefined): readonly StoredRevision[] {
  if (newest === undefined) return all
  const known = all.find(({ id }) => id === newest.id)
  if (known === undefined) return [...all, newest]
  const isBuilt = known.state === 'building' && known.content === null
  return isBuilt ? [...all, newest] : all
}

async function sweep({ stored, contents }: RemovalParts, { id, revisionCount }: StoredDeployment,
  { all, kept }: Fenced): Promise<void> {
  for (const each of all) {
    if (each.state !== 'removed') continue
    if (!each.swept) {
      const copies: ChunkCopies = each.content === null
        ? new Map()
        : await contents.copies(id, each.content) ?? new Map()
      await contents.deleteChunks(id, [...copies].filter(([sha256, copy]) =>
        !kept.has(copyKey(sha256, copy))
      ))
      if (each.content !== null) await contents.drop(id, each.content)
      await stored.changeRevision(each.id, { swept: true, graphs: [], failures: [] })
    }
    if (each.number <= revisionCount - removedKept) await stored.deleteRevision(each.id)
  }
}

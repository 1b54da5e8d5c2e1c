/**
 * Begins revisions. First the documents are written, under a name that no other process knows. Then
 * one change of the deployment gives the revision its number, charges its bytes and makes its
 * references count; that fails if a revision was begun or removed since the deployment was read.
 * The record of the revision follows, written by the first process that reads the deployment.
 */

import { HeddleError } from '../../errors.ts'
import { readManifest, revisionHash, RevisionError } from '../../revision/index.ts'
import type { Manifest } from '../../revision/index.ts'
import { bytesBrought, chunksOf, copiesFor } from './chunk-copies.ts'
import type { ChunkCopies } from './chunk-copies.ts'
import type { StoredDeployment, Unsettled } from './deployment-record.ts'
import type { RevisionContents } from './revision-content.ts'
import { newRevision, ofManifest } from './revision-record.ts'
import type { StoredRevision } from './revision-record.ts'
import type { RecordParts, StoredDeployments } from './stored-deployments.ts'

/** Limits on the deployments of a tenant. */
export interface DeploymentsLimits {
  /** Tenants that may have any: the code of each runs beside that of all others. */
  readonly owners: 'one' | 'any'
  /** Addresses from which code could call as every user. With any, no deployment is created. */
  readonly posing: readonly string[]
  readonly deployments: number
  /** Of the chunks of all deployments of a tenant. */
  readonly bytes: number
  /** Revisions of a deployment that are kept. */
  readonly revisions: number
}

/** The limits of a server that has no others. */
export const deploymentsLimits: DeploymentsLimits = { owners: 'any', posing: [], deployments: 20,
  bytes: 2_000_000_000, revisions: 100 }

/** Milliseconds after which an upload that is not complete is removed. */
const uploadMs = 24 * 3_600_000

/** Revisions beside those that retention keeps: uploads, and those it has not removed yet. */
const besideKept = 20
/** Chunks of a revision. */
const chunksMax = 20_000
/** Tries of a change that other processes may overtake. */
export const triesMax = 50

/** Stores and limits with which revisions are begun. */
export interface BeginningParts extends RecordParts {
  readonly stored: StoredDeployments
  readonly contents: RevisionContents
  readonly limits: DeploymentsLimits
}

/** Content of a new revision, and its author. */
export interface BeginningRequest {
  readonly message: string
  readonly by: string
  /** Undefined if it is to be built. */
  readonly manifest?: { readonly content: Manifest; readonly hash: string }
}

/** A manifest that came from a caller, with its hash. Throws `invalid` or `too_large`. */
export function requireManifest(
  said: unknown,
): { readonly content: Manifest; readonly hash: string } {
  try {
    const content = readManifest(said)
    if (chunksOf(content).size <= chunksMax) return { content, hash: revisionHash(content) }
    throw new RevisionError('too_large', `A revision may have ${chunksMax} chunks.`)
  } catch (error) {
    if (!(error instanceof RevisionError)) throw error
    const code = error.code === 'too_large' ? 'too_large' : 'invalid'
    throw new HeddleError(code, error.message, {}, { cause: error })
  }
}

/** Begins a revision, or finds the one with the same hash. Throws `full`, `not_found`, `stale`. */
export async function begin(parts: BeginningParts, deployment: string,
  options: BeginningRequest
): Promise<{ readonly revision: StoredRevision; readonly known: boolean }> {
  const { stored, env, limits } = parts
  for (let tries = 0; tries < triesMax; tries++) {
    const now = await readDeployment(parts, deployment)
    const others = present(await stored.revisions(deployment))
    const same = options.manifest && others.find((each) => isSame(each, options.manifest!.hash))
    if (same !== undefined) return { revision: await prolonged(parts, same), known: true }
    if (others.length >= limits.revisions + besideKept) {
      throw new HeddleError('full', `The deployment ${now.name} has ${others.length} revisions: ` +
        'remove one.')
    }
    const nowMs = env.nowMs()
    const revision = newRevision({ ...options, id: env.uuid(), deployment,
      number: now.revisionCount + 1, createdAtMs: nowMs, expiresAtMs: nowMs + uploadMs })
    const made = await refer(parts, now, { others, revision, kind: 'begun',
      ...options.manifest && { manifest: options.manifest.content } })
    if (made !== undefined) return { revision: made, known: false }
  }
  throw crowded()
}

/** Gives a revision that is built its manifest. Throws `stale` if it is not being built. */
export async function endBuild(parts: BeginningParts, deployment: string, id: string,
  { content, hash }: NonNullable<BeginningRequest['manifest']>): Promise<StoredRevision> {
  const { stored, env } = parts
  for (let tries = 0; tries < triesMax; tries++) {
    const now = await readDeployment(parts, deployment)
    const revision = await stored.revisionById(id)
    if (revision?.state !== 'building' || revision.content !== null) {
      throw new HeddleError('stale', 'The revision is not being built any more.')
    }
    const others = present(await stored.revisions(deployment))
    const made = await refer(parts, now, { kind: 'built', others, manifest: content,
      revision: { ...revision, ...ofManifest(content, hash), content: env.uuid() } })
    if (made !== undefined) return made
  }
  throw crowded()
}

interface Reference extends Unsettled {
  readonly others: readonly StoredRevision[]
  readonly manifest?: Manifest
}

/** Makes references count. Resolves with the revision; undefined if another change came first. */
async function refer(parts: BeginningParts, now: StoredDeployment,
  { kind, revision, manifest, others }: Reference): Promise<StoredRevision | undefined> {
  const { stored, contents } = parts
  const copies: ChunkCopies = manifest === undefined
    ? new Map()
    : await copiesFor(manifest, revision.number, copiesOf(contents, others))
  const addedBytes = bytesBrought(copies, revision.number)
  await requireRoom(parts, now, addedBytes)
  const { content } = revision
  if (manifest !== undefined) await contents.put(now.id, content!, { manifest, copies })
  const after = await stored.refer(now, { addedBytes, unsettled: { kind, revision },
    revisionCount: Math.max(now.revisionCount, revision.number) })
  if (after === undefined) {
    if (content !== null) await contents.drop(now.id, content)
    return undefined
  }
  await stored.settle(after)
  const made = await stored.revisionById(revision.id)
  // It was removed at once, or another process ended the build.
  if (made === undefined || made.content !== content) throw crowded()
  return made
}

/** The newest first: most of their chunks are the same. */
async function* copiesOf(contents: RevisionContents,
  others: readonly StoredRevision[]): AsyncGenerator<ChunkCopies> {
  for (const { deployment, content } of others) {
    const copies = content === null ? undefined : await contents.copies(deployment, content)
    if (copies !== undefined) yield copies
  }
}

async function readDeployment({ stored }: BeginningParts, id: string): Promise<StoredDeployment> {
  const now = await stored.byId(id)
  if (now === undefined) throw new HeddleError('not_found', 'The deployment does not exist.')
  if (now.removing) throw new HeddleError('stale', `The deployment ${now.name} is being removed.`)
  await stored.settle(now)
  return now
}

/** Throws `full` if the tenant has no room for so many bytes more. */
export async function requireRoom({ stored, limits }: Pick<BeginningParts, 'stored' | 'limits'>,
  { tenant }: StoredDeployment, bytes: number): Promise<void> {
  const held = (await stored.ofTenant(tenant)).reduce((sum, { heldBytes }) => sum + heldBytes, 0)
  if (held + bytes <= limits.bytes) return
  throw new HeddleError('full', `The revisions of all deployments of ${tenant} may have ` +
    `${limits.bytes} bytes. They have ${held}, and this one needs ${bytes} more: remove some.`)
}

async function prolonged({ stored, env }: BeginningParts,
  same: StoredRevision): Promise<StoredRevision> {
  if (same.state !== 'uploading') return same
  return await stored.changeRevision(same.id, { expiresAtMs: env.nowMs() + uploadMs }, {
    state: 'uploading',
  })
}

function isSame({ state, hash }: StoredRevision, wanted: string): boolean {
  return hash === wanted && (state === 'uploading' || state === 'ready')
}

function present(revisions: readonly StoredRevision[]): readonly StoredRevision[] {
  return revisions.filter(({ state }) => state !== 'removed')
}

/** The error for a change that others overtook at each try. */
export function crowded(): HeddleError {
  return new HeddleError('stale', 'Too much of this deployment changes at once: ask again.')
}

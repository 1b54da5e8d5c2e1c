/**
 * Makes a commit the newest one. Its manifest is kept first; then the record of the prompt names
 * it, unless another one was faster. A manifest that became no commit is removed.
 */

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { CatalogClient } from '../../records/catalog/catalog-client.ts'
import type { CommitDocuments } from './commit-documents.ts'
import { commitHash } from './prompt-names.ts'
import { headChange, promptOf } from './prompt-record.ts'
import type { Commit, CommitBody, CommitRequest, Prompt } from './prompt.ts'

/** Dependencies of a commit: the catalogs, the documents and a reader of the prompt. */
export interface CommitParts {
  readonly catalogs: Pick<CatalogClient, 'change'>
  readonly commits: CommitDocuments
  readonly env: Pick<Env, 'nowMs' | 'uuid' | 'log'>
  /** The prompt as it is now. */
  readonly read: () => Promise<Prompt>
}

/** A commit, and its prompt as it is then. */
export interface Committed {
  readonly prompt: Prompt
  readonly commit: Commit
}

/** Tries of a commit without a parent while others are faster; then it fails with `stale`. */
const triesMax = 20

/** Makes the commit, or finds it if it was made. */
export async function commitTo(parts: CommitParts, request: CommitRequest): Promise<Committed> {
  for (let tries = 1;; tries++) {
    const prompt = await parts.read()
    requireType(prompt, request)
    const body = await request.make(await beforeOf(parts, prompt, request))
    const made = await madeBefore(parts, prompt, body)
    if (made !== undefined) return { prompt, commit: made }
    const after = await publish(parts, prompt, commitOf(parts, prompt, body, request.by),
      body.manifest)
    if (after !== undefined) return { prompt: after, commit: after.head! }
    if (tries === triesMax) throw new HeddleError('stale', 'Others commit to this all the time.')
  }
}

/** The prompt with its new head; undefined if another commit was faster. */
async function publish({ catalogs, commits, env }: CommitParts, prompt: Prompt, commit: Commit,
  manifest: Uint8Array): Promise<Prompt | undefined> {
  await commits.put(prompt, commit.document, manifest)
  try {
    const { tenant, id } = prompt
    const record = await catalogs.change({ tenant, collection: 'prompt' }, id,
      headChange(prompt, commit))
    return promptOf(tenant, record)
  } catch (error) {
    const { outcome, code, httpStatus } = HeddleError.from(error)
    // A member that died may have named it nevertheless.
    if (httpStatus >= 500 || outcome === 'maybe_done') throw error
    await commits.removeManifest(prompt, commit.document).catch((failure: unknown) =>
      env.log.debug('A manifest that became no commit is kept.', { error: failure })
    )
    if (code !== 'stale') throw error
    return undefined
  }
}

function commitOf({ env }: CommitParts, { head }: Prompt, body: CommitBody,
  by: string | null): Commit {
  const parent = head?.hash ?? null
  const { digest, manifest, prompt, description } = body
  return { hash: commitHash(parent, digest), document: env.uuid(), parent,
    number: (head?.number ?? 0) + 1, digest, bytes: manifest.byteLength, prompt,
    createdMs: env.nowMs(), by, description }
}

/**
 * The commit that there is of this manifest and this parent: a request that was repeated. Throws
 * `stale` if the parent is another one than the newest, and `exists` if nothing would change.
 */
async function madeBefore({ commits }: CommitParts, prompt: Prompt,
  { parent, digest }: CommitBody): Promise<Commit | undefined> {
  const { head } = prompt
  const isSame = head?.digest === digest
  // The first commit, sent again.
  if (parent === null && head?.parent === null && isSame) return head
  const isOnTop = parent === null || (head?.hash.startsWith(parent) ?? false)
  if (isSame && isOnTop && prompt.type === 'prompt') {
    throw new HeddleError('exists',
      'There is nothing to commit: the prompt has not changed since ' +
        `its newest commit, ${head.hash}.`)
  }
  if (parent === null) return isSame ? head : undefined
  if (head === null) {
    throw new HeddleError('stale', 'This prompt has no commit yet: its first one has no parent.')
  }
  if (head.hash.startsWith(parent)) return undefined
  const known = parent.length === 64 ? parent : (await commits.byPrefix(prompt, parent))?.hash
  const made = known && await commits.byHash(prompt, commitHash(known, digest))
  if (made) return made
  throw new HeddleError('stale',
    `The newest commit is ${head.hash}, not ${parent}: pull that, and ` +
      'commit on top of it.')
}

async function beforeOf({ commits }: CommitParts, prompt: Prompt,
  { type }: CommitRequest): Promise<Uint8Array | null> {
  if (type !== 'directory' || prompt.head === null) return null
  return await commits.manifest(prompt, prompt.head)
}

function requireType({ type }: Prompt, request: CommitRequest): void {
  if ((type === 'prompt') === (request.type === 'prompt')) return
  throw new HeddleError('invalid', type === 'prompt'
    ? 'This is a prompt: commit a manifest to it.'
    : `This is an ${type === 'agent' ? 'agent' : 'item of skill'}: commit files to its directory.`)
}

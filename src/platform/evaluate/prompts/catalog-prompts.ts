/** The prompts of tenants, kept in catalogs, and their commits in documents. */

import { FairSemaphore } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import { inTurn } from '../../calls/in-turn.ts'
import { changeFresh } from '../../records/catalog/fresh-change.ts'
import type { CatalogClient } from '../../records/catalog/catalog-client.ts'
import type { RecordChange } from '../../records/catalog/catalog-record.ts'
import { dropComments } from './comment.ts'
import { commitDocuments } from './commit-documents.ts'
import type { CommitDocuments } from './commit-documents.ts'
import { commitTo } from './committing.ts'
import { findPrompts } from './prompt-list.ts'
import { digestOf, isHashLike, likeOf, prefixOfId, requireTagName } from './prompt-names.ts'
import { countsChange, fieldsChange, likeChange, newPrompt, promptOf, tagChange,
  tagDeletion } from './prompt-record.ts'
import type { Commit, CommitBody, CommitWithManifest, Prompt, PromptFields, PromptName, Prompts,
  PromptType } from './prompt.ts'
import { PullCounts } from './pull-counts.ts'
import { modelOf } from './render/manifest.ts'
import type { DocumentPort } from '../../spans/document-port.ts'

/** Dependencies of the prompts: the catalogs, the documents and the handles of tenants. */
export interface PromptParts {
  readonly catalogs: CatalogClient
  readonly documents: DocumentPort
  /** Tenants by the name that others see. */
  readonly handles: ReadonlyMap<string, string>
  readonly env: Pick<Env, 'nowMs' | 'uuid' | 'after' | 'log'>
}

/** Changes of one prompt are made one after the other. */
const turnLimits = { inAll: 256, each: 1, waiting: 4_096, waitingEach: 256,
  full: 'Too many changes of this prompt are waiting: ask again in a moment.' }

/** Prompts over the catalogs of all tenants. */
export function promptsOver(parts: PromptParts): Prompts {
  return new CatalogPrompts(parts)
}

class CatalogPrompts implements Prompts {
  readonly #parts: PromptParts
  readonly #commits: CommitDocuments
  readonly #counts: PullCounts
  readonly #turns = new FairSemaphore(turnLimits)

  constructor(parts: PromptParts) {
    this.#parts = parts
    this.#commits = commitDocuments(parts.documents)
    this.#counts = new PullCounts(parts.env, async ({ prompt: { tenant, id }, ...counted }) => {
      await this.#change(tenant, id, (prompt) => countsChange(prompt, counted))
    })
  }

  handle(tenant: string): string | null {
    return [...this.#parts.handles].find(([, owner]) => owner === tenant)?.[0] ?? null
  }

  async find(tenant: string, query: Parameters<Prompts['find']>[1]) {
    const { prompts, total } = await findPrompts(this.#parts.catalogs, tenant, query)
    return { prompts: prompts.map((prompt) => this.#counts.with(prompt)), total }
  }

  async get(tenant: string, name: PromptName): Promise<Prompt> {
    const prompt = await this.#shown(tenant, name)
    this.#counts.add(prompt, 'views')
    return this.#counts.with(prompt)
  }

  async create(tenant: string, name: string, fields: PromptFields, type: PromptType = 'prompt',
    upstream: string | null = null): Promise<Prompt> {
    this.#requireHandle(tenant, fields)
    const { catalogs, env } = this.#parts
    const record = newPrompt({ id: env.uuid(), name, type, upstream, nowMs: env.nowMs() }, fields)
    return promptOf(tenant, await catalogs.create(catalogOf(tenant), record))
  }

  async patch(tenant: string, name: PromptName, fields: PromptFields): Promise<Prompt> {
    this.#requireHandle(tenant, fields)
    const { id } = await this.#own(tenant, name)
    return await this.#change(tenant, id,
      (prompt) => fieldsChange(prompt, fields, this.#parts.env.nowMs()))
  }

  async delete(tenant: string, name: PromptName): Promise<void> {
    const { catalogs, env } = this.#parts
    const prompt = await this.#own(tenant, name)
    await dropComments(catalogs, prompt)
    await catalogs.delete(catalogOf(tenant), prompt.id)
    this.#commits.drop(prompt).catch((error: unknown) =>
      env.log.warn('The commits of a deleted prompt are kept.', { prompt: prompt.id, error })
    )
  }

  async like(tenant: string, name: PromptName, caller: string, like: boolean): Promise<Prompt> {
    const prompt = await this.#shown(tenant, name)
    return await this.#change(prompt.tenant, prompt.id,
      (now) => likeChange(now, likeOf(tenant, caller), like))
  }

  async fork(tenant: string, from: PromptName, name: string, fields: PromptFields) {
    const source = await this.#shown(tenant, from)
    const { readme, description, tags, head } = source
    const manifest = head && await this.#commits.manifest(source, head)
    const copy = head && manifest && (source.tenant === tenant
      ? { ...head, manifest }
      : copyForOthers(source, head, manifest))
    const made = await this.create(tenant, name, { readme, description, tags, ...fields },
      source.type, `${this.handle(source.tenant) ?? '-'}/${source.name}`)
    if (head === null || copy === null) return made
    const { prompt: after } = await this.commit(tenant, { owner: '-', name }, {
      type: source.type === 'prompt' ? 'prompt' : 'directory',
      by: null,
      make: async () => ({ manifest: copy.manifest, digest: copy.digest, prompt: copy.prompt,
        parent: null, description: head.description }),
    })
    return after
  }

  async commit(tenant: string, name: PromptName, request: Parameters<Prompts['commit']>[2]) {
    const { id } = await this.#own(tenant, name)
    return await this.#inTurn(tenant, id,
      () =>
        commitTo({ ...this.#parts, commits: this.#commits, read: () => this.#byId(tenant, id) },
          request))
  }

  async commits(tenant: string, name: PromptName, page: Parameters<Prompts['commits']>[2]) {
    const prompt = await this.#shown(tenant, name)
    return { prompt, commits: await this.#commits.list(prompt, page) }
  }

  async pull(tenant: string, name: PromptName, ref: string): Promise<CommitWithManifest> {
    const prompt = await this.#shown(tenant, name)
    const { commit, manifest } = await this.#pulled(prompt, ref)
    if (prompt.tenant === tenant) return { commit, manifest }
    // Where its owner calls a model is nobody else's to know.
    const own = copyForOthers(prompt, commit, manifest)
    return { commit: { ...commit, prompt: own.prompt }, manifest: own.manifest }
  }

  async manifest(tenant: string, { owner = '-', name, ref = 'latest' }: Partial<PromptName> & {
    readonly name: string
    readonly ref?: string
  }) {
    const prompt = await this.#shown(tenant, { owner, name })
    const { manifest } = await this.#pulled(prompt, ref)
    return { isOwn: prompt.tenant === tenant, manifest }
  }

  async setTag(tenant: string, name: PromptName, tag: string, commit: string): Promise<Prompt> {
    requireTagName(tag)
    const prompt = await this.#own(tenant, name)
    const named = prefixOfId(commit) === undefined
      ? await this.#named(prompt, commit)
      : await this.#commits.byId(prompt, commit)
    if (named === undefined) throw noCommit()
    return await this.#change(tenant, prompt.id,
      (now) => tagChange(now, tag, named.hash, this.#parts.env.nowMs()))
  }

  async deleteTag(tenant: string, name: PromptName, tag: string): Promise<void> {
    const { id } = await this.#own(tenant, name)
    await this.#change(tenant, id, (prompt) => tagDeletion(prompt, tag))
  }

  close(): Promise<void> {
    return this.#counts.flush()
  }

  async #pulled(prompt: Prompt, ref: string): Promise<CommitWithManifest> {
    const commit = await this.#named(prompt, ref)
    const manifest = await this.#commits.manifest(prompt, commit)
    this.#counts.add(prompt, 'downloads')
    return { commit, manifest }
  }

  /** The commit that a hash, the beginning of one, or a tag names, in this order. */
  async #named(prompt: Prompt, ref: string): Promise<Commit> {
    if (ref === 'latest') {
      if (prompt.head !== null) return prompt.head
      throw new HeddleError('not_found', 'This prompt has no commit yet.')
    }
    const hash = ref.toLowerCase()
    const found = !isHashLike(hash)
      ? undefined
      : hash.length === 64
      ? await this.#commits.byHash(prompt, hash)
      : await this.#commits.byPrefix(prompt, hash)
    if (found !== undefined) return found
    const tag = prompt.commitTags.find(({ name }) => name === ref)
    const tagged = tag && await this.#commits.byHash(prompt, tag.hash)
    if (tagged === undefined) throw noCommit()
    return tagged
  }

  /** A prompt that the tenant has, or that its owner shows to everybody. */
  async #shown(tenant: string, { owner, name }: PromptName): Promise<Prompt> {
    const of = owner === '-' ? tenant : this.#parts.handles.get(owner)
    const prompt = of ? await this.#find(of, name) : undefined
    if (prompt === undefined || of !== tenant && !prompt.isPublic) throw noPrompt()
    return prompt
  }

  async #own(tenant: string, name: PromptName): Promise<Prompt> {
    const prompt = await this.#shown(tenant, name)
    if (prompt.tenant === tenant) return prompt
    throw new HeddleError('forbidden', 'Only its owner may change this prompt: make a copy of it.')
  }

  async #find(tenant: string, name: string): Promise<Prompt | undefined> {
    const { records: [record] } = await this.#parts.catalogs.list(catalogOf(tenant), { name,
      sortBy: 'name', descending: false, limit: 1, offset: 0 })
    return record && promptOf(tenant, record)
  }

  async #byId(tenant: string, id: string): Promise<Prompt> {
    const [record] = await this.#parts.catalogs.get(catalogOf(tenant), [id])
    if (record === undefined) throw noPrompt()
    return promptOf(tenant, record)
  }

  /** Makes the change that belongs to the prompt as it is then. */
  #change(tenant: string, id: string,
    change: (prompt: Prompt) => RecordChange | undefined): Promise<Prompt> {
    return this.#inTurn(tenant, id, () =>
      changeFresh(async () => {
        const prompt = await this.#byId(tenant, id)
        const wanted = change(prompt)
        if (wanted === undefined) return prompt
        return promptOf(tenant, await this.#parts.catalogs.change(catalogOf(tenant), id, wanted))
      }))
  }

  #inTurn<Result>(tenant: string, id: string, work: () => Promise<Result>): Promise<Result> {
    return inTurn(this.#turns, `${tenant}/${id}`, work)
  }

  #requireHandle(tenant: string, { isPublic }: PromptFields): void {
    if (!isPublic || this.handle(tenant) !== null) return
    throw new HeddleError('invalid', 'A prompt can be public only if its owner has a handle: the ' +
      'operator of this server gives one with --hub-handle.')
  }
}

/** Without its model: that would be called with secrets of the tenant which has the copy. */
function copyForOthers({ type }: Prompt, { prompt, digest }: Commit,
  manifest: Uint8Array): Pick<CommitBody, 'manifest' | 'digest' | 'prompt'> {
  if (type !== 'prompt') return { manifest, digest, prompt }
  const own = prompt === null ? manifest : manifest.slice(...prompt)
  if (!hasModel(own)) return { manifest: own, digest: digestOf(own), prompt: null }
  throw new HeddleError('invalid', 'This prompt cannot be read without its model, which only ' +
    'its owner may see.')
}

/** Long manifests without a sequence of steps are not parsed. */
function hasModel(manifest: Uint8Array): boolean {
  const bytes = Buffer.from(manifest.buffer, manifest.byteOffset, manifest.byteLength)
  const isSequence = bytes.includes('RunnableSequence') || bytes.includes('\\u')
  return isSequence && modelOf(JSON.parse(bytes.toString())) !== null
}

function catalogOf(tenant: string) {
  return { tenant, collection: 'prompt' } as const
}

function noPrompt(): HeddleError {
  return new HeddleError('not_found', 'There is no such prompt.')
}

function noCommit(): HeddleError {
  return new HeddleError('not_found', 'There is no such commit.')
}

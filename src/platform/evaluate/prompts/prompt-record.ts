/** Prompts as records of their catalog. Pure. */

import { HeddleError } from '../../../errors.ts'
import { withoutUndefined } from '../../../json/index.ts'
import type { CatalogRecord, NewRecord,
  RecordChange } from '../../records/catalog/catalog-record.ts'
import { requirePromptName } from './prompt-names.ts'
import type { Commit, CommitTag, Prompt, PromptFields, PromptType } from './prompt.ts'

/** Bounds on what a record of a prompt has. */
const limits = { readme: 64 * 1024, description: 4_000, tags: 50, tag: 100, commitTags: 300,
  likes: 2_000 } as const

/** The body of the record. */
interface PromptBody {
  readonly readme: string | null
  readonly upstream: string | null
  /** Hash of the newest commit. Only what follows it may replace it. */
  readonly head: string | null
  readonly commit: Commit | null
  readonly commitTags: readonly CommitTag[]
  readonly likes: readonly string[]
  readonly views: number
  readonly downloads: number
  readonly revision: number
}

/** Metadata of the record of a prompt, by which lists find it. */
interface PromptMetadata {
  readonly type: PromptType
  readonly public: boolean
  readonly archived: boolean
  readonly tags: readonly string[]
  readonly description: string | null
}

/** The record of a new prompt. Throws `invalid`. */
export function newPrompt({ id, name, type, nowMs, upstream = null }: {
  readonly id: string
  readonly name: string
  readonly type: PromptType
  readonly nowMs: number
  readonly upstream?: string | null
}, fields: PromptFields): NewRecord {
  requirePromptName(name)
  requireFields(fields)
  const body: PromptBody = { readme: fields.readme ?? null, upstream, head: null, commit: null,
    commitTags: [], likes: [], views: 0, downloads: 0, revision: 0 }
  const metadata: PromptMetadata = { type, public: fields.isPublic ?? false,
    archived: fields.isArchived ?? false, tags: fields.tags ?? [],
    description: fields.description ?? null }
  return { id, name, orderMs: nowMs, parentId: '', metadataJson: JSON.stringify(metadata),
    bodyJson: JSON.stringify(body) }
}

/** The prompt of a record of this tenant. */
export function promptOf(tenant: string,
  { id, name, orderMs, createdAtMs, metadataJson, bodyJson }: CatalogRecord): Prompt {
  const metadata = JSON.parse(metadataJson) as PromptMetadata
  const { head: _, commit, ...body } = JSON.parse(bodyJson) as PromptBody
  return { ...body, id, tenant, name, head: commit, type: metadata.type, isPublic: metadata.public,
    isArchived: metadata.archived, tags: metadata.tags, description: metadata.description,
    createdMs: createdAtMs, updatedMs: orderMs }
}

/** Change of the record by these fields. Null and absent ones stay. Throws `invalid`. */
export function fieldsChange(prompt: Prompt, fields: PromptFields, nowMs: number): RecordChange {
  requireFields(fields)
  const metadata: PromptMetadata = { type: prompt.type, public: fields.isPublic ?? prompt.isPublic,
    archived: fields.isArchived ?? prompt.isArchived, tags: fields.tags ?? prompt.tags,
    description: fields.description ?? prompt.description }
  return { ...revised(prompt, withoutUndefined<Partial<PromptBody>>({
    readme: fields.readme ?? undefined,
  })), metadataJson: JSON.stringify(metadata), orderMs: nowMs }
}

/** Change of the record by a like; undefined if it changes nothing. Throws `full`. */
export function likeChange(prompt: Prompt, caller: string, like: boolean):
  | RecordChange
  | undefined {
  if (prompt.likes.includes(caller) === like) return undefined
  const others = prompt.likes.filter((each) => each !== caller)
  if (like && others.length >= limits.likes) {
    throw new HeddleError('full', `A prompt may be liked by ${limits.likes} callers.`)
  }
  return revised(prompt, { likes: like ? [...others, caller] : others })
}

/** Change of the record by a tag that now names this commit. Throws `full`. */
export function tagChange(prompt: Prompt, name: string, hash: string, nowMs: number): RecordChange {
  const before = prompt.commitTags.find((tag) => tag.name === name)
  const others = prompt.commitTags.filter((tag) => tag.name !== name)
  if (others.length >= limits.commitTags) {
    throw new HeddleError('full', `A prompt may have ${limits.commitTags} tags. Delete some.`)
  }
  const tag = { name, hash, createdMs: before?.createdMs ?? nowMs, updatedMs: nowMs }
  return revised(prompt, { commitTags: [...others, tag] })
}

/** Change of the record by the removal of a tag. Throws `not_found`. */
export function tagDeletion(prompt: Prompt, name: string): RecordChange {
  const commitTags = prompt.commitTags.filter((tag) => tag.name !== name)
  if (commitTags.length < prompt.commitTags.length) return revised(prompt, { commitTags })
  throw new HeddleError('not_found', 'There is no such tag.')
}

/** Change of the record that adds the views and downloads counted since the last one. */
export function countsChange(prompt: Prompt,
  counted: { readonly views: number; readonly downloads: number }): RecordChange {
  return revised(prompt, { views: prompt.views + counted.views,
    downloads: prompt.downloads + counted.downloads })
}

/** Bytes of a commit besides its manifest, about. */
const commitBytes = 1_000

/** Change that makes a commit the newest one, if the head is still the one that was read. */
export function headChange(prompt: Prompt, commit: Commit): RecordChange {
  const body: Partial<PromptBody> = { head: commit.hash, commit }
  return { expected: { head: prompt.head?.hash ?? null }, bodyJson: JSON.stringify(body),
    orderMs: commit.createdMs, heldBytesAdded: commit.bytes + commitBytes }
}

/** A change that is made only if there was none since the prompt was read. */
function revised({ revision }: Prompt, body: Partial<PromptBody>): RecordChange {
  return { expected: { revision }, bodyJson: JSON.stringify({ ...body, revision: revision + 1 }) }
}

function requireFields({ readme, description, tags }: PromptFields): void {
  requireShort('readme', readme, limits.readme)
  requireShort('description', description, limits.description)
  if ((tags?.length ?? 0) > limits.tags) {
    throw new HeddleError('invalid', `tags: there may be ${limits.tags}.`)
  }
  for (const tag of tags ?? []) requireShort('tags', tag, limits.tag)
}

function requireShort(field: string, text: string | null | undefined, max: number): void {
  if ((text?.length ?? 0) <= max) return
  throw new HeddleError('invalid', `${field}: it may have ${max} characters.`)
}

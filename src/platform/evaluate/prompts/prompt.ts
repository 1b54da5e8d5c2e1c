/** A prompt: a name under which manifests are kept, each one after the other, as commits. */

import type { Uuid } from '../../spans/span.ts'

/** Kinds of prompts. An agent and a skill have files instead of a manifest. */
export type PromptType = 'prompt' | 'agent' | 'skill'

/** One commit, without its manifest. */
export interface Commit {
  /** 64 hex digits: of its parent's hash and its manifest. */
  readonly hash: string
  /** Null for the first one. */
  readonly parent: string | null
  /** From 1, one more than its parent. */
  readonly number: number
  /** Id of the document that has its manifest. */
  readonly document: Uuid
  /** The SHA-256 of the manifest. */
  readonly digest: string
  /** Bytes of the manifest. */
  readonly bytes: number
  /** Byte range of the prompt in a manifest with a model behind it; null without a model. */
  readonly prompt: readonly [from: number, to: number] | null
  readonly createdMs: number
  /** Author: a user or a key; null if the caller has no such name. */
  readonly by: string | null
  readonly description: string | null
}

/** A name of a commit, which can be moved. */
export interface CommitTag {
  readonly name: string
  readonly hash: string
  readonly createdMs: number
  readonly updatedMs: number
}

/** A prompt as its catalog keeps it. */
export interface Prompt {
  readonly id: Uuid
  /** The tenant that has it. */
  readonly tenant: string
  readonly name: string
  readonly type: PromptType
  readonly description: string | null
  readonly readme: string | null
  readonly tags: readonly string[]
  readonly isPublic: boolean
  readonly isArchived: boolean
  /** The prompt that it was copied from, as `owner/name`. */
  readonly upstream: string | null
  /** The newest commit. */
  readonly head: Commit | null
  readonly commitTags: readonly CommitTag[]
  /** Callers that like it. */
  readonly likes: readonly string[]
  readonly views: number
  readonly downloads: number
  readonly createdMs: number
  readonly updatedMs: number
  /** Rises with each change of anything but the head. */
  readonly revision: number
}

/** Fields of a prompt that a client may set; null and absent ones stay. */
export interface PromptFields {
  readonly description?: string | null
  readonly readme?: string | null
  readonly tags?: readonly string[] | null
  readonly isPublic?: boolean | null
  readonly isArchived?: boolean | null
}

/** Orders of a list of prompts: by a time, the name or a count. */
export type PromptOrder = 'updated' | 'created' | 'name' | 'likes' | 'downloads' | 'views'

/** Selects the prompts of a list, their order and the page of it. */
export interface PromptQuery {
  /** A part of the name or of the description, in whatever case. */
  readonly text?: string
  readonly type?: PromptType
  readonly isPublic?: boolean
  readonly isArchived?: boolean
  /** All of these. */
  readonly tags?: readonly string[]
  readonly sortBy: PromptOrder
  readonly descending: boolean
  /** At most 100. */
  readonly limit: number
  readonly offset: number
}

/** Owner and name of a prompt; the owner `-` stands for the caller's own prompts. */
export interface PromptName {
  readonly owner: string
  readonly name: string
}

/** A new commit as a request says it. */
export interface CommitBody {
  readonly manifest: Uint8Array
  readonly digest: string
  readonly prompt: Commit['prompt']
  /** 8 to 64 digits of the commit that it follows; null for the newest. */
  readonly parent: string | null
  readonly description: string | null
}

/** A commit with its manifest. */
export interface CommitWithManifest {
  readonly commit: Commit
  /** As it was sent; of one with a model, the whole. */
  readonly manifest: Uint8Array
}

/**
 * The prompts of tenants. All methods throw HeddleError: `not_found` unless the prompt is the
 * tenant's own or shown to it. The tenant of the anonymous caller is the empty text.
 */
export interface Prompts {
  /** The name by which others see the tenant; null if it has none. */
  handle(tenant: string): string | null
  find(tenant: string, query: PromptQuery): Promise<
    { readonly prompts: readonly Prompt[]; readonly total: number }
  >
  /** Also one that its owner shows to everybody. */
  get(tenant: string, name: PromptName): Promise<Prompt>
  /** `exists` if the name is taken. */
  create(tenant: string, name: string, fields: PromptFields, type?: PromptType): Promise<Prompt>
  patch(tenant: string, name: PromptName, fields: PromptFields): Promise<Prompt>
  delete(tenant: string, name: PromptName): Promise<void>
  /** With `like` false, the caller likes it no more. */
  like(tenant: string, name: PromptName, caller: string, like: boolean): Promise<Prompt>
  /** A prompt of the tenant with the newest manifest of another one. */
  fork(tenant: string, from: PromptName, name: string, fields: PromptFields): Promise<Prompt>
  /**
   * Makes a commit, or finds the one with this manifest and this parent. `make` gets the newest
   * manifest if `needsBefore`. `stale` if the parent is not the newest commit.
   */
  commit(tenant: string, name: PromptName, request: CommitRequest): Promise<
    { readonly prompt: Prompt; readonly commit: Commit }
  >
  /** The newest first. */
  commits(tenant: string, name: PromptName,
    page: { readonly limit: number; readonly offset: number }
  ): Promise<
    { readonly prompt: Prompt; readonly commits: readonly Commit[] }
  >
  /** The commit that a tag, a hash or the beginning of one names; `latest` is the newest. */
  pull(tenant: string, name: PromptName, ref: string): Promise<CommitWithManifest>
  /**
   * The same for a server's own use: bytes of a manifest with its model. That of a prompt which is
   * not the tenant's own says where others want its secrets to be sent.
   */
  manifest(tenant: string,
    name: Partial<PromptName> & { readonly name: string; readonly ref?: string }
  ): Promise<{ readonly isOwn: boolean; readonly manifest: Uint8Array }>
  /** Makes the tag or moves it. */
  setTag(tenant: string, name: PromptName, tag: string, commit: string): Promise<Prompt>
  deleteTag(tenant: string, name: PromptName, tag: string): Promise<void>
  /** Writes down what was counted. */
  close(): Promise<void>
}

/** A commit that is asked for. */
export interface CommitRequest {
  readonly type: 'prompt' | 'directory'
  readonly by: string | null
  /** Gets the newest manifest, for a directory. */
  readonly make: (before: Uint8Array | null) => Promise<CommitBody>
}

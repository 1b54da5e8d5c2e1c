/** Calls of the API about prompts. */

import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'

import { ask, post } from '../api/client.ts'

/** A prompt. */
export interface Prompt {
  readonly id: string
  readonly repo_handle: string
  /** With the handle of its owner, if they have one. */
  readonly full_name: string
  readonly description: string | null
  readonly tags: readonly string[]
  readonly updated_at: string
  readonly num_commits: number
  readonly num_likes: number
  readonly liked_by_auth_user: boolean
  readonly is_public: boolean
}

/** A version of a prompt. */
export interface Commit {
  readonly id: string
  readonly commit_hash: string
  readonly parent_commit_hash: string | null
  readonly created_at: string
  readonly full_name: string | null
  readonly description: string | null
  /** Names that stand for it. */
  readonly tags: readonly string[]
}

const encoded = encodeURIComponent

/** A name without an owner is of the own prompts; `owner/name` is a public one of others. */
const placeOf = (name: string) =>
  name.includes('/') ? name.split('/', 2).map(encoded).join('/') : `-/${encoded(name)}`

/** Prompts, and versions of one, that are asked for at once. */
const atOnce = 100

/** Pages of what the API lists by numbers: how many there are comes with each. */
const paged = { initialPageParam: 0,
  getNextPageParam: ({ total }: { readonly total: number }, all: readonly unknown[]) =>
    all.length * atOnce < total ? all.length * atOnce : undefined }

/** The prompts whose names or descriptions have a text, those that changed last first. */
export const promptList = (q: string, tag: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ['prompts', 'list', q, tag],
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams({ limit: String(atOnce), offset: String(pageParam),
        is_archived: 'false', query: q, ...tag !== undefined && { tags: tag } })
      return ask<{ repos: readonly Prompt[]; total: number }>(`/api/v1/repos?${query}`, { signal })
    },
    ...paged,
  })

/** A prompt by its name. */
export const promptQuery = (name: string) =>
  queryOptions({
    queryKey: ['prompts', 'one', name],
    queryFn: async ({ signal }) =>
      (await ask<{ repo: Prompt }>(`/api/v1/repos/${placeOf(name)}`, { signal })).repo,
  })

/** Its versions, the newest first. */
export const commitList = (name: string) =>
  infiniteQueryOptions({
    queryKey: ['prompts', 'commits', name],
    queryFn: ({ pageParam, signal }) =>
      ask<{ commits: readonly Commit[]; total: number }>(
        `/api/v1/commits/${placeOf(name)}?limit=${atOnce}&offset=${pageParam}`,
        { signal },
      ),
    ...paged,
  })

/** What a version says, with its model. */
export interface PulledCommit {
  readonly commit_hash: string
  readonly manifest: unknown
}

/** A version, by its hash or a tag, or the newest one as `latest`. */
export const manifestQuery = (name: string, ref: string) =>
  queryOptions({
    queryKey: ['prompts', 'manifest', name, ref],
    queryFn: ({ signal }) =>
      ask<PulledCommit>(
        `/api/v1/commits/${placeOf(name)}/${encoded(ref)}?include_model=true`,
        { signal },
      ),
    staleTime: Infinity,
  })

/** A version to make. */
export interface NewCommit {
  readonly manifest: unknown
  /** The newest version that its maker knew; without it the new one follows any. */
  readonly parent: string | undefined
  /** What it changes, in words. */
  readonly description?: string
}

/** Makes a version. Throws an error of status 409 if there is a newer one than the parent. */
export const makeCommit = (name: string, { manifest, parent, description = '' }: NewCommit) =>
  post<{ commit: Commit }>(`/api/v1/commits/${placeOf(name)}`, { manifest,
    ...parent !== undefined && { parent_commit: parent },
    ...description !== '' && { description } })

/** Makes a prompt. */
export const makePrompt = (name: string, description: string) =>
  post<{ repo: Prompt }>('/api/v1/repos', { repo_handle: name, description, is_public: false })

/** Makes a tag, or moves it. */
export const moveTag = (name: string, tag: string, commitId: string) =>
  post(`/api/v1/repos/${placeOf(name)}/tags`, { tag_name: tag, commit_id: commitId })

/** Shows a prompt to everybody, or to its workspace only. */
export const showPrompt = (name: string, isPublic: boolean) =>
  ask(`/api/v1/repos/${placeOf(name)}`, { method: 'PATCH', body: { is_public: isPublic } })

/** Likes a prompt, or does so no more. */
export const likePrompt = (name: string, like: boolean) =>
  post(`/api/v1/likes/${placeOf(name)}`, { like })

/** Calls of the API about prompts. */

import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'

import { ask } from '../api/ask.ts'

/** A name without an owner is of the own prompts; `owner/name` is a public one of others. */
function placeOf(full: string): { readonly owner: string; readonly name: string } {
  const [owner = '-', name = ''] = full.includes('/') ? full.split('/', 2) : ['-', full]
  return { owner, name }
}

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
    queryFn: ({ pageParam, signal }) =>
      ask('GET /api/v1/repos', { signal,
        query: { limit: atOnce, offset: pageParam, is_archived: false, query: q,
          ...tag !== undefined && { tags: [tag] } } }),
    ...paged,
  })

/** A prompt by its name. */
export const promptQuery = (name: string) =>
  queryOptions({
    queryKey: ['prompts', 'one', name],
    queryFn: async ({ signal }) =>
      (await ask('GET /api/v1/repos/:owner/:name', { params: placeOf(name), signal })).repo,
  })

/** Its versions, the newest first. */
export const commitList = (name: string) =>
  infiniteQueryOptions({
    queryKey: ['prompts', 'commits', name],
    queryFn: ({ pageParam, signal }) =>
      ask('GET /api/v1/commits/:owner/:name', { params: placeOf(name), signal,
        query: { limit: atOnce, offset: pageParam } }),
    ...paged,
  })

/** A version, by its hash or a tag, or the newest one as `latest`. */
export const manifestQuery = (name: string, ref: string) =>
  queryOptions({
    queryKey: ['prompts', 'manifest', name, ref],
    queryFn: ({ signal }) =>
      ask('GET /api/v1/commits/:owner/:name/:ref', { params: { ...placeOf(name), ref }, signal,
        query: { include_model: true } }),
    staleTime: Infinity,
  })

/** A version of a prompt that is to be made. */
export interface NewCommit {
  readonly manifest: unknown
  /** The newest version that its maker knew; without it the new one follows any. */
  readonly parent: string | undefined
  /** Description of the change, in words. */
  readonly description?: string
}

/** Makes a version. Throws an error of status 409 if there is a newer one than the parent. */
export const makeCommit = (name: string, { manifest, parent, description = '' }: NewCommit) =>
  ask('POST /api/v1/commits/:owner/:name', { params: placeOf(name),
    body: { manifest, ...parent !== undefined && { parent_commit: parent },
      ...description !== '' && { description } } })

/** Makes a private prompt without a version. */
export const makePrompt = (name: string, description: string) =>
  ask('POST /api/v1/repos', { body: { repo_handle: name, description, is_public: false } })

/** Makes a tag, or moves it. */
export const moveTag = (name: string, tag: string, commitId: string) =>
  ask('POST /api/v1/repos/:owner/:name/tags', { params: placeOf(name),
    body: { tag_name: tag, commit_id: commitId } })

/** Shows a prompt to everybody, or to its workspace only. */
export const showPrompt = (name: string, isPublic: boolean) =>
  ask('PATCH /api/v1/repos/:owner/:name', { params: placeOf(name), body: { is_public: isPublic } })

/** Likes a prompt, or does so no more. */
export const likePrompt = (name: string, like: boolean) =>
  ask('POST /api/v1/likes/:owner/:name', { params: placeOf(name), body: { like } })

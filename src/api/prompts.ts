/** Prompts, which are repositories of commits, and directories of agents and skills. */

import { Type } from 'typebox'

import { Json, JsonObject, Maybe, Nullable, Offset, OneOf, Text, Time, Uuid } from './json.ts'
import { operation } from './operation.ts'
import type { Value } from './operation.ts'

const kinds = ['prompt', 'agent', 'skill'] as const

const Fields = Type.Object({
  description: Maybe(Text()),
  readme: Maybe(Text()),
  tags: Maybe(Type.Array(Text(), { maxItems: 100 })),
  is_public: Maybe(Type.Boolean()),
  is_archived: Maybe(Type.Boolean()),
})

const Prompt = Type.Object({
  id: Uuid(),
  repo_handle: Text(),
  // With the handle of its owner, if there is one.
  full_name: Text(),
  owner: Nullable(Text()),
  tenant_id: Uuid(),
  repo_type: OneOf([...kinds]),
  description: Nullable(Text()),
  readme: Nullable(Text()),
  tags: Type.Array(Text()),
  is_public: Type.Boolean(),
  is_archived: Type.Boolean(),
  created_at: Time(),
  updated_at: Time(),
  num_likes: Type.Integer(),
  num_downloads: Type.Integer(),
  num_views: Type.Integer(),
  num_commits: Type.Integer(),
  liked_by_auth_user: Type.Boolean(),
  last_commit_hash: Nullable(Text()),
  commit_tags: Type.Array(Text()),
  original_repo_id: Type.Null(),
  original_repo_full_name: Nullable(Text()),
  upstream_repo_id: Type.Null(),
  upstream_repo_full_name: Nullable(Text()),
}, { $id: 'Prompt', description: 'A prompt, an agent or a skill, without its commits.' })

const Commit = Type.Object({
  id: Text(),
  manifest_id: Text(),
  manifest_sha: Text(),
  commit_hash: Text(),
  parent_id: Nullable(Text()),
  parent_commit_hash: Nullable(Text()),
  repo_id: Uuid(),
  repo: Text(),
  owner: Text(),
  created_at: Time(),
  updated_at: Time(),
  description: Nullable(Text()),
  // Its author, for callers of the same tenant.
  full_name: Nullable(Text()),
  example_run_ids: Type.Array(Json()),
  num_downloads: Type.Integer(),
  num_views: Type.Integer(),
  tags: Type.Array(Text(), { description: 'Names that stand for it.' }),
}, { $id: 'Commit', description: 'A version of a prompt.' })

const CommitTag = Type.Object({
  id: Text(),
  repo_id: Uuid(),
  repo_handle: Text(),
  tag_name: Text(),
  commit_id: Text(),
  commit_hash: Text(),
  created_at: Time(),
  updated_at: Time(),
}, { $id: 'CommitTag', description: 'A name of a commit, which can be moved.' })

const Comment = Type.Object({
  id: Uuid(),
  comment_by: Nullable(Uuid()),
  comment_by_name: Nullable(Text()),
  comment_on: Uuid(),
  parent_id: Nullable(Uuid()),
  content: Text(),
  created_at: Time(),
  updated_at: Time(),
  num_sub_comments: Type.Integer(),
  num_likes: Type.Integer(),
  liked_by_auth_user: Type.Boolean(),
}, { $id: 'Comment', description: 'A comment on a prompt, or a reply to one.' })

const page = (most: number, usual: number) => ({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: most, default: usual })),
  offset: Type.Optional(Offset()),
})
const OnePrompt = Type.Object({ repo: Prompt })
const Message = Type.Object({ message: Text() })
const Likes = Type.Object({ likes: Type.Integer() })
const Made = Type.Object({ commit: Commit, commit_hash: Text() })
const NewCommit = {
  parent_commit: Maybe(Text()),
  description: Maybe(Text()),
}

export const readWorkspace = operation('GET', '/api/v1/settings', {
  access: 'read',
  summary: 'Read the name of the workspace, and its handle as an owner of prompts',
  answer: Type.Object({ id: Uuid(), display_name: Text(), created_at: Time(),
    tenant_handle: Nullable(Text()) }),
})

export const listPrompts = operation('GET', '/api/v1/repos', {
  access: 'read',
  summary: 'List prompts, or agents or skills',
  query: Type.Object({
    query: Type.Optional(Text(1_000)),
    is_public: Type.Optional(Type.Boolean()),
    is_archived: Type.Optional(Type.Boolean()),
    repo_type: Type.Optional(Type.Union(kinds.map((kind) => Type.Literal(kind)))),
    tags: Type.Optional(Type.Array(Text(), { maxItems: 50 })),
    sort_field: Type.Optional(Text(100)),
    sort_direction: Type.Optional(Text(10)),
    ...page(100, 20),
  }),
  answer: Type.Object({ repos: Type.Array(Prompt), total: Type.Integer() }),
})

export const createPrompt = operation('POST', '/api/v1/repos', {
  access: 'change',
  summary: 'Create a prompt without commits',
  body: Type.Object({ ...Fields.properties, repo_handle: Text(),
    repo_type: Maybe(Type.Union(kinds.map((kind) => Type.Literal(kind)))) }),
  answer: OnePrompt,
})

export const getPrompt = operation('GET', '/api/v1/repos/:owner/:name', {
  access: 'shown',
  summary: 'Get a prompt; the owner `-` is the caller',
  answer: OnePrompt,
})

export const patchPrompt = operation('PATCH', '/api/v1/repos/:owner/:name', {
  access: 'change',
  summary: 'Change a prompt: null and what is missing stay',
  body: Fields,
  answer: OnePrompt,
})

export const deletePrompt = operation('DELETE', '/api/v1/repos/:owner/:name', {
  access: 'change',
  summary: 'Delete a prompt with its commits',
  answer: Message,
})

export const forkPrompt = operation('POST', '/api/v1/repos/:owner/:name/fork', {
  access: 'change',
  summary: 'Copy a prompt into the workspace of the caller',
  body: Type.Object({ ...Fields.properties, repo_handle: Text() }),
  answer: OnePrompt,
})

export const listPromptOwners = operation('GET', '/api/v1/repos/:owner/:name/owners', {
  access: 'shown',
  summary: 'List the owners of a prompt',
  answer: Type.Object({
    owners: Type.Array(Type.Object({ tenant_id: Uuid(), tenant_handle: Nullable(Text()) })),
  }),
})

export const likePrompt = operation('POST', '/api/v1/likes/:owner/:name', {
  access: 'change',
  summary: 'Like a prompt, or do so no more',
  body: Type.Object({ like: Type.Boolean() }),
  answer: Likes,
})

export const listPromptTags = operation('GET', '/api/v1/repos/:owner/:name/tags', {
  access: 'shown',
  summary: 'List the tags of a prompt',
  answer: Type.Array(CommitTag),
})

export const createPromptTag = operation('POST', '/api/v1/repos/:owner/:name/tags', {
  access: 'change',
  summary: 'Name a commit; a tag that names another one moves',
  body: Type.Object({ tag_name: Text(), commit_id: Text(100) }),
  answer: CommitTag,
})

export const getPromptTag = operation('GET', '/api/v1/repos/:owner/:name/tags/:tag', {
  access: 'shown',
  summary: 'Get a tag',
  answer: CommitTag,
})

export const movePromptTag = operation('PATCH', '/api/v1/repos/:owner/:name/tags/:tag', {
  access: 'change',
  summary: 'Move a tag to another commit',
  body: Type.Object({ commit_id: Text(100) }),
  answer: CommitTag,
})

export const deletePromptTag = operation('DELETE', '/api/v1/repos/:owner/:name/tags/:tag', {
  access: 'change',
  summary: 'Delete a tag',
  answer: Message,
})

const commitsTerms = {
  access: 'shown',
  query: Type.Object(page(100, 20)),
  answer: Type.Object({ commits: Type.Array(Commit), total: Type.Integer() }),
} as const

export const listCommits = operation('GET', '/api/v1/commits/:owner/:name', {
  ...commitsTerms,
  summary: 'List the commits of a prompt, the newest first',
})

export const listOwnCommits = operation('GET', '/api/v1/commits/:name', {
  ...commitsTerms,
  summary: 'List the commits of a prompt of the caller, as earlier clients ask',
})

export const createCommit = operation('POST', '/api/v1/commits/:owner/:name', {
  access: 'change',
  summary: 'Make a commit of a manifest',
  body: Type.Object({ manifest: Json(), ...NewCommit }),
  raw: true,
  answer: Made,
})

export const pullCommit = operation('GET', '/api/v1/commits/:owner/:name/:ref', {
  access: 'shown',
  summary: 'Read the manifest of a commit by its hash or a tag, or of the `latest`',
  query: Type.Object({ include_model: Type.Optional(Type.Boolean()) }),
  answer: Type.Object({ commit_hash: Text(), manifest: Json(), description: Nullable(Text()),
    examples: Type.Array(Json()) }),
})

export const commitDirectory = operation('POST',
  '/api/v1/platform/hub/repos/:owner/:name/directories/commits', {
  access: 'change',
  summary: 'Make a commit of the files of an agent or a skill',
  body: Type.Object({ files: Maybe(JsonObject()), ...NewCommit }),
  raw: true,
  answer: Made,
})

export const readDirectory = operation('GET', '/api/v1/platform/hub/repos/:owner/:name/directories',
  {
    access: 'shown',
    summary: 'Read the files of an agent or a skill',
    query: Type.Object({ repo_type: Type.Optional(Text(20)), commit: Type.Optional(Text(100)) }),
    answer: Type.Object({ commit_id: Text(), commit_hash: Text(), files: JsonObject() }),
  })

export const deleteDirectory = operation('DELETE',
  '/api/v1/platform/hub/repos/:owner/:name/directories', {
  access: 'change',
  summary: 'Delete an agent or a skill',
  answer: Message,
})

const listTerms = {
  access: 'shown',
  query: Type.Object(page(100, 20)),
  answer: Type.Object({ comments: Type.Array(Comment), total: Type.Integer() }),
} as const
const sayTerms = {
  access: 'change',
  body: Type.Object({ content: Type.String({ minLength: 1, maxLength: 8_000 }) }),
  answer: Comment,
} as const

export const listComments = operation('GET', '/api/v1/comments/:owner/:name', {
  ...listTerms,
  summary: 'List the comments on a prompt, the newest first',
})

export const createComment = operation('POST', '/api/v1/comments/:owner/:name', {
  ...sayTerms,
  summary: 'Comment on a prompt',
})

export const listReplies = operation('GET', '/api/v1/comments/:owner/:name/:comment', {
  ...listTerms,
  summary: 'List the replies to a comment, the newest first',
})

export const createReply = operation('POST', '/api/v1/comments/:owner/:name/:comment', {
  ...sayTerms,
  summary: 'Reply to a comment',
})

export const likeComment = operation('POST', '/api/v1/comments/:owner/:name/:comment/like', {
  access: 'change',
  summary: 'Like a comment',
  answer: Likes,
})

export const unlikeComment = operation('DELETE', '/api/v1/comments/:owner/:name/:comment/like', {
  access: 'change',
  summary: 'Like a comment no more',
  answer: Likes,
})

/** The members of a prompt that its owner writes. */
export type PromptFields = Value<typeof Fields>
/** A prompt, an agent or a skill, without its commits. */
export type Prompt = Value<typeof Prompt>
/** A version of a prompt. */
export type Commit = Value<typeof Commit>
/** A name of a commit, which can be moved. */
export type CommitTag = Value<typeof CommitTag>
/** A comment on a prompt, or a reply to one. */
export type Comment = Value<typeof Comment>

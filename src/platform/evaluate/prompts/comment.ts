/** Comments on prompts and the replies to them, kept in a catalog of the prompt's owner. */

import { FairSemaphore } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import type { Comment as CommentJson } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { inTurn } from '../../calls/in-turn.ts'
import { deleteChildren } from '../../records/catalog/delete-children.ts'
import { changeFresh } from '../../records/catalog/fresh-change.ts'
import type { CatalogClient } from '../../records/catalog/catalog-client.ts'
import type { CatalogRecord } from '../../records/catalog/catalog-record.ts'
import { collection } from '../../records/catalog/collection.ts'
import type { Uuid } from '../../spans/span.ts'
import { tenantId } from '../../spans/tenant-id.ts'
import { zonedTextUs } from '../../spans/time.ts'
import { likeOf } from './prompt-names.ts'
import type { PromptReader } from './prompt-shape.ts'
import type { Prompt } from './prompt.ts'

/** The prompt that comments are on. */
export type CommentedPrompt = Pick<Prompt, 'id' | 'tenant'>

/** A comment, or a reply to one. */
export interface Comment {
  readonly id: Uuid
  /** The comment that it replies to; null if it is none. */
  readonly parent: Uuid | null
  readonly content: string
  /** The tenant that said it. */
  readonly tenant: string
  /** Author, whom only callers of the same tenant see; null if the author has no name. */
  readonly by: string | null
  /** Callers that like it. */
  readonly likes: readonly string[]
  readonly replies: number
  readonly createdMs: number
  readonly updatedMs: number
}

/** A new comment or reply, with its tenant and its author. */
export type NewComment = Pick<Comment, 'parent' | 'content' | 'tenant' | 'by'>

/** Comments of prompts that the caller may read. All methods throw HeddleError. */
export interface Comments {
  /** Those on the prompt, or the replies to one, the newest first. `not_found`. */
  list(prompt: CommentedPrompt, parent: Uuid | null,
    page: { readonly limit: number; readonly offset: number }
  ): Promise<{ readonly comments: readonly Comment[]; readonly total: number }>
  /** `full` if there are too many; `not_found` if there is nothing to reply to. */
  create(prompt: CommentedPrompt, comment: NewComment): Promise<Comment>
  /** With `like` false, the caller likes it no more. `not_found`. */
  like(prompt: CommentedPrompt, id: Uuid, by: Pick<PromptReader, 'tenant' | 'caller'>,
    like: boolean): Promise<Comment>
}

const limits = { comments: 1_000, likes: 1_000 } as const
/** Changes of one comment are made one after the other. */
const turnLimits = { inAll: 256, each: 1, waiting: 4_096, waitingEach: 256,
  full: 'Too many changes of this comment are waiting: ask again in a moment.' }

/** Members of a comment that are the body of its record. */
interface CommentBody extends Pick<Comment, 'content' | 'tenant' | 'by' | 'likes' | 'replies'> {
  /** Rises with each change. */
  readonly revision: number
}

/** A comment, with what only its changes need. */
interface KeptComment extends Comment, CommentBody {
  readonly prompt: Uuid
}

/** Undefined if nothing changes. */
type Changed = (body: CommentBody) => Partial<CommentBody> | undefined

/** Comments over the catalogs of all tenants; changes of one comment take turns. */
export function commentsOver(catalogs: CatalogClient, env: Pick<Env, 'nowMs' | 'uuid'>): Comments {
  const comments = collection(catalogs, env, { name: 'comment', parse: commentOf, missing,
    sort: { sortBy: 'created', descending: true } })
  const requireRoom = async ({ tenant, id }: CommentedPrompt) => {
    const { total } = await comments.list(tenant, { limit: 1, parentIds: [id] })
    if (total < limits.comments) return
    throw new HeddleError('full', `A prompt may have ${limits.comments} comments and replies.`)
  }
  const one = async (prompt: CommentedPrompt, id: Uuid) => {
    const comment = await comments.get(prompt.tenant, id)
    if (comment.prompt === prompt.id) return comment
    throw new HeddleError('not_found', missing())
  }
  const turns = new FairSemaphore(turnLimits)
  /** Makes the change that belongs to the comment as it is then. */
  const change = (prompt: CommentedPrompt, id: Uuid, changed: Changed): Promise<Comment> =>
    inTurn(turns, `${prompt.tenant}/${id}`, () =>
      changeFresh(async () => {
        const comment = await one(prompt, id)
        const wanted = changed(comment)
        if (wanted === undefined) return comment
        const { revision } = comment
        return comments.change(prompt.tenant, id, { expected: { revision },
          body: { ...wanted, revision: revision + 1 } })
      }))
  return {
    list: async (prompt, parent, page) => {
      if (parent !== null) await one(prompt, parent)
      const { values, total } = await comments.list(prompt.tenant, { ...page,
        parentIds: [prompt.id], metadata: { parent: parent ?? '' } })
      return { comments: values, total }
    },
    create: async (prompt, { parent, ...said }) => {
      await requireRoom(prompt)
      // Before it is made: an error then means that there is no reply.
      if (parent !== null) {
        await change(prompt, parent, ({ replies }) => ({ replies: replies + 1 }))
      }
      return comments.create(prompt.tenant, { parentId: prompt.id,
        metadata: { parent: parent ?? '' },
        body: { ...said, likes: [], replies: 0, revision: 0 } satisfies CommentBody })
    },
    like: (prompt, id, { tenant, caller }, like) =>
      change(prompt, id, ({ likes }) => likesAfter(likes, likeOf(tenant, caller), like)),
  }
}

const missing = () => 'There is no such comment.'

/** A comment in an answer. Only callers of the same tenant see who said it. */
export function commentJson(prompt: CommentedPrompt, comment: Comment,
  { tenant, caller }: Pick<PromptReader, 'tenant' | 'caller'>): CommentJson {
  const isOwn = comment.tenant === tenant
  return {
    id: comment.id,
    comment_by: isOwn ? tenantId(tenant) : null,
    comment_by_name: isOwn ? comment.by : null,
    comment_on: prompt.id,
    parent_id: comment.parent,
    content: comment.content,
    created_at: zonedTextUs(comment.createdMs * 1_000),
    updated_at: zonedTextUs(comment.updatedMs * 1_000),
    num_sub_comments: comment.replies,
    num_likes: comment.likes.length,
    liked_by_auth_user: comment.likes.includes(likeOf(tenant, caller)),
  }
}

/** Deletes all comments of a prompt. */
export function dropComments(catalogs: CatalogClient,
  { tenant, id }: CommentedPrompt): Promise<void> {
  return deleteChildren(catalogs, { tenant, collection: 'comment' }, id)
}

/** Undefined if it changes nothing. Throws `full`. */
function likesAfter(likes: readonly string[], caller: string, like: boolean): Pick<CommentBody,
  'likes'> | undefined {
  if (likes.includes(caller) === like) return undefined
  if (!like) return { likes: likes.filter((each) => each !== caller) }
  if (likes.length < limits.likes) return { likes: [...likes, caller] }
  throw new HeddleError('full', `A comment may be liked by ${limits.likes} callers.`)
}

function commentOf(
  { id, parentId, metadataJson, bodyJson, createdAtMs, modifiedAtMs }: CatalogRecord,
): KeptComment {
  const { parent } = JSON.parse(metadataJson) as { readonly parent: string }
  return { ...JSON.parse(bodyJson) as CommentBody, id, prompt: parentId,
    parent: parent === '' ? null : parent, createdMs: createdAtMs, updatedMs: modifiedAtMs }
}

/** Routes of comments on prompts, of the replies to them, and of who likes them. */

import { createComment, createReply, likeComment, listComments, listReplies,
  unlikeComment } from '../../../api/index.ts'
import { commentJson } from '../../../platform/index.ts'
import type { Uuid } from '../../../platform/index.ts'
import type { Caller } from '../../http/caller.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { requireId } from '../path-id.ts'
import type { PlatformParts } from '../platform-route.ts'
import { authorOf, callerName } from './prompt-path.ts'

interface Named {
  readonly owner: string
  readonly name: string
  readonly comment?: string
}

/** Adds the routes of comments, of replies, and of likes. */
export function commentRoutes(app: App, { platform }: PlatformParts): void {
  const { comments, prompts } = platform

  serve(app, listComments, ({ params, query, caller }) => list(caller, params, query))
  serve(app, createComment, ({ params, body, caller }) => say(caller, params, body.content))
  serve(app, listReplies, ({ params, query, caller }) => list(caller, params, query))
  serve(app, createReply, ({ params, body, caller }) => say(caller, params, body.content))
  serve(app, likeComment, ({ params, caller }) => like(caller, params, true))
  serve(app, unlikeComment, ({ params, caller }) => like(caller, params, false))

  const readerOf = (caller: Caller) => ({ tenant: caller.tenant, caller: callerName(caller) })

  async function list(caller: Caller, path: Named,
    { limit = 20, offset = 0 }: { readonly limit?: number; readonly offset?: number }) {
    const prompt = await prompts.get(caller.tenant, path)
    const found = await comments.list(prompt, parentIn(path), { limit, offset })
    const reader = readerOf(caller)
    return { comments: found.comments.map((each) => commentJson(prompt, each, reader)),
      total: found.total }
  }

  async function say(caller: Caller, path: Named, content: string) {
    const prompt = await prompts.get(caller.tenant, path)
    const made = await comments.create(prompt, { parent: parentIn(path), content,
      tenant: caller.tenant, by: authorOf(caller) })
    return commentJson(prompt, made, readerOf(caller))
  }

  async function like(caller: Caller, path: Required<Named>, isLiked: boolean) {
    const prompt = await prompts.get(caller.tenant, path)
    const id = requireId(path.comment, 'comment')
    const { likes } = await comments.like(prompt, id, readerOf(caller), isLiked)
    return { likes: likes.length }
  }
}

function parentIn({ comment }: Named): Uuid | null {
  return comment === undefined ? null : requireId(comment, 'comment')
}

/** Routes of comments on prompts, of the replies to them, and of who likes them. */

import { Type } from 'typebox'

import { commentJson } from '../../../platform/index.ts'
import type { Uuid } from '../../../platform/index.ts'
import type { Caller } from '../../http/caller.ts'
import type { App } from '../../http/route.ts'
import { Offset } from '../../schema/json.ts'
import { requireId } from '../path-id.ts'
import { platformRoute } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'
import { authorOf, callerName, PromptPath } from './prompt-path.ts'

const Said = Type.Object({ content: Type.String({ minLength: 1, maxLength: 8_000 }) })
const Page = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
  offset: Type.Optional(Offset()),
})
const CommentPath = Type.Object({ ...PromptPath.properties, comment: Type.String() })

interface Named {
  readonly owner: string
  readonly name: string
  readonly comment?: string
}

/** Adds the routes below `/api/v1`. */
export function commentRoutes(app: App, { platform }: PlatformParts): void {
  const { comments, prompts } = platform

  app.get('/comments/:owner/:name',
    platformRoute('shown', { params: PromptPath, querystring: Page }),
    ({ params, query, caller }) => list(caller, params, query))
  app.post('/comments/:owner/:name', platformRoute('change', { params: PromptPath, body: Said }),
    ({ params, body, caller }) => say(caller, params, body.content))
  app.get('/comments/:owner/:name/:comment',
    platformRoute('shown', { params: CommentPath, querystring: Page }),
    ({ params, query, caller }) => list(caller, params, query))
  app.post('/comments/:owner/:name/:comment',
    platformRoute('change', { params: CommentPath, body: Said }),
    ({ params, body, caller }) => say(caller, params, body.content))
  app.post('/comments/:owner/:name/:comment/like', platformRoute('change', { params: CommentPath }),
    ({ params, caller }) => like(caller, params, true))
  app.delete('/comments/:owner/:name/:comment/like',
    platformRoute('change', { params: CommentPath }),
    ({ params, caller }) => like(caller, params, false))

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

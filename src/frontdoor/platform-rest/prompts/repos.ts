/** Routes of prompts themselves, which are repositories on this wire, and of the workspace. */

import { Type } from 'typebox'
import type { Static } from 'typebox'

import { repoJson, tenantId, zonedTextUs } from '../../../platform/index.ts'
import type { Projects, Prompt, PromptFields, PromptOrder,
  PromptQuery } from '../../../platform/index.ts'
import type { Caller } from '../../http/caller.ts'
import type { App } from '../../http/route.ts'
import { Nullable, Offset } from '../../schema/json.ts'
import { platformRoute } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'
import { callerName, PromptPath, readerOf } from './prompt-path.ts'

const optional = <Schema extends Parameters<typeof Nullable>[0]>(schema: Schema) =>
  Type.Optional(Nullable(schema))

const Fields = {
  description: optional(Type.String()),
  readme: optional(Type.String()),
  tags: optional(Type.Array(Type.String(), { maxItems: 100 })),
  is_public: optional(Type.Boolean()),
  is_archived: optional(Type.Boolean()),
}
const PatchRepo = Type.Object(Fields)
const types = ['prompt', 'agent', 'skill'] as const
const Kind = () => Type.Union(types.map((type) => Type.Literal(type)))
const MakeRepo = Type.Object({ ...Fields, repo_handle: Type.String(), repo_type: optional(Kind()) })
const ForkRepo = Type.Object({ ...Fields, repo_handle: Type.String() })
const flag = () => Type.Optional(Type.Boolean())
const ListRepos = Type.Object({
  query: Type.Optional(Type.String({ maxLength: 1_000 })),
  is_public: flag(),
  is_archived: flag(),
  repo_type: Type.Optional(Kind()),
  tags: Type.Optional(Type.Array(Type.String(), { maxItems: 50 })),
  sort_field: Type.Optional(Type.String({ maxLength: 100 })),
  sort_direction: Type.Optional(Type.String({ maxLength: 10 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
  offset: Type.Optional(Offset()),
})
const Like = Type.Object({ like: Type.Boolean() })

const orders: Readonly<Record<string, PromptOrder>> = { updated_at: 'updated',
  created_at: 'created', repo_handle: 'name', name: 'name', num_likes: 'likes',
  num_downloads: 'downloads', num_views: 'views' }

/** Adds the routes below `/api/v1`. */
export function repoRoutes(app: App, { platform: { prompts, projects } }: PlatformParts): void {
  const json = (caller: Caller, prompt: Prompt) =>
    repoJson(prompt, readerOf(caller, prompts, prompt))

  app.get('/settings', platformRoute('read'), async ({ caller: { tenant } }) => ({
    id: tenantId(tenant),
    display_name: tenant,
    created_at: await beginOf(projects, tenant),
    tenant_handle: prompts.handle(tenant),
  }))

  app.get('/repos', platformRoute('read', { querystring: ListRepos }),
    async ({ query, caller }) => {
      const { prompts: found, total } = await prompts.find(caller.tenant, questionOf(query))
      return { repos: found.map((prompt) => json(caller, prompt)), total }
    })
  app.post('/repos', platformRoute('change', { body: MakeRepo }), async ({ body, caller }) => {
    const { repo_handle: name, repo_type: type } = body
    const made = await prompts.create(caller.tenant, name, fieldsOf(body), type ?? 'prompt')
    return { repo: json(caller, made) }
  })
  app.get('/repos/:owner/:name', platformRoute('shown', { params: PromptPath }),
    async ({ params, caller }) => ({
      repo: json(caller, await prompts.get(caller.tenant, params)),
    }))
  app.patch('/repos/:owner/:name', platformRoute('change', { params: PromptPath, body: PatchRepo }),
    async ({ params, body, caller }) => ({
      repo: json(caller, await prompts.patch(caller.tenant, params, fieldsOf(body))),
    }))
  app.delete('/repos/:owner/:name', platformRoute('change', { params: PromptPath }),
    async ({ params, caller: { tenant } }) => {
      await prompts.delete(tenant, params)
      return { message: 'The prompt is deleted.' }
    })
  app.post('/repos/:owner/:name/fork',
    platformRoute('change', { params: PromptPath, body: ForkRepo }),
    async ({ params, body, caller }) => {
      const made = await prompts.fork(caller.tenant, params, body.repo_handle, fieldsOf(body))
      return { repo: json(caller, made) }
    })
  app.get('/repos/:owner/:name/owners', platformRoute('shown', { params: PromptPath }),
    async ({ params, caller }) => {
      const { tenant } = await prompts.get(caller.tenant, params)
      return { owners: [{ tenant_id: tenantId(tenant), tenant_handle: prompts.handle(tenant) }] }
    })
  app.post('/likes/:owner/:name', platformRoute('change', { params: PromptPath, body: Like }),
    async ({ params, body, caller }) => {
      const { likes } = await prompts.like(caller.tenant, params, callerName(caller), body.like)
      return { likes: likes.length }
    })
}

function fieldsOf(body: Static<typeof PatchRepo>): PromptFields {
  const { description, readme, tags, is_public: isPublic, is_archived: isArchived } = body
  return { ...description != null && { description }, ...readme != null && { readme },
    ...tags != null && { tags }, ...isPublic != null && { isPublic },
    ...isArchived != null && { isArchived } }
}

/** Without a type, lists have prompts only, as clients expect. */
function questionOf(query: Static<typeof ListRepos>): PromptQuery {
  const { query: text, is_public: isPublic, is_archived: isArchived, tags } = query
  return {
    sortBy: orders[query.sort_field ?? ''] ?? 'updated',
    descending: query.sort_direction !== 'asc',
    limit: query.limit ?? 20,
    offset: query.offset ?? 0,
    type: query.repo_type ?? 'prompt',
    ...text && { text },
    ...isPublic !== undefined && { isPublic },
    ...isArchived !== undefined && { isArchived },
    ...tags && tags.length > 0 && { tags },
  }
}

/** When the oldest project of a tenant was made. A tenant without one begins in 1970. */
async function beginOf(projects: Projects, tenant: string): Promise<string> {
  const { projects: [oldest] } = await projects.find(tenant, { sortBy: 'created_at',
    descending: false, limit: 1, offset: 0 })
  return zonedTextUs((oldest?.createdMs ?? 0) * 1_000)
}

/** Routes of prompts themselves, which are repositories on this wire, and of the workspace. */

import { createPrompt, deletePrompt, forkPrompt, getPrompt, likePrompt, listPromptOwners,
  listPrompts, patchPrompt, readWorkspace } from '../../../api/index.ts'
import type { PromptFields as PromptFieldsJson, Query } from '../../../api/index.ts'
import { repoJson, tenantId, zonedTextUs } from '../../../platform/index.ts'
import type { Projects, Prompt, PromptFields, PromptOrder,
  PromptQuery } from '../../../platform/index.ts'
import type { Caller } from '../../http/caller.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import type { PlatformParts } from '../platform-route.ts'
import { callerName, readerOf } from './prompt-path.ts'

const orders: Readonly<Record<string, PromptOrder>> = { updated_at: 'updated',
  created_at: 'created', repo_handle: 'name', name: 'name', num_likes: 'likes',
  num_downloads: 'downloads', num_views: 'views' }

/** Adds the routes of prompts, of their owners and likes, and of the workspace. */
export function repoRoutes(app: App, { platform: { prompts, projects } }: PlatformParts): void {
  const json = (caller: Caller, prompt: Prompt) =>
    repoJson(prompt, readerOf(caller, prompts, prompt))

  serve(app, readWorkspace, async ({ caller: { tenant } }) => ({
    id: tenantId(tenant),
    display_name: tenant,
    created_at: await beginOf(projects, tenant),
    tenant_handle: prompts.handle(tenant),
  }))

  serve(app, listPrompts, async ({ query, caller }) => {
    const { prompts: found, total } = await prompts.find(caller.tenant, questionOf(query))
    return { repos: found.map((prompt) => json(caller, prompt)), total }
  })
  serve(app, createPrompt, async ({ body, caller }) => {
    const { repo_handle: name, repo_type: type } = body
    const made = await prompts.create(caller.tenant, name, fieldsOf(body), type ?? 'prompt')
    return { repo: json(caller, made) }
  })
  serve(app, getPrompt, async ({ params, caller }) => ({
    repo: json(caller, await prompts.get(caller.tenant, params)),
  }))
  serve(app, patchPrompt, async ({ params, body, caller }) => ({
    repo: json(caller, await prompts.patch(caller.tenant, params, fieldsOf(body))),
  }))
  serve(app, deletePrompt, async ({ params, caller: { tenant } }) => {
    await prompts.delete(tenant, params)
    return { message: 'The prompt is deleted.' }
  })
  serve(app, forkPrompt, async ({ params, body, caller }) => {
    const made = await prompts.fork(caller.tenant, params, body.repo_handle, fieldsOf(body))
    return { repo: json(caller, made) }
  })
  serve(app, listPromptOwners, async ({ params, caller }) => {
    const { tenant } = await prompts.get(caller.tenant, params)
    return { owners: [{ tenant_id: tenantId(tenant), tenant_handle: prompts.handle(tenant) }] }
  })
  serve(app, likePrompt, async ({ params, body, caller }) => {
    const { likes } = await prompts.like(caller.tenant, params, callerName(caller), body.like)
    return { likes: likes.length }
  })
}

function fieldsOf(body: PromptFieldsJson): PromptFields {
  const { description, readme, tags, is_public: isPublic, is_archived: isArchived } = body
  return { ...description != null && { description }, ...readme != null && { readme },
    ...tags != null && { tags }, ...isPublic != null && { isPublic },
    ...isArchived != null && { isArchived } }
}

/** Without a type, lists have prompts only, as clients expect. */
function questionOf(query: Query<typeof listPrompts>): PromptQuery {
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

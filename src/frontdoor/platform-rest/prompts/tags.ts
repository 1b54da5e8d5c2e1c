/** Routes of tags: names of commits that can be moved. */

import { Type } from 'typebox'

import { commitTagJson } from '../../../platform/index.ts'
import type { Prompt } from '../../../platform/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { App } from '../../http/route.ts'
import { platformRoute } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'
import { PromptPath } from './prompt-path.ts'

const CommitName = Type.String({ maxLength: 100 })
const MakeTag = Type.Object({ tag_name: Type.String(), commit_id: CommitName })
const MoveTag = Type.Object({ commit_id: CommitName })
const TagPath = Type.Object({ ...PromptPath.properties, tag: Type.String() })

/** Adds the routes below `/api/v1`. */
export function tagRoutes(app: App, { platform: { prompts } }: PlatformParts): void {
  app.get('/repos/:owner/:name/tags', platformRoute('shown', { params: PromptPath }),
    async ({ params, caller: { tenant } }) => {
      const prompt = await prompts.get(tenant, params)
      return prompt.commitTags.map((tag) => commitTagJson(prompt, tag))
    })
  app.post('/repos/:owner/:name/tags',
    platformRoute('change', { params: PromptPath, body: MakeTag }),
    async ({ params, body, caller: { tenant } }) => {
      const { tag_name: tag, commit_id: commit } = body
      return tagIn(await prompts.setTag(tenant, params, tag, commit), tag)
    })
  app.get('/repos/:owner/:name/tags/:tag', platformRoute('shown', { params: TagPath }),
    async ({ params, caller: { tenant } }) => tagIn(await prompts.get(tenant, params), params.tag))
  app.patch('/repos/:owner/:name/tags/:tag',
    platformRoute('change', { params: TagPath, body: MoveTag }),
    async ({ params, body, caller: { tenant } }) => {
      tagIn(await prompts.get(tenant, params), params.tag)
      return tagIn(await prompts.setTag(tenant, params, params.tag, body.commit_id), params.tag)
    })
  app.delete('/repos/:owner/:name/tags/:tag', platformRoute('change', { params: TagPath }),
    async ({ params, caller: { tenant } }) => {
      await prompts.deleteTag(tenant, params, params.tag)
      return { message: 'The tag is deleted.' }
    })
}

function tagIn(prompt: Prompt, name: string) {
  const tag = prompt.commitTags.find((each) => each.name === name)
  if (tag === undefined) throw new HeddleError('not_found', 'There is no such tag.')
  return commitTagJson(prompt, tag)
}

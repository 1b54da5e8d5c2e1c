/** Routes of tags: names of commits that can be moved. */

import { createPromptTag, deletePromptTag, getPromptTag, listPromptTags,
  movePromptTag } from '../../../api/index.ts'
import { commitTagJson } from '../../../platform/index.ts'
import type { Prompt } from '../../../platform/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import type { PlatformParts } from '../platform-route.ts'

/** Adds the routes that list, create, read, move and delete tags of commits. */
export function tagRoutes(app: App, { platform: { prompts } }: PlatformParts): void {
  serve(app, listPromptTags, async ({ params, caller: { tenant } }) => {
    const prompt = await prompts.get(tenant, params)
    return prompt.commitTags.map((tag) => commitTagJson(prompt, tag))
  })
  serve(app, createPromptTag, async ({ params, body, caller: { tenant } }) => {
    const { tag_name: tag, commit_id: commit } = body
    return tagIn(await prompts.setTag(tenant, params, tag, commit), tag)
  })
  serve(app, getPromptTag,
    async ({ params, caller: { tenant } }) => tagIn(await prompts.get(tenant, params), params.tag))
  serve(app, movePromptTag, async ({ params, body, caller: { tenant } }) => {
    tagIn(await prompts.get(tenant, params), params.tag)
    return tagIn(await prompts.setTag(tenant, params, params.tag, body.commit_id), params.tag)
  })
  serve(app, deletePromptTag, async ({ params, caller: { tenant } }) => {
    await prompts.deleteTag(tenant, params, params.tag)
    return { message: 'The tag is deleted.' }
  })
}

function tagIn(prompt: Prompt, name: string) {
  const tag = prompt.commitTags.find((each) => each.name === name)
  if (tag === undefined) throw new HeddleError('not_found', 'There is no such tag.')
  return commitTagJson(prompt, tag)
}

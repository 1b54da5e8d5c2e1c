/** Routes of directories: the files of agents and skills. */

import { deleteDirectory, readDirectory } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { commitId } from '../../../platform/index.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { sendBytes } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'

/** Adds the routes that read and delete directories. */
export function directoryRoutes(app: App, { platform: { prompts } }: PlatformParts): void {
  const asked = async (tenant: string, name: { owner: string; name: string }, type?: string) => {
    const prompt = await prompts.get(tenant, name)
    if (prompt.type !== 'prompt' && (type ?? prompt.type) === prompt.type) return
    throw new HeddleError('not_found', `There is no such ${type ?? 'directory'}.`)
  }
  serve(app, readDirectory, async ({ params, query, caller: { tenant } }, reply) => {
    await asked(tenant, params, query.repo_type)
    const { commit: { hash }, manifest } = await prompts.pull(tenant, params,
      query.commit ?? 'latest')
    // The manifest is an object of files: the commit stands before them.
    return sendBytes(reply, Buffer.concat([
      Buffer.from(`{"commit_id":"${commitId(hash)}","commit_hash":"${hash}",`),
      manifest.subarray(1),
    ]))
  })
  serve(app, deleteDirectory, async ({ params, caller: { tenant } }) => {
    await asked(tenant, params)
    await prompts.delete(tenant, params)
    return { message: 'The directory is deleted.' }
  })
}

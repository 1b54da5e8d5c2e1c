/** Routes of commits. Manifests are read in a thread, and given back as they came. */

import type { FastifyReply } from 'fastify'

import { commitDirectory, createCommit, listCommits, listOwnCommits,
  pullCommit } from '../../../api/index.ts'
import type { Query } from '../../../api/index.ts'
import { commitJson, directoryLimits, manifestBytesMax,
  shownManifest } from '../../../platform/index.ts'
import type { PromptName, Prompts } from '../../../platform/index.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { sendBytes } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'
import { authorOf } from './prompt-path.ts'

/** Bytes of a body beside its content. */
const besides = 64 * 1024
const yearSeconds = 365 * 24 * 3_600

/** Adds the routes. The parser must leave bodies as they came. */
export function commitRoutes(app: App, { platform: { prompts, query } }: PlatformParts): void {
  const list = async (tenant: string, name: PromptName,
    { limit = 20, offset = 0 }: Query<typeof listCommits>) => {
    const { prompt, commits } = await prompts.commits(tenant, name, { limit, offset })
    const handle = prompts.handle(prompt.tenant)
    // Who made a commit is for its tenant to know: it is the name of a user, or of a key.
    const shown = prompt.tenant === tenant
      ? commits
      : commits.map((each) => ({ ...each, by: null }))
    return { commits: shown.map((commit) => commitJson(prompt, commit, handle)),
      total: prompt.head?.number ?? 0 }
  }
  serve(app, listCommits, ({ params, query: page, caller }) => list(caller.tenant, params, page))
  // Old clients leave out the owner.
  serve(app, listOwnCommits,
    ({ params: { name }, query: page, caller }) => list(caller.tenant, { owner: '-', name }, page))

  serve(app, createCommit,
    async ({ params, body, caller }) =>
      made(prompts, await prompts.commit(caller.tenant, params, {
        type: 'prompt',
        by: authorOf(caller),
        make: () => query.commitBody(bytesOf(body)),
      })), { bodyLimit: manifestBytesMax + besides })

  serve(app, pullCommit, async ({ params, query: asked, caller }, reply) => {
    const { owner, name, ref } = params
    const { commit, manifest } = await prompts.pull(caller.tenant, { owner, name }, ref)
    const shown = asked.include_model || commit.prompt === null
      ? shownManifest(manifest, commit.prompt)
      : manifest.subarray(...commit.prompt)
    keep(reply, commit.hash === ref)
    return sendBytes(reply, Buffer.concat([
      Buffer.from(`{"commit_hash":"${commit.hash}","manifest":`),
      shown,
      Buffer.from(`,"description":${JSON.stringify(commit.description)},"examples":[]}`),
    ]))
  })
}

/** Adds the route of directories. The parser must leave bodies as they came. */
export function directoryCommitRoutes(app: App,
  { platform: { prompts, query } }: PlatformParts): void {
  serve(app, commitDirectory,
    async ({ params, body, caller }) =>
      made(prompts, await prompts.commit(caller.tenant, params, {
        type: 'directory',
        by: authorOf(caller),
        make: (before) => query.directoryBody({ body: bytesOf(body), before }),
      })), { bodyLimit: directoryLimits.bytes + besides })
}

function made(prompts: Prompts, { prompt, commit }: Awaited<ReturnType<Prompts['commit']>>) {
  // Old clients look for the hash beside the commit.
  return { commit: commitJson(prompt, commit, prompts.handle(prompt.tenant)),
    commit_hash: commit.hash }
}

/** Sets how long an answer may be kept: the commit that a whole hash names never changes. */
function keep(reply: FastifyReply, isByHash: boolean): void {
  reply.header('cache-control', isByHash
    ? `private, max-age=${yearSeconds}, immutable`
    : 'private, no-cache')
}

function bytesOf(body: unknown): Uint8Array {
  return (body ?? new Uint8Array()) as Uint8Array
}

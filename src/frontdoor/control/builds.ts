/** The routes of builds: the files of a project come, and a member makes a revision of them. */

import { createBuild, startBuild, uploadSource } from '../../api/index.ts'
import type { Builds } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import type { App } from '../http/route.ts'
import { serve } from '../http/serve.ts'
import { timeOrNull } from './deployment-json.ts'
import { byOf, ownDeployment, serveControl } from './parts.ts'
import type { ControlParts } from './parts.ts'
import { revisionJson } from './revision-json.ts'
import { chunkIn, chunkMax, ownRevision } from './revisions.ts'

/** Adds the routes of builds, but that of their files. */
export function buildRoutes(app: App, parts: ControlParts): void {
  serveControl(app, createBuild, async (request) => {
    const { body: { archive, config, wants_env, source, message = '' }, caller } = request
    const deployment = await ownDeployment(parts, request)
    const { revision, missing } = await buildsIn(parts).begin(deployment, {
      by: byOf(caller),
      message,
      archive: { ...archive, chunks: [...archive.chunks], kind: 'own', path: '' },
      config,
      ...wants_env && { wantsEnv: wants_env },
      ...source && { source },
    })
    return { revision: revisionJson(revision, null), missing,
      expires_at: timeOrNull(revision.expiresAtMs) }
  })
  serveControl(app, startBuild, async (request) => {
    const { revision } = await ownRevision(parts, request)
    const { activate = false } = request.body
    await buildsIn(parts).start(revision, { by: byOf(request.caller), activates: activate })
    return revisionJson(revision, null)
  })
}

/** Adds the route of the files of builds, whose bodies are no JSON. */
export function buildFileRoutes(app: App, parts: ControlParts): void {
  serve(app, uploadSource, async (request) => {
    const { revision } = await ownRevision(parts, request)
    const { sha256, body } = chunkIn(request)
    await buildsIn(parts).putChunk(revision, sha256, body)
  }, { bodyLimit: chunkMax })
}

/** Throws `not_ready` if nothing is built here. */
export function buildsIn({ deployments: { builds } }: Pick<ControlParts, 'deployments'>): Builds {
  if (builds !== undefined) return builds
  throw new HeddleError('not_ready', 'Nothing is built here: deploy without --remote.')
}

/** The routes of builds: the files of a project come, and a member makes a revision of them. */

import type { Builds } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import type { App } from '../http/route.ts'
import { ChunkPath, CreateBuild, DeploymentPath, RevisionPath,
  StartBuild } from '../schema/control.ts'
import { timeOrNull } from './deployment-json.ts'
import { byOf, controlRoot, controlRoute, ownDeployment, sendFresh } from './parts.ts'
import type { ControlParts } from './parts.ts'
import { revisionJson } from './revision-json.ts'
import { chunkIn, chunkMax, ownRevision } from './revisions.ts'

/** Adds the routes of builds, but that of their files. */
export function buildRoutes(app: App, parts: ControlParts): void {
  app.post(`${controlRoot}/:deployment/builds`,
    controlRoute('createBuild', { summary: 'Begin a revision that is built here, from the ' +
      "project's own files", params: DeploymentPath, body: CreateBuild, answer: 'BegunRevision' }),
    async (request, reply) => {
      const { body: { archive, config, wants_env, source, message = '' }, caller } = request
      const deployment = await ownDeployment(parts, request)
      const { revision, missing } = await buildsIn(parts).begin(deployment, {
        by: byOf(caller),
        message,
        archive: { ...archive, kind: 'own', path: '' },
        config,
        ...wants_env && { wantsEnv: wants_env },
        ...source && { source },
      })
      return sendFresh(reply.code(201), { revision: revisionJson(revision, null), missing,
        expires_at: timeOrNull(revision.expiresAtMs) })
    })

  app.post(`${controlRoot}/:deployment/revisions/:revision/build`,
    controlRoute('startBuild', { summary: 'Build a revision whose files are uploaded; its lines ' +
      'are read from /logs?build=', params: RevisionPath, body: StartBuild, answer: 'Revision' }),
    async (request, reply) => {
      const { revision } = await ownRevision(parts, request)
      const { activate = false } = request.body
      await buildsIn(parts).start(revision, { by: byOf(request.caller), activates: activate })
      return sendFresh(reply.code(202), revisionJson(revision, null))
    })
}

/** Adds the route of the files of builds, whose bodies are no JSON. */
export function buildFileRoutes(app: App, parts: ControlParts): void {
  app.put(`${controlRoot}/:deployment/revisions/:revision/source/:sha256`, {
    ...controlRoute('uploadSource', { summary: "Upload a chunk of a project's own files",
      params: ChunkPath }),
    bodyLimit: chunkMax,
  }, async (request, reply) => {
    const { revision } = await ownRevision(parts, request)
    const { sha256, body } = chunkIn(request)
    await buildsIn(parts).putChunk(revision, sha256, body)
    return reply.code(204).send()
  })
}

/** Throws `not_ready` if nothing is built here. */
export function buildsIn({ deployments: { builds } }: Pick<ControlParts, 'deployments'>): Builds {
  if (builds !== undefined) return builds
  throw new HeddleError('not_ready', 'Nothing is built here: deploy without --remote.')
}

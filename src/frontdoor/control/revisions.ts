/** The routes of revisions: begun from a manifest, uploaded chunk by chunk, listed and removed. */

import type { FastifyRequest } from 'fastify'

import type { Deployment, Revision } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import { receiveBody } from '../http/received-body.ts'
import type { App } from '../http/route.ts'
import { ChunkPath, CreateRevision, DeleteRevision, DeploymentPath, PageOf,
  RevisionPath } from '../schema/control.ts'
import { timeOrNull } from './deployment-json.ts'
import { byOf, controlRoot, controlRoute, ownDeployment, sendFresh, usedBy,
  useOf } from './parts.ts'
import type { ControlParts } from './parts.ts'
import { revisionJson } from './revision-json.ts'

/** Bytes of a chunk. */
export const chunkMax = 4 * 1024 * 1024

/** Adds the routes of revisions. */
export function revisionRoutes(app: App, parts: ControlParts): void {
  const { records } = parts.deployments
  const below = `${controlRoot}/:deployment/revisions`

  app.post(below,
    controlRoute('createRevision', { summary: 'Begin a revision; the same manifest gives the one ' +
      'that is there', params: DeploymentPath, body: CreateRevision, answer: 'BegunRevision' }),
    async (request, reply) => {
      const { body: { manifest, message = '' }, caller } = request
      const deployment = await ownDeployment(parts, request)
      const by = byOf(caller)
      const begun = await records.beginRevision(deployment, { manifest, message, by })
      const { revision, missing, known } = begun
      if (!known) {
        await records.note(deployment.id, { kind: 'revision', by,
          data: { revision: revision.name, state: revision.state, message } })
      }
      return sendFresh(reply.code(known ? 200 : 201), { revision: revisionJson(revision, null),
        missing, expires_at: timeOrNull(revision.expiresAtMs) })
    })

  app.get(below,
    controlRoute('listRevisions', { summary: 'List the revisions of a deployment, newest first',
      params: DeploymentPath, querystring: PageOf, answer: 'Revisions' }),
    async (request, reply) => {
      const deployment = await ownDeployment(parts, request)
      const { limit = 10, offset = 0 } = request.query
      const [rows, use] = await Promise.all([records.revisions(deployment, { limit, offset }),
        useOf(parts, deployment)])
      return sendFresh(reply, {
        revisions: rows.map((each) => revisionJson(each, usedBy(use, each))),
      })
    })

  app.get(`${below}/:revision`,
    controlRoute('getRevision', { summary: 'Get a revision', params: RevisionPath,
      answer: 'Revision' }), async (request, reply) => {
    const { deployment, revision } = await ownRevision(parts, request)
    const use = await useOf(parts, deployment)
    return sendFresh(reply, revisionJson(revision, usedBy(use, revision)))
  })

  app.delete(`${below}/:revision`,
    controlRoute('deleteRevision', { summary: 'Remove what a revision was made of',
      params: RevisionPath, querystring: DeleteRevision, answer: 'Revision' }),
    async (request, reply) => {
      const { deployment, revision } = await ownRevision(parts, request)
      const use = usedBy(await useOf(parts, deployment), revision)
      requireUnused(deployment, revision, use, request.query.force === true)
      const removed = await records.removeRevision(deployment, revision)
      // Here at once: no answer is given to a process that cannot be started again.
      await parts.deployments.serving.learn(deployment.name)
      await records.note(deployment.id, { kind: 'revision', by: byOf(request.caller),
        data: { revision: removed.name, state: removed.state } })
      return sendFresh(reply, revisionJson(removed, use))
    })

  app.get(`${below}/:revision/chunks`,
    controlRoute('listMissingChunks', { summary: 'List what is still to be uploaded',
      params: RevisionPath, answer: 'MissingChunks' }), async (request, reply) => {
    const { revision } = await ownRevision(parts, request)
    return sendFresh(reply, { missing: await records.missing(revision) })
  })
}

/** Adds the route of chunks, whose bodies are no JSON. */
export function chunkRoutes(app: App, parts: ControlParts): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', receiveBody)
  app.put(`${controlRoot}/:deployment/revisions/:revision/chunks/:sha256`, {
    ...controlRoute('uploadChunk', { summary: 'Upload a chunk: up to 4 MiB with this hash',
      params: ChunkPath }),
    bodyLimit: chunkMax,
  }, async (request, reply) => {
    const { revision } = await ownRevision(parts, request)
    const { sha256, body } = chunkIn(request)
    await parts.deployments.records.putChunk(revision, sha256, body)
    return reply.code(204).send()
  })
}

/** The chunk that a request uploads. Throws `invalid` if it has none. */
export function chunkIn(request: Pick<FastifyRequest, 'body' | 'params'>): {
  readonly sha256: string
  readonly body: Buffer
} {
  const { body, params } = request
  if (!Buffer.isBuffer(body)) throw new HeddleError('invalid', 'A chunk must not be empty.')
  return { body, sha256: (params as { readonly sha256: string }).sha256 }
}

/** The revision that a path names, and its deployment. Throws `not_found`. */
export async function ownRevision(parts: Pick<ControlParts, 'deployments'>,
  request: Pick<FastifyRequest, 'caller' | 'params'>
): Promise<{ readonly deployment: Deployment; readonly revision: Revision }> {
  const deployment = await ownDeployment(parts, request)
  const { revision: name } = request.params as { readonly revision: string }
  return { deployment, revision: await parts.deployments.records.revision(deployment, name) }
}

/** Throws `in_use`. What is active cannot be removed at all. */
function requireUnused({ active, previous, next, rollout }: Deployment, { name }: Revision,
  use: ReturnType<typeof usedBy>, force: boolean): void {
  const inUse = (why: string) =>
    new HeddleError('in_use', `${name} ${why}: it can be removed only with ?force=true.`)
  if (active === name || next?.revision === name || rollout?.revision === name) {
    throw new HeddleError('in_use', `${name} takes new runs or is being rolled out: make another ` +
      'revision active first.')
  }
  if (force) return
  if (previous === name) throw inUse('is the one to roll back to')
  if (use === null) throw inUse('may be needed by runs or threads, which are too many to count')
  if (use.running > 0) throw inUse(`executes ${use.running} runs`)
  if (use.waitingThreads > 0) {
    throw inUse(`is needed by ${use.waitingThreads} threads that wait for an answer`)
  }
}

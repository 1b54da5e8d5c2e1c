/** The routes of revisions: begun from a manifest, uploaded chunk by chunk, listed and removed. */

import type { FastifyRequest } from 'fastify'

import { createRevision, deleteRevision, getRevision, listMissingChunks, listRevisions,
  uploadChunk } from '../../api/index.ts'
import type { Deployment, Revision } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import { receiveBody } from '../http/received-body.ts'
import type { App } from '../http/route.ts'
import { sendFresh, serve } from '../http/serve.ts'
import { timeOrNull } from './deployment-json.ts'
import { byOf, ownDeployment, serveControl, usedBy, useOf } from './parts.ts'
import type { ControlParts } from './parts.ts'
import { revisionJson } from './revision-json.ts'

/** Bytes that one uploaded chunk of a revision or a build may have. */
export const chunkMax = 4 * 1024 * 1024

/** Adds the routes of revisions. */
export function revisionRoutes(app: App, parts: ControlParts): void {
  const { records } = parts.deployments

  serveControl(app, createRevision, async (request, reply) => {
    const { body: { manifest, message = '' }, caller } = request
    const deployment = await ownDeployment(parts, request)
    const by = byOf(caller)
    const begun = await records.beginRevision(deployment, { manifest, message, by })
    const { revision, missing, known } = begun
    const answer = { revision: revisionJson(revision, null), missing,
      expires_at: timeOrNull(revision.expiresAtMs) }
    if (known) return sendFresh(reply.code(200), answer)
    await records.note(deployment.id, { kind: 'revision', by,
      data: { revision: revision.name, state: revision.state, message } })
    return answer
  })
  serveControl(app, listRevisions, async (request) => {
    const deployment = await ownDeployment(parts, request)
    const { limit = 10, offset = 0 } = request.query
    const [rows, use] = await Promise.all([records.revisions(deployment, { limit, offset }),
      useOf(parts, deployment)])
    return { revisions: rows.map((each) => revisionJson(each, usedBy(use, each))) }
  })
  serveControl(app, getRevision, async (request) => {
    const { deployment, revision } = await ownRevision(parts, request)
    const use = await useOf(parts, deployment)
    return revisionJson(revision, usedBy(use, revision))
  })
  serveControl(app, deleteRevision, async (request) => {
    const { deployment, revision } = await ownRevision(parts, request)
    const use = usedBy(await useOf(parts, deployment), revision)
    requireUnused(deployment, revision, use, request.query.force === true)
    const removed = await records.removeRevision(deployment, revision)
    // Here at once: no answer is given to a process that cannot be started again.
    await parts.deployments.serving.learn(deployment.name)
    await records.note(deployment.id, { kind: 'revision', by: byOf(request.caller),
      data: { revision: removed.name, state: removed.state } })
    return revisionJson(removed, use)
  })
  serveControl(app, listMissingChunks, async (request) => {
    const { revision } = await ownRevision(parts, request)
    return { missing: await records.missing(revision) }
  })
}

/** Adds the route of chunks, whose bodies are no JSON. */
export function chunkRoutes(app: App, parts: ControlParts): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', receiveBody)
  serve(app, uploadChunk, async (request) => {
    const { revision } = await ownRevision(parts, request)
    const { sha256, body } = chunkIn(request)
    await parts.deployments.records.putChunk(revision, sha256, body)
  }, { bodyLimit: chunkMax })
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

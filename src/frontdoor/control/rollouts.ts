/** The routes of roll-outs: check a revision, make it active, go back. */

import type { FastifyReply, FastifyRequest } from 'fastify'

import { activateRevision, checkRevision, rollBack } from '../../api/index.ts'
import type { ControlMove } from '../../api/index.ts'
import type { Activated } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import type { App } from '../http/route.ts'
import { sendFresh } from '../http/serve.ts'
import { holdStream } from '../rest/run-reply.ts'
import { activatedJson, eitherJson, failureJson } from './deployment-json.ts'
import { byOf, ownDeployment, prefersAsync, serveControl, usedBy, useOf } from './parts.ts'
import type { ControlParts } from './parts.ts'
import { revisionJson } from './revision-json.ts'
import { ownRevision } from './revisions.ts'

/** Adds the routes of roll-outs. */
export function rolloutRoutes(app: App, parts: ControlParts): void {
  const { records, rollouts, report } = parts.deployments

  serveControl(app, checkRevision, async (request, reply) => {
    const { deployment, revision: { name } } = await ownRevision(parts, request)
    holdStream(parts, reply)
    requireDone(
      await rollouts.check(deployment.name, name, { by: byOf(request.caller), message: '' }),
    )
    const revision = await records.revision(deployment, name)
    const use = usedBy(await useOf(parts, deployment), revision)
    return { revision: revisionJson(revision, use), report: await report(deployment, revision) }
  })
  serveControl(app, activateRevision, async (request, reply) => {
    const { deployment, revision: { name } } = await ownRevision(parts, request)
    const { percent, now, expect, watch_s, prepare_s, message = '' } = request.body
    holdStream(parts, reply)
    const activated = await rollouts.activate(deployment.name, name, {
      by: byOf(request.caller),
      message,
      percent,
      now,
      expect,
      watchMs: inMs(watch_s),
      prepareMs: inMs(prepare_s),
      wait: !prefersAsync(request),
    })
    return await answerTo(parts, request, reply, activated)
  })
  serveControl(app, rollBack, async (request, reply) => {
    const { name } = await ownDeployment(parts, request)
    const { to, now, message = '' } = request.body
    holdStream(parts, reply)
    const activated = await rollouts.rollback(name, { ...to !== undefined && { to },
      by: byOf(request.caller), message, now, wait: !prefersAsync(request) })
    return await answerTo(parts, request, reply, activated)
  })
}

async function answerTo(parts: ControlParts, request: Pick<FastifyRequest, 'headers'>,
  reply: FastifyReply, activated: Activated): Promise<ControlMove | FastifyReply> {
  if (prefersAsync(request)) {
    void reply.header('preference-applied', 'respond-async')
    return sendFresh(reply.code(202), { rollout: eitherJson(activated.rollout) })
  }
  requireDone(activated)
  const use = await useOf(parts, activated.deployment)
  return activatedJson(activated, use ?? new Map())
}

/** Throws if the roll-out has ended without what was asked for. */
export function requireDone({ rollout }: Activated): void {
  if (!('result' in rollout) || rollout.result === 'done') return
  const { reason, failures, result } = rollout
  const why = reason ?? 'The roll-out has ended without moving the pointer.'
  if (result !== 'refused') throw new HeddleError('not_ready', why)
  throw new HeddleError('graph_failed', why, { graphs: failures.map(failureJson) })
}

function inMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1_000
}

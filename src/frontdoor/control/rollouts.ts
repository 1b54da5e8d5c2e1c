/** The routes of roll-outs: check a revision, make it active, go back. */

import type { FastifyReply, FastifyRequest } from 'fastify'

import type { Activated } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import type { App } from '../http/route.ts'
import { holdStream } from '../rest/run-reply.ts'
import { ActivateRevision, DeploymentPath, RevisionPath, Rollback } from '../schema/control.ts'
import { activatedJson, eitherJson, failureJson } from './deployment-json.ts'
import { byOf, controlRoot, controlRoute, ownDeployment, prefersAsync, sendFresh, usedBy,
  useOf } from './parts.ts'
import type { ControlParts } from './parts.ts'
import { revisionJson } from './revision-json.ts'
import { ownRevision } from './revisions.ts'

/** Adds the routes of roll-outs. */
export function rolloutRoutes(app: App, parts: ControlParts): void {
  const { records, rollouts, report } = parts.deployments
  const ofDeployment = `${controlRoot}/:deployment`
  const ofRevision = `${ofDeployment}/revisions/:revision`

  app.post(`${ofRevision}/check`,
    controlRoute('checkRevision', { summary: 'Load a revision on one member, and compare it with ' +
      'the active one', params: RevisionPath, answer: 'CheckedRevision' }),
    async (request, reply) => {
      const { deployment, revision: { name } } = await ownRevision(parts, request)
      holdStream(parts, reply)
      requireDone(
        await rollouts.check(deployment.name, name, { by: byOf(request.caller), message: '' }),
      )
      const revision = await records.revision(deployment, name)
      const use = usedBy(await useOf(parts, deployment), revision)
      return sendFresh(reply, { revision: revisionJson(revision, use),
        report: await report(deployment, revision) })
    })

  app.post(`${ofRevision}/activate`,
    controlRoute('activateRevision', { summary: 'Make a revision active, or give it a share of ' +
      'new runs; `Prefer: respond-async` does not wait', params: RevisionPath,
      body: ActivateRevision, answer: 'Activated' }), async (request, reply) => {
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
    return await sendActivated(parts, request, reply, activated)
  })

  app.post(`${ofDeployment}/rollback`,
    controlRoute('rollBack', { summary: 'Make an earlier revision active again',
      params: DeploymentPath, body: Rollback, answer: 'Activated' }), async (request, reply) => {
    const { name } = await ownDeployment(parts, request)
    const { to, now, message = '' } = request.body
    holdStream(parts, reply)
    const activated = await rollouts.rollback(name, { ...to !== undefined && { to },
      by: byOf(request.caller), message, now, wait: !prefersAsync(request) })
    return await sendActivated(parts, request, reply, activated)
  })
}

async function sendActivated(parts: ControlParts, request: FastifyRequest, reply: FastifyReply,
  activated: Activated): Promise<unknown> {
  if (prefersAsync(request)) {
    void reply.header('preference-applied', 'respond-async')
    return sendFresh(reply.code(202), { rollout: eitherJson(activated.rollout) })
  }
  requireDone(activated)
  const use = await useOf(parts, activated.deployment)
  return sendFresh(reply, activatedJson(activated, use ?? new Map()))
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

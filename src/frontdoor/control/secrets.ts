/** The routes of secrets. Values come in and never go out: not in answers, events or errors. */

import type { FastifyReply, FastifyRequest } from 'fastify'

import { deleteSecret, listSecrets, setSecret, setSecrets } from '../../api/index.ts'
import type { ControlChange, ControlSecret } from '../../api/index.ts'
import { changeSecrets, shownSecrets } from '../../deployment/index.ts'
import type { ChangedSecrets, Deployment, SecretValues,
  ShownSecret } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import { timeText } from '../../json/index.ts'
import type { App } from '../http/route.ts'
import { holdStream } from '../rest/run-reply.ts'
import { eitherJson } from './deployment-json.ts'
import { byOf, ownDeployment, prefersAsync, serveControl } from './parts.ts'
import type { ControlParts } from './parts.ts'
import { requireDone } from './rollouts.ts'

const nameForm = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/

/** Adds the routes of secrets. */
export function secretRoutes(app: App, parts: ControlParts): void {
  const { secrets } = parts.deployments

  serveControl(app, listSecrets, async (request) => {
    const deployment = await ownDeployment(parts, request)
    const rows = shownSecrets(deployment, await secrets.list(deployment.id))
    return { secrets: rows.map(secretJson), env_version: deployment.envVersion }
  })
  serveControl(app, setSecret, async (request, reply) => {
    const { params: { name }, body: { value, restart = true } } = request
    const deployment = await ownDeployment(parts, request)
    const changed = await changeAndNote(parts, { request, reply, deployment, loads: restart,
      values: new Map([[name, value]]), message: `Secret ${name} set` })
    const [{ version, updatedAtMs } = { version: 0, updatedAtMs: 0 }] = changed.entries
    const state = changed.activated === undefined ? 'kept' : 'in_use'
    return { ...secretJson({ name, version, updatedAtMs, state }), ...rolloutOf(changed) }
  })
  serveControl(app, setSecrets, async (request, reply) => {
    const { values, remove = [], restart = true } = request.body
    const all = new Map<string, string | null>([...remove.map((name) => [name, null] as const),
      ...Object.entries(values)])
    // Before the first is set: a mistake must not leave a part of them.
    const wrong = [...all.keys()].find((name) => !nameForm.test(name))
    if (wrong !== undefined) {
      throw new HeddleError('invalid', 'values: a name has letters, digits and underscores, up ' +
        'to 100, and does not begin with a digit.')
    }
    const deployment = await ownDeployment(parts, request)
    return rolloutOf(
      await changeAndNote(parts, { request, reply, deployment, values: all,
        loads: restart && all.size > 0, message: 'Secrets set' }),
    )
  })
  serveControl(app, deleteSecret, async (request, reply) => {
    const { params: { name }, query: { restart = true } } = request
    const deployment = await ownDeployment(parts, request)
    return rolloutOf(
      await changeAndNote(parts, { request, reply, deployment, loads: restart,
        values: new Map([[name, null]]), message: `Secret ${name} removed` }),
    )
  })
}

interface Change {
  readonly request: Pick<FastifyRequest, 'caller' | 'headers'>
  readonly reply: FastifyReply
  readonly deployment: Deployment
  readonly values: SecretValues
  readonly message: string
  readonly loads: boolean
}

/** Throws if the revision cannot be loaded with them: then nothing has changed. */
async function changeAndNote(parts: ControlParts,
  { request, reply, deployment, values, message, loads: wanted }: Change): Promise<ChangedSecrets> {
  const { records } = parts.deployments
  const by = byOf(request.caller)
  const loads = await isOpened(parts, deployment, values) && wanted
  if (loads) holdStream(parts, reply)
  const changed = await changeSecrets(parts.deployments, deployment, values, { by, message, loads,
    wait: !prefersAsync(request) })
  if (changed.activated !== undefined) requireDone(changed.activated)
  for (const { name, version, place } of changed.entries) {
    await records.note(deployment.id, { kind: 'secret', by,
      data: { name, ...place === null ? { change: 'removed' } : { change: 'set', version } } })
  }
  return changed
}

/**
 * Processes get all secrets: with one that cannot be opened, none would start. What is removed then
 * is kept until all can be. Throws `invalid` if others are set.
 */
async function isOpened({ deployments: { secrets } }: ControlParts, deployment: Deployment,
  values: SecretValues): Promise<boolean> {
  const foreign = (await secrets.unopened(deployment)).filter((name) => !values.has(name))
  if (foreign.length === 0) return true
  if ([...values.values()].every((value) => value === null)) return false
  throw new HeddleError('invalid', `${foreign.join(', ')}: sealed with a key that this server ` +
    'does not have, so no process could start. Set them in the same command, remove them, or ' +
    'start the server with that key (--secrets-key).')
}

function rolloutOf({ activated }: ChangedSecrets): ControlChange {
  return { rollout: activated === undefined ? null : eitherJson(activated.rollout) }
}

function secretJson({ name, version, updatedAtMs, state }: ShownSecret): ControlSecret {
  return { name, version, updated_at: timeText(updatedAtMs), state }
}

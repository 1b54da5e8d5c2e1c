/** The routes of secrets. Values come in and never go out: not in answers, events or errors. */

import type { FastifyRequest } from 'fastify'

import type { Deployment, DeploymentSecret } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import { timeText } from '../../json/index.ts'
import type { App } from '../http/route.ts'
import { DeleteSecret, DeploymentPath, SecretPath, SetSecret,
  SetSecrets } from '../schema/control.ts'
import { eitherJson } from './deployment-json.ts'
import { byOf, controlRoot, controlRoute, ownDeployment, sendFresh } from './parts.ts'
import type { ControlParts } from './parts.ts'

const nameForm = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/

/** Adds the routes of secrets. */
export function secretRoutes(app: App, parts: ControlParts): void {
  const { records, secrets, rollouts } = parts.deployments
  const below = `${controlRoot}/:deployment/secrets`
  const note = (deployment: Deployment, { caller }: FastifyRequest, data: object) =>
    records.note(deployment.id, { kind: 'secret', by: byOf(caller), data: { ...data } })

  /** Processes get all secrets: with one that cannot be opened, none would start. */
  async function requireOpened({ id }: Deployment, set: readonly string[]): Promise<void> {
    const foreign = (await secrets.unopened(id)).filter((name) => !set.includes(name))
    if (foreign.length === 0) return
    throw new HeddleError('invalid', `${foreign.join(', ')}: sealed with a key that this server ` +
      'does not have, so no process could start. Set them in the same command, remove them, or ' +
      'start the server with that key (--secrets-key).')
  }

  /** Fresh processes begin to start. Another roll-out that is under way comes first. */
  async function restarted({ name }: Deployment, { caller }: FastifyRequest, message: string,
    wanted: boolean): Promise<{ readonly rollout: object | null }> {
    if (!wanted) return { rollout: null }
    const begun = await rollouts.restartWithSecrets(name, { by: byOf(caller), message,
      wait: false })
      .catch((error: unknown) => {
        throw HeddleError.from(error).code === 'stale' ? storedOnly() : error
      })
    return { rollout: begun === undefined ? null : eitherJson(begun.rollout) }
  }

  app.get(below,
    controlRoute('listSecrets', { summary: 'List the names of the secrets of a deployment',
      params: DeploymentPath, answer: 'Secrets' }), async (request, reply) => {
    const { id, envVersion } = await ownDeployment(parts, request)
    const rows = await secrets.list(id)
    return sendFresh(reply, { secrets: rows.map(secretJson), env_version: envVersion })
  })

  app.put(`${below}/:name`,
    controlRoute('setSecret', { summary: 'Set a secret, and start fresh processes that have it',
      params: SecretPath, body: SetSecret, answer: 'Secret' }), async (request, reply) => {
    const { params: { name }, body: { value, restart = true } } = request
    const deployment = await ownDeployment(parts, request)
    await requireOpened(deployment, [name])
    const secret = await secrets.set(deployment.id, name, value)
    await note(deployment, request, { name, change: 'set', version: secret.version })
    const after = await restarted(deployment, request, `Secret ${name} set`, restart)
    return sendFresh(reply, { ...secretJson(secret), ...after })
  })

  app.put(below,
    controlRoute('setSecrets', { summary: 'Set several secrets with one restart',
      params: DeploymentPath, body: SetSecrets, answer: 'RolloutOfChange' }),
    async (request, reply) => {
      const { values, restart = true } = request.body
      const names = Object.keys(values)
      // Before the first is set: a mistake must not leave a part of them.
      const wrong = names.find((name) => !nameForm.test(name))
      if (wrong !== undefined) {
        throw new HeddleError('invalid', 'values: a name has letters, digits and underscores, up ' +
          'to 100, and does not begin with a digit.')
      }
      const deployment = await ownDeployment(parts, request)
      await requireOpened(deployment, names)
      for (const name of names) {
        const { version } = await secrets.set(deployment.id, name, values[name]!)
        await note(deployment, request, { name, change: 'set', version })
      }
      return sendFresh(reply,
        await restarted(deployment, request, 'Secrets set', restart && names.length > 0))
    })

  app.delete(`${below}/:name`,
    controlRoute('deleteSecret', { summary: 'Remove a secret, and start fresh processes',
      params: SecretPath, querystring: DeleteSecret, answer: 'RolloutOfChange' }),
    async (request, reply) => {
      const { params: { name }, query: { restart = true } } = request
      const deployment = await ownDeployment(parts, request)
      await secrets.delete(deployment.id, name)
      await note(deployment, request, { name, change: 'removed' })
      const starts = restart && (await secrets.unopened(deployment.id)).length === 0
      return sendFresh(reply,
        await restarted(deployment, request, `Secret ${name} removed`, starts))
    })
}

function secretJson({ name, version, updatedAtMs }: DeploymentSecret): object {
  return { name, version, updated_at: timeText(updatedAtMs) }
}

function storedOnly(): HeddleError {
  return new HeddleError('stale',
    'It is stored, but a roll-out is under way: send this again when ' +
      'it has ended, so that fresh processes start with it.')
}

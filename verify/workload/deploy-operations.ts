/** Operations on the deployment. Client 0 alone changes it, one change after the other. */

import { setTimeout as pause } from 'node:timers/promises'

import type { Operation, Scene } from './operation.ts'
import type { Reply, Request } from './session.ts'

/** Longest pause of the deployment, in milliseconds. */
const maxPauseMs = 2_000
const retryDelayMs = 200

/** Sends a request about the deployment. */
function sendDeploy(operation: string, { session, client }: Pick<Scene, 'session' | 'client'>,
  { path, ...request }: Omit<Request, 'operation'>): Promise<Reply> {
  return session.call(client.number, { operation,
    path: `/control/v1/deployments/${session.deployment?.name}${path}`, ...request }, client.signal)
}

/** An operation of client 0 on the deployment. */
function onDeployment(name: string, weight: number,
  execute: (scene: Scene) => Promise<unknown>): Operation {
  return {
    name,
    weight,
    async execute(scene) {
      if (scene.client.number === 0) await execute(scene)
    },
  }
}

function pickRevision({ session, client }: Scene): string {
  return client.chance.pick(session.deployment!.revisions)
}

/** Sets whether the deployment starts runs. */
function setPaused(scene: Pick<Scene, 'session' | 'client'>, paused: boolean): Promise<Reply> {
  return sendDeploy(paused ? 'deploy.pause' : 'deploy.resume', scene, { method: 'PATCH', path: '',
    body: { paused } })
}

/** Resumes the deployment, and tries again while no server serves. */
async function resumeDeployment(scene: Pick<Scene, 'session' | 'client'>): Promise<void> {
  while (!scene.client.signal.aborted) {
    const { status } = await setPaused(scene, false)
    if (status === 200) return
    scene.session.changeDoor(scene.client.number)
    await pause(retryDelayMs)
  }
}

export const deployOperations: readonly Operation[] = [
  onDeployment('deploy.activate', 4, (scene) => {
    const { chance } = scene.client
    return sendDeploy('deploy.activate', scene, { method: 'POST',
      path: `/revisions/${pickRevision(scene)}/activate`,
      body: { watch_s: 0, percent: chance.pick([100, 100, 50]) } })
  }),
  onDeployment('deploy.rollback', 2,
    (scene) =>
      sendDeploy('deploy.rollback', scene, { method: 'POST', path: '/rollback', body: {} })),
  onDeployment('deploy.secret', 1.5,
    (scene) =>
      sendDeploy('deploy.secret', scene, { method: 'PUT', path: '/secrets/TOKEN',
        body: { value: `secret-${scene.session.createToken()}` } })),
  onDeployment('deploy.pause', 2, async (scene) => {
    await setPaused(scene, true)
    await pause(scene.client.chance.below(maxPauseMs))
    // Other clients may wait for runs that start only then.
    await resumeDeployment(scene)
  }),
  ...([['deploy.get', ''], ['deploy.secrets', '/secrets'], ['deploy.logs', '/logs'], [
    'deploy.revisions',
    '/revisions',
  ]] as const).map(([name, path]) =>
    onDeployment(name, 1.5, (scene) => sendDeploy(name, scene, { method: 'GET', path }))
  ),
]

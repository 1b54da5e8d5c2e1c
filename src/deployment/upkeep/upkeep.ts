/**
 * Work on deployments that no caller asks for, by the member that owns their records. It ends
 * previews and deployments without a successful build, continues removals until nothing is left,
 * and removes old revisions.
 */

import type { Env } from '../../../cluster/index.ts'
import { HeddleError, ignoreNotFound } from '../../errors.ts'
import type { Deployment } from '../deployment.ts'
import type { Deployments } from '../deployments.ts'
import type { RolloutMembers } from '../rollout/member-port.ts'
import type { DeploymentUse } from './deployment-use.ts'
import type { NamespaceData } from './namespace-data.ts'
import { previewEndMs } from './preview-end.ts'
import { hasFailed, mayEnd } from './provisional-end.ts'

/** Records, data and ports for the upkeep of deployments. */
export interface UpkeepParts {
  readonly deployments: Pick<Deployments, 'get' | 'change' | 'remove' | 'note' | 'revisions'>
  /** All deployments as this member knows them, from memory. */
  known(): readonly Deployment[]
  readonly use: Pick<DeploymentUse, 'namespaces' | 'lastMs' | 'forget'>
  readonly data: NamespaceData
  readonly members: Pick<RolloutMembers, 'live' | 'learn'>
  /** Removes revisions that are not needed any more. */
  retention(deployment: Deployment): Promise<void>
  /** True if this member owns the records. Two members that do this at once do no harm. */
  owns(): boolean
  readonly env: Pick<Env, 'after' | 'nowMs' | 'monotonicMs' | 'log'>
}

/** Works until it is closed. */
export interface Upkeep {
  /** Looks at a deployment that is being removed, or at all deployments. Call every minute. */
  look(name?: string): void
  close(): void
}

/** Milliseconds after which requests that members admitted before a removal have ended. */
const settleMs = 10_000
/** Passes of a removal over its data before it is left for the next look. */
const passesMax = 20
/** Revisions of a deployment that are looked at: no more are kept. */
const revisionsMax = 1_000
/** Milliseconds between two searches for old revisions. */
const retentionMs = 24 * 3_600_000

/** Does nothing before the first look, and asks the store nothing where no deployment is. */
export function keepDeployments(parts: UpkeepParts): Upkeep {
  return new DeploymentUpkeep(parts)
}

class DeploymentUpkeep implements Upkeep {
  readonly #parts: UpkeepParts
  readonly #underWay = new Set<string>()
  /** When old revisions were last looked for, by the deployment's id. */
  readonly #collected = new Map<string, number>()
  #isLooking = false
  #isClosed = false

  constructor(parts: UpkeepParts) {
    this.#parts = parts
  }

  look(name?: string): void {
    if (this.#isClosed || !this.#parts.owns()) return
    if (name !== undefined) return this.#remove(name)
    if (this.#isLooking) return
    this.#isLooking = true
    this.#lookAtAll().catch((error: unknown) =>
      this.#parts.env.log.debug('Deployments are looked at again later.', { error })
    ).finally(() => {
      this.#isLooking = false
    })
  }

  close(): void {
    this.#isClosed = true
  }

  async #lookAtAll(): Promise<void> {
    const all = this.#parts.known()
    const ids = new Set(all.map(({ id }) => id))
    for (const id of this.#collected.keys()) if (!ids.has(id)) this.#collected.delete(id)
    for (const deployment of all) {
      if (this.#isClosed) return
      if (deployment.removing) this.#remove(deployment.name)
      else if (deployment.preview !== null && await this.#hasEnded(deployment)) {
        await this.#end(deployment, 'Nobody has called the preview.')
      } else if (await this.#isEmpty(deployment)) {
        await this.#end(deployment, 'No build of it succeeded.')
      } else await this.#collect(deployment)
    }
  }

  async #hasEnded(deployment: Deployment): Promise<boolean> {
    const { use, env } = this.#parts
    const nowMs = env.nowMs()
    // Without the note of a request it may have ended: only then is that read.
    if (nowMs < previewEndMs(deployment, 0)!) return false
    return nowMs >= previewEndMs(deployment, await use.lastMs(deployment))!
  }

  async #isEmpty(deployment: Deployment): Promise<boolean> {
    const { deployments, env } = this.#parts
    const nowMs = env.nowMs()
    return mayEnd(deployment, nowMs) &&
      hasFailed(await deployments.revisions(deployment, { limit: revisionsMax, offset: 0 }), nowMs)
  }

  async #end(deployment: Deployment, reason: string): Promise<void> {
    const { deployments, env } = this.#parts
    const { id, name } = deployment
    try {
      await deployments.change(deployment, { removing: true })
      env.log.info('A deployment is removed that is not in use.', { deployment: name, reason })
      await deployments.note(id, { kind: 'deployment', by: 'heddle',
        data: { change: 'removing', reason } })
    } catch (error) {
      // It was changed, so it is in use.
      if (HeddleError.from(error).code !== 'stale') throw error
      return
    }
    this.#remove(name)
  }

  async #collect(deployment: Deployment): Promise<void> {
    const { env, retention } = this.#parts
    const { id, name } = deployment
    const nowMs = env.monotonicMs()
    const lastMs = this.#collected.get(id)
    if (lastMs !== undefined && nowMs - lastMs < retentionMs) return
    this.#collected.set(id, nowMs)
    await retention(deployment).catch((error: unknown) => {
      this.#collected.delete(id)
      env.log.warn('Old revisions cannot be removed now.', { error, deployment: name })
    })
  }

  #remove(name: string): void {
    if (this.#underWay.has(name)) return
    this.#underWay.add(name)
    this.#removed(name).catch((error: unknown) =>
      this.#parts.env.log.info('A deployment is not removed yet; that goes on in a minute.', {
        error,
        deployment: name,
      })
    ).finally(() => this.#underWay.delete(name))
  }

  async #removed(name: string): Promise<void> {
    const { deployments, use, data, env } = this.#parts
    const deployment = await deployments.get(name).catch(ignoreNotFound)
    if (deployment?.removing !== true) return
    await this.#learned(name)
    const emptyFromMs = deployment.modifiedAtMs + settleMs
    for (let passes = 1;; passes++) {
      const beganMs = env.nowMs()
      let found = 0
      for (const namespace of await use.namespaces(deployment)) {
        found += await data.remove(namespace, deployment)
        if (this.#isClosed) return
      }
      if (found === 0 && beganMs >= emptyFromMs) break
      if (passes === passesMax) throw new HeddleError('busy', 'Something is stored all the time.')
      if (found === 0) await this.#pause(Math.min(settleMs, emptyFromMs - beganMs))
    }
    await use.forget(deployment)
    await deployments.remove(deployment)
    await this.#learned(name)
  }

  /**
   * Makes every member read the deployment again, so that later requests are refused. Throws if a
   * member cannot be asked.
   */
  async #learned(name: string): Promise<void> {
    const { members } = this.#parts
    await Promise.all(members.live().map((member) => members.learn(member, name)))
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => this.#parts.env.after(ms, resolve))
  }
}

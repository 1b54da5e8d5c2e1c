/** Wakes followers of a deployment when something happens to it on any member. */

import { pause } from '../../../cluster/index.ts'
import type { Env, Member, Service } from '../../../cluster/index.ts'
import type { DeploymentUpdates, UpdateRequest } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import { deploymentQuestions, deploymentWire } from '../backends/deployment-wires.ts'
import { allMembers, askMember } from '../member-questions.ts'
import type { MemberQuestionParts } from '../member-questions.ts'

/** Answers when something has happened on this member, or after a while. */
export function updateService(
  updates: Pick<DeploymentUpdates, 'next'>,
): Service<UpdateRequest, number> {
  return { name: deploymentQuestions.updates, wire: deploymentWire,
    answer: (options, cancelled) => updates.next(options, cancelled) }
}

/** The way to all members. */
export interface UpdateWatchParts extends MemberQuestionParts {
  readonly env: Pick<Env, 'after' | 'every'>
  readonly service: Service<UpdateRequest, number>
}

/** Members that have joined, and those that did not answer, are asked after this time. */
const lookMs = 5_000
/** Code that writes all the time wakes no more often than this. */
const gatherMs = 200

/** Asks each member one question for each deployment that is followed, however many follow it. */
export class UpdateWatch {
  readonly #parts: UpdateWatchParts
  /** By the deployment's id. */
  readonly #followed = new Map<string, FollowedDeployment>()

  constructor(parts: UpdateWatchParts) {
    this.#parts = parts
  }

  /** Calls back after each update of a deployment, by its id. Several may share one call. */
  watch(deployment: string, updated: () => void): () => void {
    const followed = this.#followed.get(deployment)
      ?? new FollowedDeployment(this.#parts, deployment)
    this.#followed.set(deployment, followed)
    // Of its own, so that the same function may watch twice.
    const watcher = () => updated()
    followed.watchers.add(watcher)
    return () => {
      followed.watchers.delete(watcher)
      if (followed.watchers.size > 0 || this.#followed.get(deployment) !== followed) return
      this.#followed.delete(deployment)
      followed.close()
    }
  }
}

class FollowedDeployment {
  readonly watchers = new Set<() => void>()
  readonly #parts: UpdateWatchParts
  readonly #deployment: string
  /** Ids of members that have a question. */
  readonly #asked = new Set<string>()
  readonly #left = new AbortController()
  readonly #stopLooking: () => void

  constructor(parts: UpdateWatchParts, deployment: string) {
    this.#parts = parts
    this.#deployment = deployment
    this.#stopLooking = parts.env.every(lookMs, () => this.#look())
    this.#look()
  }

  close(): void {
    this.#stopLooking()
    this.#left.abort(new HeddleError('unavailable', 'Nobody follows this any more.'))
  }

  #look(): void {
    for (const member of allMembers(this.#parts)) {
      if (this.#asked.has(member.id)) continue
      this.#asked.add(member.id)
      // One that does not answer is asked at the next look, if it is still there.
      void this.#ask(member).catch(() => {}).finally(() => this.#asked.delete(member.id))
    }
  }

  async #ask(member: Member): Promise<void> {
    const { env, service } = this.#parts
    const { signal } = this.#left
    for (let after: number | null = null; !signal.aborted;) {
      const options = { deployment: this.#deployment, after }
      const newest: number = await askMember(this.#parts, service, member, options, signal)
      if (newest === after) continue
      after = newest
      for (const updated of this.watchers) updated()
      await pause(env, gatherMs)
    }
  }
}

/** What an operation is, and the requests that several operations share. */

import type { Chance } from '../../test/simulation/chance.ts'
import type { Client, KnownThread, Reply, Request, Session } from './session.ts'

/** What an operation needs to send its requests. */
export interface Scene {
  readonly session: Session
  readonly client: Client
  readonly thread: KnownThread
}

export interface Operation {
  readonly name: string
  /** Relative frequency. */
  readonly weight: number
  execute(scene: Scene): Promise<void>
}

const actions = ['plain', 'plain', 'plain', 'slow', 'slow', 'ask', 'ask', 'fail', 'charge',
  'charge', 'mail', 'draft'] as const
const strategies = ['enqueue', 'enqueue', 'enqueue', 'reject', 'interrupt', 'rollback'] as const
const maxTaskMs = 300
/** Probability that a run has a webhook. */
const webhookShare = 0.3

/** Sends a request about the thread of the scene, where the thread is served. */
export function send(operation: string, { session, client, thread }: Scene,
  request: Omit<Request, 'operation'>): Promise<Reply> {
  const path = `${thread.base}${request.path}`
  const named = { threadId: thread.id, ...request, path, operation }
  return session.call(client.number, named, client.signal)
}

/** Probability that a run has an assistant of a client, if there is one. */
const assistantShare = 0.3

function pickAssistant({ assistants }: Session, chance: Chance): string {
  const known = [...assistants.values()]
  return known.length > 0 && chance.flip(assistantShare) ? chance.pick(known).id : 'verify'
}

/** The body of a run with a new task. */
export function createRunBody({ session, client: { chance }, thread: { base } }: Scene) {
  return {
    assistant_id: base === '' ? pickAssistant(session, chance) : 'verify',
    input: {
      task: {
        token: session.createToken(),
        action: chance.pick(actions.filter((action) => session.offers(`task.${action}`))),
        ms: chance.below(maxTaskMs),
      },
    },
    multitask_strategy: chance.pick(
      strategies.filter((name) => session.offers(`strategy.${name}`)),
    ),
    webhook: session.offers('webhook') && chance.flip(webhookShare)
      ? session.webhookUrl
      : undefined,
  }
}

/** The body of a state update with a new entry. */
export function createUpdateBody({ session }: Scene) {
  return { values: { log: [`${session.createToken()}:update`] }, as_node: 'leave' }
}

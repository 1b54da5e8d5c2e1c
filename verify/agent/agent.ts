/**
 * The graph of the verification. Each task appends its token to the log of the thread: `<token>:in`
 * when it starts and `<token>:out` when it ends; `<token>:by:<version>` names the version of its
 * assistant, and a deployed revision names itself and its secret. RECEIVER is the URL of the
 * receiver of effects.
 */

import { Annotation, interrupt, messagesStateReducer, START,
  StateGraph } from '@langchain/langgraph'
import type { LangGraphRunnableConfig, Messages } from '@langchain/langgraph'
import type { BaseMessage } from '@langchain/core/messages'
import { setTimeout as wait } from 'node:timers/promises'

interface Task {
  readonly token: string
  readonly action: 'plain' | 'slow' | 'fail' | 'ask' | 'charge' | 'mail' | 'draft'
  /** Duration of a `slow` task in milliseconds. */
  readonly ms: number
  /** True if a message of A2A brought it: its sender gets a message back. */
  readonly isMessage?: boolean
}

type Work = (means: { readonly key: string }) => unknown
type Effect = (name: string, input: unknown, work: Work) => Promise<unknown>

/** Set in revisions of a deployment. */
const revision: string | undefined = undefined

// Servers other than Heddle have no effects: the work is done without protection.
const effect: Effect = (...asked) => {
  const once = (globalThis as unknown as Record<symbol, Effect | undefined>)[
    Symbol.for('heddle.effect')
  ]
  return once === undefined ? Promise.resolve(asked[2]({ key: '' })) : once(...asked)
}

const State = Annotation.Root({
  task: Annotation<Task>,
  log: Annotation<string[]>({
    reducer: (log, added) => log.concat(added),
    default: () => [],
  }),
  /** Messages that clients gave to a run while it executed. */
  messages: Annotation<BaseMessage[], Messages>({ reducer: messagesStateReducer,
    default: () => [] }),
  /** Number of messages that earlier runs have seen. */
  seen: Annotation<number>,
})

/** What a task uses of the world outside. */
export interface AgentWorld {
  wait(ms: number): Promise<unknown>
  /** Does an effect, and returns its receipt. */
  post(name: string, token: string, key: string): Promise<string>
}

/** Posts to the receiver. Throws if its status is not 200. */
async function post(name: string, token: string, key: string): Promise<string> {
  const response = await fetch(`${process.env['RECEIVER']}/${name}`, {
    method: 'POST',
    headers: { 'idempotency-key': key },
    body: token,
  })
  if (!response.ok) throw new Error(`The receiver returned ${response.status}.`)
  return await response.text()
}

/** The task in a message of A2A, if the run was started by one. */
function findMessage({ log, messages }: typeof State.State, context: unknown): Task | undefined {
  const { message: id } = (context ?? {}) as { readonly message?: string }
  const message = id === undefined ? undefined : messages.find((each) => each.id === id)
  const [token = '', action = 'plain', ms = '0'] = String(message?.content).split('/')
  // A run for a message that came too late has the context of the run before.
  if (message === undefined || log.includes(`${token}:in`)) return undefined
  return { token, action: action as Task['action'], ms: Number(ms), isMessage: true }
}

/** A message that came too late for the run before is the input of a run, without a task. */
function findLateMessage({ task, log, messages, seen = 0 }: typeof State.State): Task | undefined {
  const message = log.includes(`${task?.token}:in`) ? messages.slice(seen).at(-1) : undefined
  return message && { token: String(message.content), action: 'plain', ms: 0 }
}

function enter(state: typeof State.State, { configurable, context }: LangGraphRunnableConfig) {
  const next = findMessage(state, context) ?? findLateMessage(state) ?? state.task
  const version = configurable?.['version'] as string | undefined
  const by = version === undefined ? [] : [`${next.token}:by:${version}`]
  return {
    task: next,
    log: [`${next.token}:in`, ...by, ...describeRevision(next.token)],
    seen: state.messages.length,
  }
}

/** Entries with the revision and its secret; none if it is not deployed. */
function describeRevision(token: string): readonly string[] {
  if (revision === undefined) return []
  // The server hides the secret in what revisions print.
  console.log(`The secret is ${process.env['TOKEN']}.`)
  return [`${token}:revision:${revision}`, `${token}:secret:${process.env['TOKEN']}`]
}

function leave({ task: { token, isMessage } }: typeof State.State) {
  const end = revision === undefined ? [] : [`${token}:end:${revision}`]
  const reply = isMessage ? [{ role: 'ai', content: `${token}:reply` }] : []
  return { log: [`${token}:out`, ...end], messages: reply }
}

/** Makes the graph over a world. */
export function createAgent(world: AgentWorld) {
  const act = async ({ task: { token, action, ms } }: typeof State.State) => {
    if (action === 'slow') await world.wait(ms)
    if (action === 'fail') throw new Error(`Task ${token} fails.`)
    if (action === 'ask') {
      const answer = interrupt<unknown, string | { readonly task: Task }>({ token })
      // By protocol v2, the input of a run is the answer.
      const given = typeof answer === 'string' ? answer : answer.task.token
      return { log: [`${token}:answer:${given}`] }
    }
    if (action === 'charge' || action === 'mail' || action === 'draft') {
      const receipt = await effect(action, { token }, ({ key }) => world.post(action, token, key))
      return { log: [`${token}:receipt:${String(receipt)}`] }
    }
    return {}
  }
  return new StateGraph(State)
    .addNode('enter', enter)
    .addNode('act', act)
    .addNode('leave', leave)
    .addEdge(START, 'enter')
    .addEdge('enter', 'act')
    .addEdge('act', 'leave')
    .compile()
}

export const graph = createAgent({ wait, post })

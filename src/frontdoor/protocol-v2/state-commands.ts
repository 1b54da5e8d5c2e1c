/** The commands that read the state of a thread: `state.get`, `state.listCheckpoints`. */

import type { JsonText } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import { GetTree, ListCheckpoints, StateGet } from '../schema/protocol-v2.ts'
import { checkerOf } from '../schema/validation.ts'
import { agentTree, rootStatus } from './agent-tree.ts'
import type { CommandContext } from './command-context.ts'
import { ProtocolError } from './envelope.ts'
import type { Outcome } from './envelope.ts'
import { lastRun } from './run-commands.ts'
import { membersOf } from './spelling.ts'

const checkGet = checkerOf(StateGet)
const checkList = checkerOf(ListCheckpoints)
const checkTree = checkerOf(GetTree)

interface ListedState {
  readonly checkpoint: { readonly checkpoint_id: string }
  readonly parent_checkpoint?: { readonly checkpoint_id?: string } | null
  readonly created_at: string
  readonly metadata: { readonly step?: number; readonly source?: string }
}

/** Values and checkpoint of the newest state, of the root or of a namespace. */
export async function getState({ threads, json, caller, threadId, left }: CommandContext,
  params: unknown): Promise<Outcome> {
  const { namespace, keys } = checkGet(membersOf(params, ['namespace', 'keys']))
  const ns = namespaceText(namespace)
  const select = ['checkpoint', ...keys?.map((key) => `values.${key}`) ?? ['values']]
  const state = await threads.state(caller, threadId, { checkpoint_ns: ns }, { select }, left)
  const [values, checkpoint] = await json.pick(caller.tenant, state, [['values'], ['checkpoint']])
  const { checkpoint_id: id } = (JSON.parse(checkpoint || 'null') ?? {}) as {
    checkpoint_id?: string
  }
  if (id == null && ns !== '') {
    throw new ProtocolError('no_such_namespace', `There is no state of the namespace ${ns}.`)
  }
  const place = id == null ? '' : `,"checkpoint":${JSON.stringify({ id, ns })}`
  const isNone = values === undefined || values === '' || values === 'null'
  return { result: `{"values":${isNone ? '{}' : values}${place}}` }
}

/** Checkpoints of a namespace, newest first. */
export async function listCheckpoints({ threads, caller, threadId, left }: CommandContext,
  params: unknown): Promise<Outcome> {
  const { namespace, limit, before } = checkList(
    membersOf(params, ['namespace', 'limit', 'before']),
  )
  const parts = threads.history(caller, threadId, {
    limit: limit ?? 10,
    ...before != null && { before },
    checkpoint: { checkpoint_ns: namespaceText(namespace) },
    select: ['checkpoint', 'parent_checkpoint', 'created_at', 'metadata'],
  }, left)
  const found: JsonText[] = []
  for await (const { texts } of parts) found.push(...texts.map(summaryText))
  return { result: `{"checkpoints":[${found.join(',')}]}` }
}

/** The graphs of a run and how each of them stands, of the newest run if none is named. */
export async function getTree(context: CommandContext, params: unknown): Promise<Outcome> {
  const { run_id: named } = checkTree(membersOf(params, ['run_id']))
  const { runs, caller, threadId, left } = context
  const run = named == null
    ? await lastRun(context)
    : await runs.get(caller, { threadId, runId: named }).catch(asNoRun)
  const { graphId, graphs, isCut } = await runs.graphsOf(caller, run, left)
  const tree = agentTree(graphId, rootStatus(run), graphs)
  return { result: JSON.stringify({ tree, ...isCut && { truncated: true } }) }
}

function asNoRun(error: unknown): never {
  const { code, message } = HeddleError.from(error)
  if (code !== 'not_found') throw error
  throw new ProtocolError('no_such_run', message, { cause: error })
}

function summaryText(text: JsonText): JsonText {
  const { checkpoint, parent_checkpoint: parent, created_at, metadata } = JSON.parse(
    text,
  ) as ListedState
  return JSON.stringify({
    id: checkpoint.checkpoint_id,
    ...parent?.checkpoint_id !== undefined && { parent_id: parent.checkpoint_id },
    timestamp: created_at,
    step: metadata.step ?? 0,
    source: metadata.source,
    metadata,
  })
}

/** Segments of a namespace joined as checkpoints name it. */
function namespaceText(namespace: readonly string[] | null | undefined): string {
  return (namespace ?? []).join('|')
}

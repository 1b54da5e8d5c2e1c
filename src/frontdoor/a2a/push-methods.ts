/** The methods that say whom an agent notifies of a task, and show it. */

import type { PushConfig } from '../../../proto/gen/storage/v1/push.ts'
import { HeddleError, isOwnFailure } from '../../errors.ts'
import { configsOf } from '../../thread/index.ts'
import { requireAllowed } from '../http/caller.ts'
import { A2aError } from './a2a-error.ts'
import type { AgentContext } from './context.ts'
import type { Dialect } from './methods.ts'
import { badField } from './params.ts'
import { configIn, configJson, listedIn, namedIn, setIn } from './push-config.ts'
import type { ConfigName, SentConfig } from './push-config.ts'
import { findTask } from './task-runs.ts'

/** Effect of a method on the configs of a task. */
export type PushAction = 'set' | 'get' | 'list' | 'delete'

/** Carries out a method; the result of JSON-RPC. Throws A2aError. */
export async function pushMethod(context: AgentContext, action: PushAction,
  { params, dialect }: { readonly params: object; readonly dialect: Dialect }): Promise<unknown> {
  requireOffered(context)
  switch (action) {
    case 'set':
      return await setConfig(context, params, dialect)
    case 'get': {
      const name = namedIn(params, dialect, 'get')
      return configJson(await findConfig(context, name), dialect)
    }
    case 'list': {
      const configs = await configsOfTask(context, listedIn(params, dialect))
      const shown = configs.map((each) => configJson(each, dialect))
      return dialect === '0.3' ? shown : { configs: shown, nextPageToken: '' }
    }
    case 'delete':
      await deleteConfig(context, namedIn(params, dialect, 'delete'))
      return dialect === '0.3' ? null : {}
  }
}

/** The config that comes with a message; undefined without one. Throws A2aError. */
export function configWith(context: AgentContext, config: object | null | undefined,
  dialect: Dialect): PushConfig | undefined {
  if (config == null) return undefined
  requireOffered(context)
  const sent = configIn(config, dialect)
  checkUrl(context, sent)
  // Its task is known when the message has made it.
  return { ...sent, taskId: '', id: sent.id || usualId }
}

/** The id of a config that its client gave none: setting it again replaces it. */
const usualId = 'default'

async function setConfig(context: AgentContext, params: object, dialect: Dialect): Promise<object> {
  const { caller, runs } = context
  requireAllowed(caller, 'change')
  const { taskId: named, config: sent } = setIn(params, dialect)
  checkUrl(context, sent)
  const { first: { runId: taskId }, newest: { threadId, runId } } = await findTask(context, named)
  const config = { ...sent, taskId, id: sent.id || usualId }
  await runs.changePush(caller, { threadId, runId }, { kind: 'set', taskId, runId, config })
  return configJson(config, dialect)
}

/** Done as well if it is not there. */
async function deleteConfig(context: AgentContext, { taskId: named, id }: ConfigName): Promise<
  void
> {
  const { caller, runs } = context
  requireAllowed(caller, 'change')
  const { first: { runId: taskId, threadId } } = await findTask(context, named)
  await runs.changePush(caller, { threadId, runId: taskId }, { kind: 'remove', taskId, id: id! })
}

async function configsOfTask(context: AgentContext, named: string): Promise<readonly PushConfig[]> {
  const { first: { runId: taskId, threadId } } = await findTask(context, named)
  const { row } = await context.threads.get(context.caller, threadId, ['status'])
  return configsOf(row, taskId)
}

async function findConfig(context: AgentContext, { taskId, id }: ConfigName): Promise<PushConfig> {
  const configs = await configsOfTask(context, taskId)
  const found = id === undefined ? configs[0] : configs.find((each) => each.id === id)
  if (found !== undefined) return found
  throw new A2aError('task_not_found', 'Push notification config not found: the task has none ' +
    'with this id. They go when the task is over.', { about: { taskId: taskId.slice(0, 100) } })
}

function checkUrl({ runs, caller }: AgentContext, { url }: SentConfig): void {
  try {
    runs.webhooks.check(url, caller.tenant)
  } catch (error) {
    const { code, message } = HeddleError.from(error)
    if (isOwnFailure({ code })) throw error
    throw badField('url', message)
  }
}

function requireOffered({ runs: { webhooks }, caller }: AgentContext): void {
  if (webhooks.offers?.(caller.tenant) !== false) return
  throw new A2aError('push_notification_not_supported', 'Push notifications are not supported: ' +
    'this project sends no webhooks. Follow the task by SubscribeToTask, or ask for it by GetTask.')
}

/** The notification of a task: the task as it is when one of its runs has ended. */

import type { JsonText } from '../../checkpoint/index.ts'
import type { LongJson } from '../../json/index.ts'
import type { TaskEnd } from '../../thread/index.ts'
import type { ToolNames } from './graph-messages.ts'
import type { Dialect } from './methods.ts'
import { stateAtEnd } from './task-runs.ts'
import { shownResult, taskFrom } from './task-view.ts'
import { taskJson } from './task.ts'

/** Parts that notifications are made with. */
export interface NotificationParts {
  readonly json: Pick<LongJson, 'pick'>
  readonly tools: ToolNames
}

/** Makes the body: with its status and its results, and without its history. */
export async function taskNotification({ json, tools }: NotificationParts,
  { tenant, first, run, asks, isGivenUp, values, dialect: asked }: TaskEnd): Promise<JsonText> {
  const dialect: Dialect = asked === '0.3' ? '0.3' : '1.0'
  const result = values === undefined
    ? { messages: [] }
    : await shownResult({ json, tenant }, values)
  const state = isGivenUp ? 'canceled' : asks ? 'input-required' : stateAtEnd(run)
  const task = taskFrom({ first, newest: run, state, asks: isGivenUp ? [] : asks ?? [] }, {
    historyLength: 0,
    historyScope: 'task',
    artifacts: true,
  }, result, tools)
  const shown = taskJson(task, dialect)
  return JSON.stringify(dialect === '0.3' ? shown : { task: shown })
}

/** Actions of an agent that a person approves or rejects, as LangChain asks it. Pure. */

import { isObject, listOf, objectOf } from '../../../json/index.ts'
import type { Json } from '../message.ts'

/** Actions that wait: of each, its name and the decisions about it that a form has. */
export interface Approval {
  readonly actions: readonly { readonly name: string; readonly decisions: readonly string[] }[]
}

/** Decisions that need nothing but their names. A changed action is more than a form has. */
const plainDecisions = ['approve', 'reject']

/** Actions that are shown: a form of more helps nobody. */
const actionsMax = 20

/** The actions that a question is about; undefined if it is about something else. */
export function approvalIn(value: unknown): Approval | undefined {
  const { action_requests, actionRequests, review_configs, reviewConfigs } = objectOf(value)
  const asked = listOf(action_requests ?? actionRequests)
  if (asked.length === 0 || asked.length > actionsMax || !asked.every(isObject)) return undefined
  const configs = listOf(review_configs ?? reviewConfigs).map(objectOf)
  const actions = asked.map((each) => {
    const { name } = objectOf(each)
    const config = configs.find((one) => (one['action_name'] ?? one['actionName']) === name) ?? {}
    const allowed = listOf(config['allowed_decisions'] ?? config['allowedDecisions'] ??
      plainDecisions)
    return { name: String(name), decisions: plainDecisions.filter((one) => allowed.includes(one)) }
  })
  return actions.every(({ decisions }) => decisions.length > 0) ? { actions } : undefined
}

const fieldOf = (index: number) => `decision_${index + 1}`

/** A form with a field for each action. */
export function approvalForm({ actions }: Approval): Json {
  const fields = actions.map(({ name, decisions }, index) =>
    [fieldOf(index), { type: 'string', title: name, enum: decisions }] as const
  )
  return { type: 'object', properties: Object.fromEntries(fields),
    required: fields.map(([name]) => name) }
}

/** The answer that the agent goes on with; undefined if a decision is missing. */
export function decisionsIn(content: Json, { actions }: Approval): Json | undefined {
  const decisions = actions.map(({ decisions: allowed }, index) => {
    const type = content[fieldOf(index)]
    return allowed.find((each) => each === type)
  })
  return decisions.includes(undefined)
    ? undefined
    : { decisions: decisions.map((type) => ({ type })) }
}

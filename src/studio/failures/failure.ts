/** Errors of tasks, as states keep them: which node failed, with what, and where. */

import type { ThreadState } from '../api/states.ts'

/** Error that ended a run. */
export interface Failure {
  /** The node; undefined if no node threw it, as with too many steps. */
  readonly node: string | undefined
  readonly name: string
  readonly message: string
  /** The places in the project, a line each; empty if none is known. */
  readonly stack: string
}

/** Failures of the tasks of a state. */
export const failuresOf = (state: Pick<ThreadState, 'tasks'> | undefined): readonly Failure[] =>
  (state?.tasks ?? []).flatMap(({ name, error }) =>
    error === undefined || error === null ? [] : [readFailure(name, error)]
  )

/** The failure of a run that says it as `{error, message}`; undefined if it is not of that form. */
export function runFailure(error: unknown, node?: string): Failure | undefined {
  if (error === null || error === undefined) return undefined
  const { error: name, message } = Object(error) as { error?: unknown; message?: unknown }
  return { node, name: textOr(name, 'Error'), message: textOr(message, JSON.stringify(error)),
    stack: '' }
}

/** The failure of a node whose task has an error: an object as JSON text, or any other text. */
export function readFailure(node: string, error: unknown): Failure {
  const text = typeof error === 'string' ? error : JSON.stringify(error)
  const { name, message, stack } = parsed(text)
  return { node, name: textOr(name, 'Error'), message: textOr(message, text),
    stack: textOr(stack, '') }
}

const textOr = (value: unknown, otherwise: string): string =>
  typeof value === 'string' ? value : otherwise

function parsed(text: string): Readonly<Record<'name' | 'message' | 'stack', unknown>> {
  try {
    return Object(JSON.parse(text)) as Record<'name' | 'message' | 'stack', unknown>
  } catch {
    return { name: undefined, message: undefined, stack: undefined }
  }
}

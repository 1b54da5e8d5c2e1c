/** Errors of the control API and of the way there. */

import type { GraphFailure } from '../../deployment/index.ts'
import { CommandError } from '../admin-command.ts'
import type { CommandFault } from '../admin-command.ts'

/**
 * Codes of answers after which the same command is refused again. Every other one, those of newer
 * servers among them, may be different next time.
 */
const refusals: readonly string[] = ['graph_failed', 'in_use', 'exists', 'invalid', 'malformed',
  'too_large', 'unsupported', 'not_found', 'forbidden', 'missing_node', 'partly_done']

/** A server answered with an error. Its message is the server's. */
export class ControlError extends CommandError {
  /** Code from the catalogue of errors; empty if the answer is not from a server of ours. */
  readonly code: string
  readonly graphs: readonly GraphFailure[]

  constructor(code: string, message: string, graphs: readonly GraphFailure[] = []) {
    super(message, refusals.includes(code) ? 'refused' : 'failed')
    this.code = code
    this.graphs = graphs
  }
}

/**
 * No server answered, or its answer ended early. The request may have been done if `sent`.
 */
export class NoAnswerError extends CommandError {
  readonly sent: boolean

  constructor(message: string, sent: boolean, fault: CommandFault = 'failed') {
    super(message, fault)
    this.sent = sent
  }
}

/** Each graph that cannot be loaded, a line each. */
export function failureLines(graphs: readonly GraphFailure[]): string[] {
  return graphs.map(({ graph_id: id, message, at }) =>
    `The graph "${id}" cannot be loaded: ${message}${at === null ? '' : ` (${at})`}`
  )
}
